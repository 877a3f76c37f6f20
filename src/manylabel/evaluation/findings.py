"""What a reproduction finds: tables and curves with the paper's numbers beside ours, and a verdict on each claim.

Everything here is plain data that becomes JSON and back; whoever shows it (text, Markdown, a page) computes nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """Whether a claim of a paper holds on our figures."""

    REPRODUCED = "reproduced"
    IN_PART = "reproduced in part"
    NOT_REPRODUCED = "not reproduced"
    NOT_TESTED = "not tested"

    @classmethod
    def of(cls, holds: Sequence[bool]) -> Verdict:
        """Of a claim that says several things: all, some or none of them hold.

        >>> [str(Verdict.of(parts)) for parts in ([True, True], [True, False], [False])]
        ['reproduced', 'reproduced in part', 'not reproduced']
        """
        if all(holds):
            return cls.REPRODUCED
        return cls.IN_PART if any(holds) else cls.NOT_REPRODUCED


@dataclass(frozen=True, slots=True)
class Entry:
    """One figure: ours (a mean over repeats where `sd` is there) and the paper's, in the same unit.

    `low` and `high` are a 95 % interval of ours where one was computed.
    """

    ours: float | None = None
    sd: float | None = None
    paper: float | None = None
    paper_sd: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def over(cls, values: Sequence[float], paper: float | None = None, paper_sd: float | None = None) -> Entry:
        """The mean of repeats, and their standard deviation where there are several.

        >>> Entry.over([1.0, 3.0], paper=2.5)
        Entry(ours=2.0, sd=1.4142135623730951, paper=2.5, paper_sd=None, low=None, high=None)
        """
        sd = statistics.stdev(values) if len(values) > 1 else None
        return cls(statistics.fmean(values), sd, paper, paper_sd)

    @property
    def deviation(self) -> float | None:
        """Ours less the paper's."""
        return None if self.ours is None or self.paper is None else self.ours - self.paper


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: a name for each row, an entry for each column. `source` says where the paper prints it."""

    title: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[Entry]]
    source: str = ""
    unit: str = "%"
    digits: int = 1
    note: str = ""


@dataclass(frozen=True, slots=True)
class Curves:
    """A figure redrawn: lines of points (x, y) by name."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    source: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper, what we found, and the likeliest reason where it does not hold."""

    text: str
    verdict: Verdict
    found: str
    source: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment: the setting spelled out, what the paper leaves open and what was chosen, and what came out."""

    key: str
    title: str
    setting: str
    chosen: Sequence[str] = ()
    sheets: Sequence[Sheet] = ()
    curves: Sequence[Curves] = ()
    claims: Sequence[Claim] = ()


@dataclass(frozen=True, slots=True)
class Reproduction:
    """All experiments of one paper."""

    paper: str
    citation: str
    experiments: Sequence[Experiment]
    seconds: float = 0.0
    quick: bool = False
    notes: Sequence[str] = field(default=())

    @property
    def claims(self) -> list[Claim]:
        """The claims of all experiments."""
        return [claim for experiment in self.experiments for claim in experiment.claims]

    def as_dict(self) -> dict[str, Any]:
        """The reproduction as plain data."""
        return asdict(self)
