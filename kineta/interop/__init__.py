"""Expressions of other computer algebra systems, to and from the graph. The package holds ``sympy``."""
