"""Simulation: from a problem through a solver to a result, for one case or many.

Reading order: ``simulate``, ``solution``, ``run``, ``ensemble``, ``hybrid_ensemble``, ``postprocess``,
``energy_balance``, ``progress``.
"""
