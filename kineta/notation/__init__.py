"""Expressions and equations for readers: plain text, LaTeX, MathML.

Compiled graphs and printed formulas have different aims: in print, common subexpressions have names only where this shortens
the text, and terms are sorted. Reading order: ``common_subexpressions``, ``typesetting``, ``text``, ``latex``,
``mathml``, ``html``.
"""
