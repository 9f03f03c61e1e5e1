"""Equations of motion: from a system to named expressions.

A derivation keeps the variables, the graph and the rules by which quantities follow from one another; a formalism is a table of
such rules. Neither numbers nor code generation enter here. Reading order, each file above the ones before it: ``variables``,
``quantities``, ``antiderivative``, ``exact_arithmetic``, ``linear_algebra``, ``kinematics``, ``elements``, ``algorithms``, rows
of ``constraints``, ``contact`` and ``programs``, ``derivation``; then rules: ``from_residual``, ``higher_order_quantities``,
``point_quantities``, ``tangent``, ``force_derivatives``, ``acceleration_derivatives``, ``second_derivatives``,
``loops_over_links``, ``columns``, ``loops_over_components``, ``sliding_modes``, ``regressor``, ``equations_of_motion``,
``narration``, ``common_rules``, ``formalisms``, ``nonholonomic``.
"""
