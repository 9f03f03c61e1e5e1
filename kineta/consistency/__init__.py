"""Constraints of a system in numbers: residuals, projection, redundancy.

States are projected onto the constraints by the least change in the mass metric, and redundant rows are found once, before a
motion starts. Reading order: ``derived_equations``, ``constraint_arrays``, ``constraints``, ``definition_domain``,
``consistent_state``, ``redundancy``, ``alike_systems``, ``consistent_start``, ``assembly_branch``.
"""
