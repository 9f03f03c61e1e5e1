"""Loops in machine code: Runge-Kutta steps, event location, projection onto constraints, impacts, stick-slip, ensembles.

A kernel runs from one pause to the next without Python. Kernels are functions in a typed subset of Python, ``language``; its
translator is ``scope``, ``expressions`` and ``translation``, and ``machine_code`` compiles. Reading order of the loops:
``runge_kutta``, ``integrate``, ``event_location``, ``projection``, ``impact``, ``transition``, ``stick_slip``,
``simultaneous_impact``, ``ensemble``. In ``contact`` the set of contacts that act is data.
"""
