"""XML from strangers: checked in one pass before another parser builds anything of it."""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from manylabel.data.limits import Limits
from manylabel.data.problems import read_by_others
from manylabel.exceptions import DataError


def check_xml(data: bytes, path: Path, limits: Limits) -> None:
    """Raise `DataError`, with the line, for data that are not XML, declare entities, or are nested too deeply.

    Entities could expand to gigabytes or name another file, and parsers that walk a tree fail on a deep one.
    """
    parser = expat.ParserCreate()
    depth = 0

    def refuse(name: str, *_: object) -> None:
        raise DataError(
            f"The file declares the entity {name!r}, and entities are not read.",
            path=path,
            line=parser.CurrentLineNumber,
            remedy="Write the text out, or save the data in another format.",
        )

    def begin(*_: object) -> None:
        nonlocal depth
        depth += 1
        limits.check("nesting", depth, "elements within one another", path, line=parser.CurrentLineNumber)

    def end(*_: object) -> None:
        nonlocal depth
        depth -= 1

    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    with read_by_others("The XML", path, "Copy the whole file again."):
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            message = expat.errors.messages[error.code]
            raise DataError(f"The file is not XML ({message}).", path=path, line=error.lineno) from None
