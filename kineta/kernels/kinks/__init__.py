"""Kinks and steps of the rate: steps end in front of them, and go on behind.

Reading order: ``guards`` (functions of the state whose signs tell of kinks), ``clocks`` (kinks that depend on the time alone),
``leaps`` (jumps of momenta and placements), ``knots`` (of smooth tables), ``crossings`` (kinks that a step crosses, and what
ends the next one).
"""
