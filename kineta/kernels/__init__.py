"""Loops in machine code: Runge-Kutta steps, event location, projection onto constraints, impacts, stick-slip, ensembles.

A kernel runs from one pause to the next without Python. Reading order: ``runge_kutta``, ``integrate``, ``event_location``,
``projection``, ``impact``, ``transition``, ``stick_slip``, ``simultaneous_impact``, ``ensemble``.
"""
