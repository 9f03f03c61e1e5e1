"""Passes: functions from graph to graph.

Each pass is a table ``{operation: rule}`` and one sweep in topological order, and keeps the value of every expression. Passes
differentiate, substitute, evaluate, and lower the number of operations before code is generated. Reading order:
``evaluate``, ``multiprecision``, ``substitute``, ``differentiate``, ``time_derivatives``, ``linear_forms``, ``fold_constants``,
``cancel``, ``distribute``, ``factor``, ``share``, ``simplify``, ``hoist``, ``step_recorder``, ``expand``, ``collect_terms``,
``remove_guards``, ``magnitude``, ``bounds``, ``nonsmooth_operations``.
"""
