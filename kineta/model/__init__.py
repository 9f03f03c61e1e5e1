"""The description of a system: records, their checks, and their files.

A system is frozen data and knows nothing of equations. Kinds of joints, elements, constraints and contacts are one file each,
found through a table in their package, and checked against a ``Scope``. Reading order: ``units``, ``coercion``, ``axis``,
``joints``, ``body``, ``parameters``, ``reserved_symbols``, ``vectors``, ``bounds``, ``kind``, ``elements``, ``constraints``,
``contacts``, ``appearance``, ``compound``, ``motion_program``, ``switch``, ``motion_variables``, ``named_expressions``,
``description``, ``name_inference``, ``checks``, ``system``, ``dimensions``, ``phrases``, ``transformations``, ``graph``, ``io``.
"""
