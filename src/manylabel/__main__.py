"""``python -m manylabel`` is the command ``manylabel``."""

from manylabel.cli import main

main()
