"""Motions that slide along surfaces where the rate jumps: the ``rate`` along them, and the ``sides`` from which they come and to
which they leave, and ``changes`` of contacts meanwhile.
"""
