"""Tasks: the questions of mechanics, one package each.

A task takes a system or its equations and returns a frozen record that prints, draws and saves itself. Packages know those
before them alone: ``motions``, ``export``, ``forces``, ``linear``, ``equilibria``, ``sensitivity``, ``identification``,
``servo``, ``verification``, ``periodic_motions``; ``assemble``, ``posture``, ``moving_machine``, ``report``, ``mobility``,
``augmented_bodies``, ``structure_matrices`` stand beside them; ``ignored_features`` warns of features that a task leaves out,
``kept_results`` keeps what was found before.
``table`` lists all: from a row, a ``task`` with ``options``, follow public names, verb, completion, ``--json`` and reference.
"""
