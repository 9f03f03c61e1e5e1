"""The graph of scalar expressions: interned nodes, walks over them, and the programs scheduled from them.

A node is an integer into flat lists, so that equal expressions are one node and graphs of a million nodes stay quick. The graph
knows no mechanics. Reading order: ``op``, ``row``, ``graph``, ``walk``, ``tables``, ``lowering``,
``program``, ``loop_program``, ``lane_program``, ``count``.
"""
