"""Motions of many bodies that may touch each other: components that are stepped together.

Reading order: ``touching_shapes`` with their kinematics, ``component_places`` among the numbers of all, ``function_tables`` of
components, ``shape_memory`` for pairs that are near, ``pile_memory`` of a whole, ``pair_forces``, ``pile`` for one motion,
``pile_ensemble`` for many.
"""
