"""Jobs that can be interrupted: outcomes are stored, and the next run computes only the missing ones.

What a job computes depends on the code and the seed alone, so outcomes are kept in a folder named after both: change a
line of what a paper's experiments rest on, and they are computed anew. What only shows outcomes (pages, commands) and
what belongs to another paper does not count.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from manylabel.data.atomic import atomic_text
from manylabel.data.limits import LIMITS
from manylabel.data.nested_text import parse_json
from manylabel.data.textfile import read_bytes
from manylabel.evaluation.findings import Experiment
from manylabel.exceptions import DataError
from manylabel.kernels import active
from manylabel.progress import stage

UNCONCERNED = ("cli", "tasks", "reports", "choosing", "integrations", "scale")
"""Rooms of the house that papers do not call."""

Outcome = Any
"""Plain data: numbers, strings, lists and dictionaries of them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The extent of a reproduction: `quick` takes fewer repeats and smaller grids."""

    seed: int = 0
    quick: bool = False
    n_jobs: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One job: a name unique within its paper, its approximate seconds, and the function to call."""

    key: str
    seconds: float
    run: Callable[[], Outcome]


@dataclass(frozen=True, slots=True)
class Study:
    """One experiment of a paper: what it is called, which jobs it rests on, and how it is read from their outcomes."""

    key: str
    title: str
    jobs: Sequence[str]
    """What the keys of its jobs start with, after the name of the paper."""
    read: Callable[[Plan, Mapping[str, Any]], Experiment]
    quick_verdicts: bool = True
    """Whether quick settings are the paper's, so that verdicts stand in a quick run too."""

    def rests_on(self, job: str) -> bool:
        """Whether the experiment needs the outcome of a job."""
        return job.partition("/")[2].startswith(tuple(self.jobs))

    def experiment(self, plan: Plan, outcomes: Mapping[str, Any]) -> Experiment:
        """The experiment, from the outcomes of its jobs; outcomes of other jobs may be among them."""
        own = {key: outcome for key, outcome in outcomes.items() if self.rests_on(key)}
        found = replace(self.read(plan, own), key=self.key, title=self.title)
        return found.without_verdicts() if plan.quick and not self.quick_verdicts else found


def read_studies(studies: Iterable[Study], plan: Plan, outcomes: Mapping[str, Any]) -> list[Experiment]:
    """The experiments, from the outcomes of their jobs."""
    return [study.experiment(plan, outcomes) for study in studies]


class Ledger:
    """The stored outcomes of jobs, one JSON file each, written atomically."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, key: str) -> tuple[Outcome, float] | None:
        """The outcome of a job and the seconds it took; None if it has not run."""
        path = self._path(key)
        if not path.exists():
            return None
        try:
            kept = parse_json(read_bytes(path).decode(), LIMITS.nesting)
            if kept["key"] != key:
                raise ValueError(f"it is of {kept['key']!r}")
            return kept["outcome"], float(kept["seconds"])
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(
                f"The outcome of {key!r} was kept by another version or is damaged ({error}).",
                path=path,
                remedy="Delete the file, or compute everything anew: manylabel reproduce --fresh.",
            ) from None

    def keep(self, key: str, outcome: Outcome, seconds: float) -> None:
        """Store the outcome of a job."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_text(path) as stream:
            json.dump({"key": key, "seconds": seconds, "outcome": outcome}, stream)

    def forget(self, keys: Iterable[str]) -> None:
        """Delete the outcomes of some jobs."""
        for key in keys:
            self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        name = "".join(sign if sign.isalnum() or sign in "-." else "_" for sign in key)
        return self.folder / f"{name[:80]}.{hashlib.sha256(key.encode()).hexdigest()[:8]}.json"


def run_jobs(jobs: Sequence[Job], ledger: Ledger, what: str) -> tuple[dict[str, Outcome], float]:
    """Run every job that is not in the ledger; return all outcomes by key, and the seconds they took.

    Outcomes pass through JSON whether they are new or kept, so that both are the same to the last bit.
    """
    outcomes: dict[str, Outcome] = {}
    spent = 0.0
    with stage(what, max(1, round(sum(job.seconds for job in jobs)))) as advance:
        due = 0.0
        for job in jobs:
            found = ledger.find(job.key)
            if found is None:
                began = time.perf_counter()
                outcome = json.loads(json.dumps(job.run()))
                found = outcome, time.perf_counter() - began
                ledger.keep(job.key, *found)
            outcomes[job.key], seconds = found
            spent += seconds
            before, due = round(due), due + job.seconds
            advance(round(due) - before)
    return outcomes, spent


def fingerprint(plan: Plan, paper: str) -> str:
    """A hash of everything a paper's outcomes depend on: code, kernels in use, seed, and extent."""
    settings = f"{active()} {plan.seed} {plan.quick}"
    return hashlib.sha256(f"{_source_hash(paper)} {settings}".encode()).hexdigest()[:16]


@cache
def _source_hash(paper: str) -> str:
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in _sorted_files(package.rglob("*"), {".py", ".pyx", ".pxd", ".toml"}):
        inside = path.relative_to(package)
        if bears_on(inside, paper):
            digest.update(inside.as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def bears_on(path: Path, paper: str) -> bool:
    """Whether a file of the package may change what a paper's jobs compute; `beyond` depends on all papers.

    >>> [bears_on(Path(name), "ueda2002") for name in ("models/pmm1.py", "papers/ueda2002_runs.py", "papers/jobs.py")]
    [True, True, True]
    >>> [bears_on(Path(name), "ueda2002") for name in ("cli/app.py", "papers/lecture.py")]
    [False, False]
    """
    if path.parts[0] != "papers":
        return path.parts[0] not in UNCONCERNED
    return paper == "beyond" or path.name.startswith((paper, "jobs", "__init__"))


def _sorted_files(paths: Iterable[Path], suffixes: set[str]) -> list[Path]:
    return sorted(path for path in paths if path.suffix in suffixes)


def by_prefix(outcomes: Mapping[str, Outcome], prefix: str) -> list[Outcome]:
    """The outcomes of all jobs whose key starts with the prefix, in the order of the jobs.

    >>> by_prefix({"svm/0": 1, "svm/1": 2, "knn/0": 3}, "svm/")
    [1, 2]
    """
    return [outcome for key, outcome in outcomes.items() if key.startswith(prefix)]
