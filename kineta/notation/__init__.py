"""Expressions and equations for readers: plain text, LaTeX, MathML.

Compiled graphs and printed formulas have different aims: what is printed is the form of the least reading cost. Reading order:
``printed_numbers``, ``rationals``, ``typesetting``, ``text``, ``latex``, ``printed_tables``, ``common_subexpressions``,
``premises``, ``readable``, ``printed_form``, ``defined_names``, ``mathml``, ``html``.
"""
