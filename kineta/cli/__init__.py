"""The command line: one verb a file, in the order of ``main``.

What verbs share: ``options``, ``motion_options``, ``values``, ``csv_columns``. Verbs: ``new``, ``check``, ``derive``,
``evaluate``, ``assemble``, ``simulate``, ``equilibrium``, ``linearize``, ``modes``, ``response``, ``forces``, ``kinematics``,
``place``, ``servo``, ``reactions``, ``regressor``, ``identify``, ``sensitivity``, ``fit``, ``verify``, ``integrals``,
``export``, ``examples``, ``completion``.
"""
