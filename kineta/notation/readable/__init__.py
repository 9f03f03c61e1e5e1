"""Equations in the form that is shortest to read, judged by a cost of symbols, depth and named parts.

What is compiled is judged by operations, what is read by letters, brackets and fractions. An expression becomes a fraction of
sums of products (``polynomials``, ``ring``, ``residues``, ``divisors``, ``angles``, ``symbolic_powers``, ``normal_form``,
``lasting_signs``); then the cheapest of many ways to write it is searched (``trees``, ``reading_cost``, ``factoring``,
``entries``, ``common_denominators``, ``completed_squares``, ``linear_factors``, ``habits``, ``brackets``,
``parts``); ``readable_form`` does both.
"""
