"""Simulation: from a problem through a solver to a result, for one case or many.

Reading order: ``simulate``, ``inputs``, ``solution``, ``kink_watch``, ``slide_log``, ``run``, ``independent_components``,
``touching_shapes``, ``pile_memory``, ``pair_forces``, ``pile``, ``ensemble``, ``hybrid_ensemble``, ``stepping_ensemble``,
``pile_ensemble``, ``postprocess``, ``joined_result``, ``joined_cases``, ``energy_balance``, ``progress``.
"""
