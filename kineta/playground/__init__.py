"""The playground: text on the left, its machine on the right, in a browser alone.

``plain_arrays``, ``plain_shapes``, ``plain_functions``, ``plain_random_numbers`` and ``plain_linear_algebra`` are what is needed
of NumPy where there is none, ``stand_in`` puts them there,
``browser`` makes a page from a text there, ``site`` the folder of files that a browser loads, ``link`` a link with a text in it,
``server`` shows it all on this machine. The folder app has the page of the playground.
"""
