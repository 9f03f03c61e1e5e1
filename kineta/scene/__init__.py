"""What a machine looks like, as data for every kind of picture: frames, solids, paths and arrows.

``scene`` has the records, ``system_scene`` makes them from a description: ``scene_builder`` with the walk along its motions,
``default_solids`` for bodies without shapes, with the outlines of ``cams`` and the ``centres`` of fields, ``appearance`` with
the shapes, paths and arrows of the model, ``height_fields`` with ground of a given height. ``machine`` poses the
scene for numbers, and ``construction`` makes the ``surfaces`` of its solids, those of ``rails`` by their lines, and reads
``meshes``. ``gltf`` writes them, as they move, to files of glTF 2.0.
"""
