"""Vectors, rotations and mass distributions whose components are references into a graph.

Structural zeros are known when an operation is built, so that products with zero create no nodes. A vector holds components in
the axes of one frame, which is known to the caller alone. Reading order: ``vector``, ``rotation``, ``wrench``, ``twist``,
``inertia``.
"""
