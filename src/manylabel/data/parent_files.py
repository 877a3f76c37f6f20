"""Label hierarchies as files of parents."""

from __future__ import annotations

from pathlib import Path

from manylabel.data.hierarchy import Hierarchy
from manylabel.data.problems import Problems
from manylabel.data.textfile import numbered_lines
from manylabel.exceptions import DataError


def read_parents(path: str | Path, problems: Problems | None = None) -> Hierarchy:
    """A file with one child and its parent a line, a tab between them; lines that begin with # are remarks.

    A child named again with another parent is refused; where bad lines are skipped, the first parent stays.
    """
    path, problems = Path(path), problems or Problems()
    parents: dict[str, str] = {}
    for number, line in numbered_lines(path, problems):
        if line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("\t")]
        if len(parts) != 2 or not all(parts):
            problems.report(
                f"A child and its parent are needed, but there is {line!r}.",
                path=path,
                line=number,
                remedy="Write child, tab, parent.",
            )
            continue
        child, parent = parts
        add_parent(parents, child, parent, problems, path, number)
    if not parents:
        raise DataError("There is no child with a parent in it.", path=path, remedy="Write child, tab, parent.")
    return in_file(parents, path)


def add_parent(
    parents: dict[str, str], child: str, parent: str, problems: Problems, path: Path, line: int | None
) -> None:
    """Note a parent; report a label that is its own parent, or that has another one already."""
    if child == parent:
        problems.report(f"{child!r} is its own parent.", path=path, line=line, remedy="Take that out.")
    elif parents.setdefault(child, parent) != parent:
        problems.report(
            f"{child!r} lies under {parent!r}, but also under {parents[child]!r}.",
            path=path,
            line=line,
            remedy="A label has one parent here: leave one out, or keep the first of them with --on-error skip.",
        )


def in_file(parents: dict[str, str], path: Path) -> Hierarchy:
    """The hierarchy of a file; a circle is told with the file's name."""
    try:
        return Hierarchy(parents)
    except DataError as error:
        raise DataError(error.problem, path=path, remedy="Take one of the links out.") from None
