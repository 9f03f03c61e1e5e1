"""Passes: from graph to graph. Derivatives, substitution, evaluation, simplification, hoisting."""
