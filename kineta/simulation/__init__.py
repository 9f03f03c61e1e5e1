"""Simulation: from a problem through a solver to a result, for one case or many.

Reading order: ``simulate``, ``inputs``, ``solution``, ``kink_watch``, ``run``, ``independent_components``,
``touching_shapes``, ``pile_memory``, ``pile``, ``ensemble``, ``hybrid_ensemble``, ``stepping_ensemble``, ``postprocess``,
``joined_result``, ``energy_balance``, ``progress``.
"""
