"""Lines that a reader cannot read (an error, or skipped and recorded), and the limits of a reader."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from manylabel.data.limits import LIMITS, Limits
from manylabel.exceptions import DataError, ManylabelError
from manylabel.parameters import OneOf, check_parameter

OnError = Literal["raise", "skip"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that was skipped, and why."""

    path: str
    line: int | None
    problem: str

    def __str__(self) -> str:
        return str(DataError(self.problem, path=self.path, line=self.line))


class Problems:
    """Where readers report bad lines; with ``on_error="skip"`` they are collected instead of raised.

    >>> problems = Problems("skip")
    >>> problems.report("There is no text.", path="mail.jsonl", line=3)
    >>> [str(problem) for problem in problems.skipped]
    ['mail.jsonl, line 3: There is no text.']
    """

    def __init__(self, on_error: OnError = "raise", *, keep_blank: bool = False, limits: Limits = LIMITS) -> None:
        check_parameter("read", "on_error", on_error, OneOf("raise", "skip"))
        self.on_error = on_error
        self.keep_blank = keep_blank
        """Whether a row without a text is a document with the text "" (`predict`), not a problem."""
        self.limits = limits
        """How much a reader may read."""
        self.skipped: list[Problem] = []

    def report(self, problem: str, *, path: str | Path, line: int | None = None, remedy: str | None = None) -> None:
        """Raise `DataError`, or record the problem so that the caller may go on with the next line."""
        if self.on_error == "raise":
            raise DataError(problem, path=path, line=line, remedy=remedy)
        self.skipped.append(Problem(str(path), line, problem))


@contextmanager
def read_by_others(what: str, path: Path, remedy: str) -> Iterator[None]:
    """Turn whatever another library raises for a broken file into a `DataError`; `what` cannot be read.

    Parsers of zip files, XML, Parquet and RDF raise errors of any class where a file is not what it claims to be.
    """
    try:
        yield
    except (ManylabelError, MemoryError):
        raise
    except Exception as error:
        found = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        raise DataError(f"{what} cannot be read ({found[:200]}).", path=path, remedy=remedy) from None
