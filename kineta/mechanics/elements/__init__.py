"""Actions of elements on the equations: applied forces, potentials, inertia elements.

Reading order: ``applied_forces``, ``element_forces``, ``element_actions``, ``inertia_elements``, ``state_rates``.
"""
