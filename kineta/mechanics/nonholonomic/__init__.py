"""Equations of systems with constraints on their speeds in the forms of the literature, one file each, listed in ``table``.

All forms are equations in independent speeds without multipliers, and equal to each other; ``form`` has what they share. They are
told by ``equations.account``. Reading order: ``form``, ``maggi``, ``voronets``, ``chaplygin``, ``boltzmann_hamel``, ``table``.
"""
