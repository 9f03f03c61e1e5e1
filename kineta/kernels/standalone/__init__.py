"""A whole run as kernels, from its start to a time: what exported code consists of.

``standalone_run`` is the run, and ``sincos`` the sine and cosine of its functions.
"""
