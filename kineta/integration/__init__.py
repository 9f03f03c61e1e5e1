"""Initial value problems and their solvers: the native Runge-Kutta methods, time stepping, SciPy's, CVODE and IDA of SUNDIALS.

All methods return segments of a solution with dense output. The memory layouts shared by native loops and their callers are
defined here. Reading order: ``contact_records``, ``stepping_records``, ``handover``, ``problem``, ``segment``, ``solver``,
``error_control``, ``time_stepping``, ``loop_abi``, ``record_image``, ``run_memory``, ``native``, ``native_ensemble``,
``external``.
"""
