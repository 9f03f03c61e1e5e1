"""Small motions about a state, an equilibrium or a steady motion: matrices, modes, responses, stability.

Reading order: ``operating_point``, ``descriptor_matrices``, ``linear_system``, ``linearize``, ``symbolic_tangent``,
``symbolic_matrices``, ``oscillation_formulas``, ``corners``, ``stability``, ``modes``, ``response``, ``control_system``.
"""
