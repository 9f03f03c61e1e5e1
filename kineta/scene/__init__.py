"""What a machine looks like, as data for every kind of picture: frames, solids, paths and arrows.

``scene`` has the records, ``assembly`` makes them from a description: ``stage`` with the walk along its motions, ``automatic``
with the solids that nobody asked for, ``described`` with those of the model. ``machine`` poses the scene for numbers, and
``construction`` makes the ``surfaces`` of its solids, and reads ``meshes``.
"""
