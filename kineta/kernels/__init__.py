"""Loops in machine code: Runge-Kutta steps, event location, projection onto constraints, transitions of contacts, ensembles.

A kernel runs from one pause to the next without Python. Kernels are functions in a typed subset of Python, ``language``; its
translator is ``scope``, ``expressions`` and ``translation``, and ``machine_code`` compiles. Reading order of the loop of one
motion: ``vectors``, ``stage_evaluation``, ``runge_kutta``, ``projection``, ``event_start``, ``zero_search``,
``event_location``, ``kinks``, ``sliding``, ``sampling``, ``pace``, ``transition``, ``switching``, ``integrate``; ``ensemble``
carries many motions by it, one in each lane of a vector, or with contacts one after the other, and ``device_ensemble`` in each
thread of a graphics processor. In ``contact`` and ``time_stepping`` the set of contacts that acts is data; ``standalone`` is a
whole run. ``energy_balance`` measures the energies of a run behind it.
"""
