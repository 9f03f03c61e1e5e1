"""Time stepping of Moreau and Jean in kernels: steps of given size, without modes.

``march`` makes one step after the other, and ``time_step`` is one: ``displacements`` of the coordinates, the terms at its
``midpoint``, ``step_contacts`` takes contacts in and solves their islands, ``step_impulses`` finds the impulses of one, with
restitution, and ``step_impacts`` tells what struck. ``near_pairs`` finds what is near of many shapes, ``pair_features`` and
``box_features`` where these touch, and ``pair_rows`` the rows there. ``handover`` takes motions back to events,
``component_tables`` makes a whole of components, and ``ensemble`` carries many motions.
"""
