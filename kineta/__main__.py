"""``python -m kineta``: the command line."""

from kineta.cli.main import main

main()
