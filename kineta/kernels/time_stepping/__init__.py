"""Time stepping of Moreau and Jean in kernels: steps of given size, without modes.

``step_impulses`` finds the impulses of an island in a step, with restitution, ``near_pairs`` finds what is near of many shapes,
``pair_features`` and ``box_features`` where these touch, and ``pair_rows`` the rows there, ``time_step`` has the step,
``handover`` takes motions back to events, ``component_tables`` makes a whole of components, and
``ensemble`` carries many motions.
"""
