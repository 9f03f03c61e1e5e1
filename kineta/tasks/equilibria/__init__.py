"""Equilibria and steady motions, and their branches along a parameter. Reading order: ``equilibrium``,
``stiffness``, ``listing``, ``branches``.
"""
