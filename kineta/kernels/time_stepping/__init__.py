"""Time stepping of Moreau and Jean in kernels: steps of given size, without modes.

``alart_curnier`` finds impulses of an island by Newton's method on their laws, ``step_impulses`` those of a step, with
restitution, ``time_step`` has the step, and ``ensemble`` carries many motions.
"""
