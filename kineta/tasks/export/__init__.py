"""Code that simulates without Python, from the kernels of a run and the programs of a model.

Reading order: ``run_record``, ``stepping_record``, ``fallback_record`` and ``touching_record``, ``run_names``, ``memory_image``,
``templates``, ``c_source``, ``wasm_module``, ``exported_run``.
"""
