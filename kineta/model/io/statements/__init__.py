"""Statements of the language ``.kin`` that a system has apart from its kinds of elements, constraints and contacts.

A function for each statement fills ``model_text``, the record of what the text says. ``table`` names the functions, and the order
in which statements are read: ``named_expressions``, ``declarations``, ``robots``, ``submodels``, ``bodies``, ``motions``,
``dimensions_of_motion``, ``quasi_velocities``, ``states``, ``initial_values``, ``outputs``.
"""
