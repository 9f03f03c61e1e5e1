"""Kinematics of the tree: links, sweeps, velocities and accelerations of bodies and points.

Bodies and elementary motions are reduced to links with one joint each; sweeps over the links carry motions of any order. A
second route multiplies the transforms of each body directly, independent of the links. Reading order: ``normal_form``, ``tree``,
``axis_alignment``, ``origin_placement``, ``regrouping``, ``parallel_axes``, ``sweeps``, ``common_frames``, ``kinematics``,
``vector_expressions``, ``boltzmann_hamel``, ``description_route``.
"""
