"""The records of a reproduction: tables and curves with the paper's numbers beside ours, and a verdict per claim.

Everything here is plain data that becomes JSON and back; whoever shows it (text, Markdown, a page) computes nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """Whether a claim of a paper holds on our figures."""

    REPRODUCED = "reproduced"
    IN_PART = "reproduced in part"
    NOT_REPRODUCED = "not reproduced"
    NOT_TESTED = "not tested"
    QUICK = "no verdict: quick settings"

    @classmethod
    def of(cls, holds: Sequence[bool | None]) -> Verdict:
        """The verdict on a claim of several statements, each of which holds, fails, or is open (None).

        The rule is that of `manylabel.evaluation.gaps`: reproduced where all hold, not reproduced where all fail, in
        part otherwise.

        >>> [str(Verdict.of(parts)) for parts in ([True, True], [True, False], [False], [None])]
        ['reproduced', 'reproduced in part', 'not reproduced', 'reproduced in part']
        """
        if all(holds):
            return cls.REPRODUCED
        return cls.IN_PART if any(one is not False for one in holds) else cls.NOT_REPRODUCED


@dataclass(frozen=True, slots=True)
class Entry:
    """One value: ours (a mean over repeats if `sd` is set) and the paper's, in the same unit.

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
        """The entry for the mean of repeats, with their standard deviation if there are several.

        >>> Entry.over([1.0, 3.0], paper=2.5)
        Entry(ours=2.0, sd=1.4142135623730951, paper=2.5, paper_sd=None, low=None, high=None)
        """
        sd = statistics.stdev(values) if len(values) > 1 else None
        return cls(statistics.fmean(values), sd, paper, paper_sd)

    @property
    def deviation(self) -> float | None:
        """Our value minus the paper's."""
        return None if self.ours is None or self.paper is None else self.ours - self.paper


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: a name per row and an entry per column. `source` is where the paper prints it."""

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


IN_VIEW = "Reading found with test figures in view"
"""How every `Reading` is marked: it shows what the authors may have done, and estimates nothing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """An interpretation of the paper under which a claim may hold, chosen after seeing results on test documents."""

    setting: str
    verdict: Verdict
    found: str

    @property
    def text(self) -> str:
        """The reading as a sentence, marked as chosen by test figures."""
        return f"{IN_VIEW}: {self.setting}: {self.verdict}. {self.found}"


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the paper, what we found, a note, and other interpretations under which it may hold."""

    text: str
    verdict: Verdict
    found: str
    source: str = ""
    reason: str = ""
    readings: Sequence[Reading] = ()

    @property
    def found_text(self) -> str:
        """What was found, the note and the readings, one after the other."""
        return " ".join(filter(None, [self.found, self.reason, *(reading.text for reading in self.readings)]))

    def without_verdict(self) -> Claim:
        """The claim without its verdict, for a quick run; untested claims stay untested."""
        if self.verdict is Verdict.NOT_TESTED:
            return self
        readings = [replace(reading, verdict=Verdict.QUICK) for reading in self.readings]
        return replace(self, verdict=Verdict.QUICK, readings=readings)


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment: its settings, what the paper leaves open and what was chosen, and the results."""

    setting: str
    chosen: Sequence[str] = ()
    sheets: Sequence[Sheet] = ()
    curves: Sequence[Curves] = ()
    claims: Sequence[Claim] = ()
    key: str = ""
    title: str = ""

    def without_verdicts(self) -> Experiment:
        """The experiment without verdicts, for a quick run, whose settings are not the paper's."""
        return replace(self, claims=[claim.without_verdict() for claim in self.claims])


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
