"""Read data of any known format, describe them, and write them in another."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manylabel.data import describe, write
from manylabel.data.description import CorpusSizes
from manylabel.data.problems import Problem
from manylabel.tasks.corpora import Source, load_source


@dataclass(frozen=True, slots=True)
class Converted:
    """What was read, where it was written, and the lines that were skipped."""

    sizes: CorpusSizes
    format: str
    target: Path | None
    skipped: list[Problem]

    def as_dict(self) -> dict[str, Any]:
        """The summary as plain data."""
        target = None if self.target is None else str(self.target)
        skipped = [str(problem) for problem in self.skipped]
        return {**asdict(self.sizes), "format": self.format, "target": target, "skipped": skipped}


def convert(source: Source, target: Path | None, *, to: str | None = None, split: str | None = None) -> Converted:
    """Read the source, or one split of it, and write it to `target` unless that is None."""
    reading = load_source(source)
    corpus = reading.corpus if split in (None, "all") else reading.corpus.split(str(split))
    if target is not None:
        write(corpus, target, format=to)
    return Converted(describe(corpus), reading.format, target, reading.skipped)
