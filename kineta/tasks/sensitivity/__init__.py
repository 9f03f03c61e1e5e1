"""Derivatives of motions: variational equations, adjoints, objectives, fits to data.

Reading order: ``smooth_part``, ``initial_sensitivity``, ``variational_equations``, ``sensitivity``, ``adjoint``, ``objective``,
``fit``.
"""
