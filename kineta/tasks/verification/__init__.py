"""The certificate: formalisms compared at random states, and laws of mechanics checked.

Reading order: ``verify``, ``random_states``, ``regular_states``, ``sampled_equations``, ``taylor_series``, ``rigid_motion``,
``closure_laws``, ``reference_kinematics``, ``reference_forces``,
``laws``, ``program_forms``, ``certificate``; ``first_integrals``.
"""
