"""A whole run as kernels, from its start to a time: what exported code consists of.

``contact_transitions`` has the transitions of contacts, ``switches`` what switches set, ``controllability`` the watch over
programs of motion, ``standalone_run`` the run, ``stepping_run`` that by time stepping, ``fallback_run`` that which goes over from
the one to the other, ``touching_bodies`` its tables of bodies that may touch each other, and ``sincos`` the sine and cosine of
its functions.
"""
