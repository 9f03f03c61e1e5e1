"""Simulation: from a problem through a solver to a result, for one case or many.

Reading order: ``simulate``, ``inputs``, ``solution``, ``kink_watch``, ``slide_log``, ``run``, ``independent_components``,
``piles`` of bodies that touch each other, ``ensemble``, ``hybrid_ensemble``, ``stepping_ensemble``, ``postprocess``,
``joined_result``, ``joined_cases``, ``energy_balance``, ``progress``.
"""
