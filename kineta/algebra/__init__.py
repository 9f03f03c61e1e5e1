"""Scalar expressions as users write them: ``Expr`` with its operators and derivatives, elementary functions, infix text.

An expression is a graph and a reference into it; the algebra stands above the passes, which differentiate and substitute for
it. Reading order: ``signs``, ``infix``, ``expression``, ``functions``, ``tables``, ``written_order``.
"""
