"""Attacked model files of every method: refused with a sentence, or harmless. Nothing crashes, hangs or allocates."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from attacks import ATTACKS, GOOD, answers, attacked, campaign, outcome, received, small_model, texts
from manylabel.catalog import METHODS

EACH = {"flip": 3, "unverified flip": 3, "cut": 2, "forgery": 8}
MANY = {"flip": 90, "unverified flip": 20, "cut": 10, "forgery": 90}
"""Attacks per method: of all methods together more than 5,000 flips, 500 cuts and 5,000 forgeries."""


@pytest.mark.usefixtures("patient")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", METHODS)
def test_attacked_files_are_refused_or_harmless(method: str, tmp_path: Path) -> None:
    path, documents = tmp_path / "m", texts()[:4]
    small_model(method, path)
    expected, rng = answers(path, documents), np.random.default_rng(0)
    for attack in ATTACKS:
        for _ in range(EACH[attack]):
            how = attacked(path, tmp_path / "attacked", attack, rng)
            same = expected if attack in ("flip", "cut") else None
            found = outcome(tmp_path / "attacked", documents, same, verify=attack != "unverified flip")
            assert found in GOOD, f"{attack}, {how}: {found}"


@pytest.mark.slow
def test_thousands_of_attacks_are_refused_or_harmless() -> None:
    counts, wrong = campaign(list(METHODS), MANY)
    assert wrong == []
    assert sum(counts.values()) == len(METHODS) * sum(MANY.values())


@pytest.mark.parametrize(("number", "found"), [(signal.SIGSEGV, "signal 11"), (signal.SIGPROF, "hang")])
def test_a_process_that_dies_is_counted_and_started_anew(number: int, found: str, tmp_path: Path) -> None:
    script = f"import os; print('try this', flush=True); os.kill(os.getpid(), {number})"
    plan = [("flip", 0), ("cut", 1)]
    assert list(received(tmp_path, plan, [sys.executable, "-c", script])) == [(one, "this", found) for one in plan]
