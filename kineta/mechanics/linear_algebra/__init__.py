"""Linear algebra on references into a graph, with structural zeros.

Reading order: ``ldl`` (symmetric systems), ``small_systems``.
"""
