"""The command line: parse, call one task, print. Nothing here computes."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; every foreseen error is one sentence and exit code 2."""
    from manylabel.cli.run import run

    sys.exit(run(sys.argv[1:]))
