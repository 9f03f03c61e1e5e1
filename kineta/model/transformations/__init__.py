"""Systems made of systems: ``mapping`` of all expressions of a record, ``equivalents`` that move the same, the ``subset`` without
what a task leaves out, the ``components`` that move apart, the ``isomorphism`` of some, and
``submodel``, one within another.
"""
