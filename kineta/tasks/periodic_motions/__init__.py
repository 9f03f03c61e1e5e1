"""Periodic motions: shooting with exact monodromy matrices, Floquet multipliers, families along a parameter.

Reading order: ``floquet``, ``forced_period``, ``shooting``, ``periodic_motion``, ``family_of_motions``.
"""
