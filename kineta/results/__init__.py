"""Records of runs: values over time with names and units, outcomes, files.

Reading order: ``series``, ``labelled_matrix``, ``outcomes``, ``result``, ``cases``, ``extremes``, ``fingerprint``, ``netcdf``,
``csv_table``, ``impacts``, ``drawing``.
"""
