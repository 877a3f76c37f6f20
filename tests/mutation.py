"""Mutation testing of metrics, decisions and term scores: the share of small changes to the code that tests notice.

mutmut makes changed copies of functions (mutants) and runs those tests of [tool.mutmut] in pyproject.toml that call the
changed function, the fastest first, up to the first failure. All mutants would take hours, so a random share of them is
drawn: ``make mutation SHARE=0.04 SEED=0``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

FOLDER = Path("mutants")
HEADER = ("mutants", "killed", "timeout", "survived", "no tests", "score")
NOTICED = ("killed", "timeout", "segfault")


def draw(share: float, seed: int) -> None:
    """Let mutmut write only a random share of the mutants of each file: all of them would take long to write, too."""
    from mutmut.mutation import file_mutation

    create = file_mutation.create_mutations

    def drawn(filename: str, *given: Any) -> Any:
        module, mutations, *ignored = create(filename, *given)
        chance = random.Random(f"{seed} {filename}")
        return module, [mutation for mutation in mutations if chance.random() < share], *ignored

    file_mutation.create_mutations = drawn


def judge(processes: int) -> dict[str, dict[str, str]]:
    """Make the mutants and run the tests on them; by room: what became of each (killed, survived, timeout …)."""
    from mutmut.__main__ import _run
    from mutmut.stats import status_by_exit_code

    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    (FOLDER / "benchmarks").symlink_to(Path("benchmarks").resolve())  # some tests import from it
    _run((), processes)
    found: dict[str, dict[str, str]] = {}
    for file in sorted(FOLDER.rglob("*.meta")):
        codes = json.loads(file.read_text("utf-8"))["exit_code_by_key"]
        found.setdefault(file.parent.name, {}).update({name: status_by_exit_code[code] for name, code in codes.items()})
    return {room: statuses for room, statuses in found.items() if statuses}


def wilson(successes: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share by Wilson's score.

    >>> [round(bound, 3) for bound in wilson(9, 10)]
    [0.596, 0.982]
    """
    middle = (successes + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(successes * (n - successes) / n + z * z / 4)
    return middle - half, middle + half


def row(room: str, statuses: list[str]) -> str:
    """One line of the table: how many mutants had each status, and the share that was noticed with its interval."""
    counts, n = Counter(statuses), len(statuses)
    noticed = sum(counts[status] for status in NOTICED)
    low, high = wilson(noticed, n)
    columns = (n, counts["killed"], counts["timeout"] + counts["segfault"], counts["survived"], counts["no tests"])
    figures = "".join(f"{column:>10}" for column in columns)
    return f"{room:<12}{figures}{noticed / n:>10.1%}  ({low:.1%} to {high:.1%})"


def main() -> None:
    """Draw mutants, judge them and print the scores; the change of every mutant that was not noticed is shown."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=0.04, help="the share of all mutants to judge; 1 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    draw(given.share, given.seed)
    rooms = judge(given.processes)
    for name, status in (pair for statuses in rooms.values() for pair in statuses.items()):
        if status not in NOTICED:
            print(f"\n{status}: {name}\n{get_diff_for_mutant(name)}")
    print(f"\nshare {given.share:g}, seed {given.seed}")
    print(f"{'room':<12}" + "".join(f"{word:>10}" for word in HEADER))
    for room, statuses in rooms.items():
        print(row(room, list(statuses.values())))
    print(row("all", [status for statuses in rooms.values() for status in statuses.values()]))


if __name__ == "__main__":
    main()
