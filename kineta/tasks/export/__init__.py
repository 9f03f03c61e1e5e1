"""Code that simulates without Python, from the kernels of a run and the programs of a model.

Reading order: ``run_record``, ``run_names``, ``memory_image``, ``c_source``, ``exported_run``.
"""
