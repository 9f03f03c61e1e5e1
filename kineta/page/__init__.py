"""The live page: one file of HTML in which a machine moves by its own equations, offline, in any browser.

``dragging_force`` has the forces of a hand that pulls a body, ``parameter_limits`` what parameters may be,
``start_values`` the initial values that follow them,
``expression_domains`` where expressions have values, ``live_run`` the WebAssembly
module of a run with the poses of its machine, ``recorded_run`` the samples of a run that was computed before,
``recorded_pressing`` where bodies that may touch each other press in it, ``sample_encoding`` and ``compression`` how
these become text,
``equations`` what is shown of equations and the text of the model, ``mesh_encoding`` the meshes,
``document`` the page, ``kept_pages`` those that were made before, ``page_file`` their file, ``report`` a page to be printed.

The folder app has the sources of the page in JavaScript; app.min.js, which stands compressed in every page and is unpacked by
loader.js, is built from them.
"""
