"""Motions that are given: kinematics, dependent coordinates, inverse kinematics, outputs and forces along a motion.

Reading order: ``prescribed_motion``, ``dependent_coordinates``, ``trajectory``, ``kinematics``, ``inverse_kinematics``,
``conditioning``, ``outputs``, ``forces_of_run``.
"""
