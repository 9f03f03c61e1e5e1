"""Checks of a description: what is wrong with it, as a sentence on the record at fault.

``diagnostics`` is the error with its place; ``check`` calls the rules in order, ``name_scopes`` the rules of symbols,
``inertia_check`` that of masses, ``contact_checks`` those of contacts and switches; ``scaling_check``, ``unused_names``
and ``doubtful_values`` warn.
"""
