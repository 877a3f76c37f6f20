"""Inputs that fuzzing found, and others like them: each is read, or refused with one of manylabel's own errors.

The folder of a file names the fuzz target that reads it (`fuzz.targets`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fuzz.judging import Verdict, judge
from fuzz.mutation import DICTIONARIES, dictionary, mutated
from fuzz.targets import TARGETS
from fuzz.targets.base import CORPUS

from manylabel.data.formats import FORMATS

FOLDER = Path(__file__).parent
INPUTS = sorted(path.relative_to(FOLDER) for path in FOLDER.glob("*/*") if path.parent.name != "__pycache__")
NAMED = sorted(path.relative_to(CORPUS) for path in CORPUS.glob("*/*"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", INPUTS, ids=str)
def test_what_fuzzing_found_is_read_or_refused(path: Path) -> None:
    verdict, error = judge(TARGETS[path.parts[0]], (FOLDER / path).read_bytes())
    assert verdict in (Verdict.READ, Verdict.REFUSED), repr(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NAMED, ids=str)
def test_every_seed_is_read(path: Path) -> None:
    verdict, error = judge(TARGETS[path.parts[0]], (CORPUS / path).read_bytes())
    assert verdict is Verdict.READ, repr(error)


def test_every_format_has_a_target() -> None:
    assert {row.name for row in FORMATS} <= TARGETS.keys()
    assert {path.parts[0] for path in [*INPUTS, *NAMED]} <= TARGETS.keys()


def test_inputs_depend_on_target_seed_and_number_alone() -> None:
    target, seeds = TARGETS["csv"], [b"text,labels\nlate bus,a\n", b"a;b\n1;2\n"]
    made = [target.input(seeds, 0, number) for number in range(200)]
    assert made == [target.input(seeds, 0, number) for number in range(200)]
    assert made[:2] == seeds
    assert len(set(made)) > 150
    assert made[2:] != [target.input(seeds, 1, number) for number in range(2, 200)]


def test_dictionaries_hold_what_they_quote() -> None:
    assert b"\t" in dictionary("any")
    assert all(dictionary(path.stem) for path in DICTIONARIES.glob("*.txt"))


def test_errors_of_others_and_lack_of_memory_are_finds() -> None:
    from random import Random

    from fuzz.targets.base import Target

    from manylabel.exceptions import DataError

    def run(data: bytes) -> None:
        if data == b"ours":
            raise DataError("no")
        if data == b"memory":
            try:
                raise MemoryError
            except MemoryError as error:
                raise DataError("no") from error
        if data:
            raise KeyError(data)

    target = Target("test", run)
    verdicts = {data: judge(target, data)[0] for data in (b"", b"ours", b"memory", b"other")}
    assert verdicts == {
        b"": Verdict.READ,
        b"ours": Verdict.REFUSED,
        b"memory": Verdict.ALLOCATION,
        b"other": Verdict.FOREIGN,
    }
    assert mutated(Random(1), b"abc", [b"abc"]) == mutated(Random(1), b"abc", [b"abc"])
