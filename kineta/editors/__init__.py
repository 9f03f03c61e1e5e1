"""What editors need: colours of the language, and the language server ``kineta lsp``.

Colours: ``words``, ``colours``, ``pygments_lexer``. The server: ``names``, ``positions``, ``diagnostics``, ``documents``,
``formatting``, ``language_server``.
"""
