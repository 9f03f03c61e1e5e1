"""The command line: verbs of tasks, which follow from :mod:`kineta.tasks.table`, and verbs with manners of their own.

Reading order: ``main``; ``task_verbs``, ``readers``, ``options``, ``values``. Verbs of their own: ``new``, ``check``, ``derive``,
``evaluate``, ``export``, ``play``, ``lsp``, ``examples``, ``completion``.
"""
