"""Numerical methods on arrays: roots, Newton's method on manifolds, continuation, Runge-Kutta tableaux.

The package uses NumPy and SciPy alone and imports neither the graph nor mechanics. Linear algebra is called through one guarded
module, which refuses arrays with entries that are not finite and names the quantity in its errors; what deriving and checking a
small model needs of it is plain Python. Reading order: ``plain_matrices``, ``random_numbers``, ``linear_algebra``, ``roots``,
``extreme_eigenvalue``, ``weighted_least_change``, ``newton``, ``continuation``, ``differentiation_index``, ``tableaux``.
"""
