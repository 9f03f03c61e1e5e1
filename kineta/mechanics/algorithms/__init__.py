"""Recursive algorithms over the links of a mechanism.

Reading order: ``composite_bodies`` (the mass matrix), ``joined_subtrees`` (inverse dynamics), ``energy``, ``rounding_bounds``,
``articulated_bodies``, ``motion_changes``, ``inverse_derivatives``, ``forward_derivatives``,
``column_sweep``.
"""
