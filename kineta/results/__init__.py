"""Records of runs: values over time with names and units, outcomes, files.

Reading order: ``ruled_table``, ``labelled_matrix``, ``series``, ``outcomes``, ``result``, ``cases``, ``extremes``,
``fingerprint``, ``netcdf``, ``csv_table``, ``impacts``.
"""
