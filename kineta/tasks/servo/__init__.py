"""Servo-constraints: forces of a few actuators that hold programs of motion.

Reading order: ``servo``, ``derivative_array``, ``path_following``, ``zero_dynamics``, ``input_jumps``, ``solution_check``,
``control_work``.
"""
