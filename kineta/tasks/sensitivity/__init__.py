"""Derivatives of motions: variational equations, jumps at events, adjoints, objectives, fits to data.

Reading order: ``smooth_part``, ``variational_equations``, ``mode_equations``, ``mode_tangent``, ``recorded_motion``,
``propagation``, ``saltation``, ``simultaneous_steps``, ``linearised_motion``, ``initial_sensitivity``, ``sensitivity``,
``adjoint``, ``objective``, ``fit``.
"""
