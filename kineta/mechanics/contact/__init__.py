"""Equations of contacts, limits and dry friction: unilateral rows, guards, the dynamics of a contact mode.

Reading order: ``rims``, ``ground_height``, ``unilateral_rows``, ``guards``, ``mode_dynamics``, ``contact_terms``, ``step_terms``,
``shape_terms``.
"""
