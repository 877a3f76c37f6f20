"""From records to figures to text and JSON: first one plain structure, then its renderings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.growth import AT_MOST, Growth
from benchmarks.measure import Key
from benchmarks.paths.contract import OURS, Agreement, Goal, HotPath
from benchmarks.samples import Ratio, Record, Sample, figure, median, ratio, seconds

COLUMNS = (
    "path",
    "against",
    "threads",
    "first call",
    "peer's",
    "ratio",
    "(rounds)",
    "later",
    "peer's",
    "ratio",
    "CPU ratio",
    "peak MB",
    "peer's",
    "results",
    "goal",
)


@dataclass(frozen=True, slots=True)
class Row:
    """Us against one peer on one path. Without a peer's record (`against` empty) only our times count."""

    path: str
    against: str
    our_threads: int
    peer_threads: int
    ours: Record
    theirs: Record | None
    units: int
    equal: bool | None
    agreement: str
    goal: Goal | None

    @property
    def missing(self) -> str:
        """Why there is nothing to compare."""
        if self.ours.missing:
            return self.ours.missing
        return self.theirs.missing if self.theirs is not None else ""

    def ratio(self, phase: str, what: str = "wall") -> Ratio | None:
        """The ratio of first or later calls."""
        if self.theirs is None or self.missing:
            return None
        return ratio(getattr(self.ours, phase), getattr(self.theirs, phase), what)

    @property
    def verdict(self) -> str:
        """What became of the goal."""
        if self.goal is None:
            return ""
        asked = f"≥ {self.goal.ratio:g}×" + (", no more memory" if self.goal.no_more_memory else "")
        got = self.ratio("later" if self.goal.later else "first")
        if got is None:
            return f"{asked}: not measured"
        if not self.equal:
            return f"{asked}: not judged, results differ"
        fast = got.value >= self.goal.ratio
        memory = self.ratio("first", "peak")
        lean = not self.goal.no_more_memory or (memory is not None and memory.value >= 1)
        return f"{asked}: {'met' if fast and lean else 'missed'}"


def rows_of(path: HotPath, records: dict[Key, Record], agreements: dict[tuple[Key, Key], Agreement]) -> list[Row]:
    """A row for every peer and number of threads beside us with as many, and for every goal."""
    goals = {(goal.against, goal.our_threads, goal.peer_threads): goal for goal in path.goals}
    ours = [record for record in records.values() if record.name == OURS]
    rows = []
    for theirs in (record for record in records.values() if record.name != OURS):
        for mine in ours:
            goal = goals.get((theirs.name, mine.threads, theirs.threads))
            only_ours = theirs.threads != 1 and len(ours) == 1  # a peer's two threads against our only one
            if mine.threads != theirs.threads and goal is None and not only_ours:
                continue
            key = (mine.name, mine.threads), (theirs.name, theirs.threads)
            same = agreements.get(key, Agreement(None, ""))
            said = ", ".join(part for part in (same.detail, theirs.remark) if part)
            rows.append(
                Row(
                    path.name, theirs.name, mine.threads, theirs.threads, mine, theirs, path.units,
                    same.equal, said, goal,
                )
            )  # fmt: skip
    if not rows:
        rows = [Row(path.name, "", r.threads, 0, r, None, path.units, None, r.remark, None) for r in ours]
    return rows


def cells(row: Row) -> list[str]:
    """A row of the table as text."""
    threads = f"{row.our_threads} : {row.peer_threads}" if row.against else str(row.our_threads)
    start = [row.path, row.against or "nobody", threads]
    if row.missing:
        return [*start, *[""] * 10, row.missing, row.verdict]
    theirs_first: Sequence[Sample] = row.theirs.first if row.theirs else ()
    theirs_later: Sequence[Sample] = row.theirs.later if row.theirs else ()
    first, later, cpu = row.ratio("first"), row.ratio("later"), row.ratio("first", "cpu")
    differ = "DIFFERENT: " if row.equal is False else ""
    return [
        *start,
        _time(row.ours.first, row.units),
        _time(theirs_first, row.units),
        str(first or ""),
        f"{figure(first.low)}-{figure(first.high)}" if first else "",
        _time(row.ours.later, row.units),
        _time(theirs_later, row.units),
        str(later or ""),
        str(cpu or ""),
        _megabytes(row.ours.first),
        _megabytes(theirs_first),
        differ + row.agreement,
        row.verdict,
    ]


def _time(samples: Sequence[Sample], units: int) -> str:
    value = median(samples, "wall")
    return seconds(None if value is None else value / units)


def _megabytes(samples: Sequence[Sample]) -> str:
    value = median(samples, "peak")
    return "" if value is None else f"{value / 2**20:.0f}"


def table(columns: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Columns side by side, as wide as what is in them.

    >>> print(table(["a", "b"], [["1", "22"], ["333", ""]]))
    a    b
    ---  --
    1    22
    333
    """
    widths = [max(len(cell) for cell in column) for column in zip(columns, *body)]
    lines = [columns, ["-" * width for width in widths], *body]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def as_text(rows: Sequence[Row], growth: Sequence[Growth], facts: dict[str, Any]) -> str:
    """The whole report for a terminal."""
    lines = [f"{key}: {value}" for key, value in facts.items() if not isinstance(value, dict)]
    lines += [f"{name} {version}" for name, version in facts["peers"].items()]
    parts = ["\n".join(lines), table(COLUMNS, [cells(row) for row in rows])]
    if growth:
        body = [
            [g.path, g.axis, f"{g.sizes[0]:,} - {g.sizes[-1]:,}", seconds(g.seconds[0]), seconds(g.seconds[-1]),
             f"{g.exponent:.2f}", f"{g.tail:.2f}", "met" if g.within_goal else "missed"]
            for g in growth
        ]  # fmt: skip
        head = ("path", "grows with", "from - to", "seconds from", "to", "exponent", "three largest", f"≤ {AT_MOST}")
        parts.append(table(head, body))
    return "\n\n".join(parts) + "\n"


def as_json(rows: Sequence[Row], growth: Sequence[Growth], facts: dict[str, Any]) -> str:
    """Every sample and every figure."""
    comparisons = [
        {
            **{key: value for key, value in asdict(row).items() if key not in ("goal", "units")},
            "calls are of": row.units,
            "ratios": {
                f"{phase} {what}": asdict(found)
                for phase in ("first", "later")
                for what in ("wall", "cpu", "peak")
                if (found := row.ratio(phase, what)) is not None
            },
            "goal": None if row.goal is None else {**asdict(row.goal), "verdict": row.verdict},
        }
        for row in rows
    ]
    document = {"facts": facts, "comparisons": comparisons, "growth": [asdict(g) for g in growth]}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def write(folder: Path, rows: Sequence[Row], growth: Sequence[Growth], facts: dict[str, Any]) -> str:
    """Keep text, JSON and plot in a folder; the text."""
    from benchmarks.plot import draw

    folder.mkdir(parents=True, exist_ok=True)
    text = as_text(rows, growth, facts)
    (folder / "bench.txt").write_text(text)
    (folder / "bench.json").write_text(as_json(rows, growth, facts))
    draw(folder / "bench.png", rows, growth)
    return text
