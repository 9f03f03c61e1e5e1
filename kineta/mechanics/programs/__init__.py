"""Motion under programs of motion: rows of any order, laws of control, the highest derivatives and multipliers.

Reading order: ``rows``, ``dynamics``, ``laws``, ``covariant_derivative``, ``forms``, ``derivative_array``.
"""
