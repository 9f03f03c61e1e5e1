"""Hybrid systems: runs through contact modes, with impacts, stick-slip, limits, switches and sampled control.

Within a mode nothing jumps; at a guard an impact law and an active set decide the next mode. Reading order: ``automaton``,
``contact_modes``, ``contact_log``, ``switches``, ``sampling``, ``chattering``, ``time_stepping_fallback``,
``switched_stepping``.
"""
