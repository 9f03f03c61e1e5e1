"""The compiled functions of a run and its data: applied forces, events, treatment of constraints, recording.

Everything here serves one run and is the same whether the run passes through contact modes or programs of motion. Reading
order: ``problem``, ``run_arguments``, ``functions``, ``compiled``, ``applied_forces``, ``sampled_forces``,
``events``, ``constraint_treatment``, ``projection``, ``implicit_methods``, ``tangent``, ``independent_states``,
``mass_matrix_rank``, ``parameter_checks``, ``joint_limits``, ``kinks``, ``domain_watch``,
``steady_motion``, ``recorder``, ``contact_problem``.
"""
