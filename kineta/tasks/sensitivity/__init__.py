"""Derivatives of motions: variational equations, adjoints, objectives, fits to data.

Reading order: ``smooth_part``, ``variational_equations``, ``initial_sensitivity``, ``sensitivity``, ``adjoint``, ``objective``,
``fit``.
"""
