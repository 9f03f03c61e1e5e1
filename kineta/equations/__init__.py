"""Equations of a system, the result of :func:`kineta.derive`: formulas, numeric functions, operation counts, and the derivation
report.

Reading order: ``equations``, ``kept_names``, ``formulas``, ``function``, ``converted_calls``, ``argument_layout``,
``result_arrays``, ``device_calls``, ``matrix_form``, ``quantity_matrix``, ``derivation_report``, ``written_start``,
``initial_values``, ``case_arguments``.
"""
