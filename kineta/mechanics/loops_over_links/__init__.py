"""Quantities of long trees as steps in loops over the links.

Reading order: ``operands``, ``dynamics``, ``pairs``, ``forward_derivatives``, ``inverse_derivatives``.
"""
