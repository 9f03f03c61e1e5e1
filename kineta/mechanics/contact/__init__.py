"""Equations of contacts, limits and dry friction: unilateral rows, guards, the dynamics of a contact mode.

Reading order: ``unilateral_rows``, ``guards``, ``mode_dynamics``, ``mode_projection``, ``joint_locking``, ``closed_form_impact``,
``contact_terms``.
"""
