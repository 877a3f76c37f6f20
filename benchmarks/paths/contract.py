"""What a hot path is: candidates that do the same work, a check that they gave the same answer, and goals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.inputs import Inputs

Answer = Mapping[str, Any]
OURS = "manylabel"


class NotThereYetError(Exception):
    """The library cannot do this work yet."""


class Job(NamedTuple):
    """Work ready to be timed: `run` is timed; `answer` turns what it returned into arrays, untimed."""

    run: Callable[[], Any]
    answer: Callable[[Any], Answer]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to do the work.

    `modules` are imported before the clock starts, in the environment of `peer`; then `make` reads the inputs and
    returns the job. `threads` are the numbers of threads it is measured with, `quick` those of a quick run. A
    candidate of another method is measured for its time; its answer need not be ours.
    """

    name: str
    peer: str
    modules: tuple[str, ...]
    make: Callable[[Inputs, int], Job]
    threads: tuple[int, ...] = (1, 2)
    quick: tuple[int, ...] = (1, 2)
    same_method: bool = True


class Agreement(NamedTuple):
    """Whether two answers are the same; None where they are not meant to be (another method)."""

    equal: bool | None
    detail: str


@dataclass(frozen=True, slots=True)
class Goal:
    """How many times as fast as a peer we mean to be, each with its number of threads: on the first call in a fresh
    process, or, for what a running service does again and again, on later calls.
    """

    against: str
    ratio: float
    our_threads: int
    peer_threads: int = 1
    no_more_memory: bool = False
    later: bool = False


@dataclass(frozen=True, slots=True)
class HotPath:
    """A piece of work that users wait for. The first candidate is ours."""

    name: str
    title: str
    candidates: tuple[Candidate, ...]
    agree: Callable[[Answer, Answer, Inputs], Agreement]
    goals: tuple[Goal, ...] = ()
    growth: tuple[str, ...] = ()
    units: int = 1
    extra: Callable[[Answer, Inputs], str] = field(default=lambda answer, inputs: "")

    def candidate(self, name: str) -> Candidate:
        """The candidate of that name."""
        return next(candidate for candidate in self.candidates if candidate.name == name)


def same_decisions(ours: Answer, theirs: Answer, inputs: Inputs) -> Agreement:
    """Whether two 0/1 matrices ("decisions") are the same everywhere."""
    mine, other = ours["decisions"] != 0, theirs["decisions"] != 0
    if mine.shape != other.shape:
        return Agreement(False, f"shapes {mine.shape} and {other.shape}")
    different = int((mine != other).sum())
    return Agreement(different == 0, f"{different} of {mine.size} decisions differ")


def micro_f1(answer: Answer, inputs: Inputs) -> str:
    """Micro F1 of the decisions on the test documents."""
    truth = inputs.matrix("Y_test").toarray() != 0
    given = answer["decisions"] != 0
    return f"micro F1 {2 * (truth & given).sum() / max(1, truth.sum() + given.sum()):.3f}"
