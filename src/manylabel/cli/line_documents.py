"""Documents of standard input and of ``.txt`` files: a text or a JSON object per line, or a table on request."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from manylabel.cli.display import remark

if TYPE_CHECKING:
    from io import BufferedReader

    from manylabel.cli.reading import DataOptions
    from manylabel.data.corpus import Text
    from manylabel.data.problems import Problems
    from manylabel.data.reading_options import ReadingOptions


STANDARD_INPUT = "standard input"
DELIMITERS = {",": "csv", ";": "csv", "\t": "tsv", "|": "csv"}
"""What separates the cells of a header, and the format of such a table."""
KINDS: Mapping[type, str] = {
    bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object", type(None): "null",
}  # fmt: skip
"""What JSON holds where it holds no text."""


@contextmanager
def standard_input_as_file(data: str, format: str | None) -> Iterator[str]:
    """A file with the bytes of standard input, where ``-`` is to be read in a format other than lines; else `data`.

    Errors and remarks about the file name standard input.
    """
    from manylabel.data.formats import format_named
    from manylabel.exceptions import DataError
    from manylabel.progress import remarks_to

    if data != "-" or format is None or format == "jsonl":
        yield data
        return
    suffix = next(iter(format_named(format).suffixes), "")
    with tempfile.TemporaryDirectory(prefix="manylabel-") as folder:
        path = Path(folder, f"standard-input{suffix}")
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with remarks_to(lambda text: remark(text.replace(str(path), STANDARD_INPUT))):
            try:
                yield str(path)
            except DataError as error:
                if str(error.path) == str(path):
                    error.path = STANDARD_INPUT
                raise


def is_plain_text(path: Path) -> bool:
    """Whether a file is read as standard input is: a ``.txt`` file that does not begin like another format."""
    from manylabel.data.formats import format_named
    from manylabel.data.recognition import guess_format, suffix_of
    from manylabel.exceptions import UnknownFormatError

    if suffix_of(path) != ".txt" or not os.path.isfile(path) or not path.stat().st_size:
        return False
    try:
        found = format_named(guess_format(path))
    except UnknownFormatError:
        return True
    # Prose with commas has the shape of a table; only a first line or signature of a format is a proof.
    return found.kind == "text" and not found.first_line and not found.signature


class LineDocuments:
    """Documents of lines: a line that starts with ``{`` is a JSON object, any other the text itself."""

    def __init__(
        self,
        problems: Problems,
        name: str,
        encoding: str,
        text_keys: Sequence[str] | None = None,
        like: ReadingOptions | None = None,
    ) -> None:
        self.problems, self.name, self.encoding = problems, name, encoding
        self.text_keys, self.like = text_keys, like

    @classmethod
    def of(cls, data: str, reading: DataOptions, like: ReadingOptions | None) -> LineDocuments:
        """The documents that the options of a command describe; `like` are the options of the model's training."""
        name = STANDARD_INPUT if data == "-" else data
        return cls(reading.source(data).problems(), name, reading.encoding or "utf-8", reading.text_column, like)

    def read(self, data: str) -> Iterator[list[tuple[str, Text]]]:
        """(id, text) pairs of a file, or of standard input for ``-``, in batches of the lines that are there."""
        from manylabel.data.textfile import open_bytes

        with ExitStack() as open_files:
            stream = (
                sys.stdin.buffer
                if data == "-"
                else open_files.enter_context(open_bytes(Path(data), self.problems.limits))
            )
            for numbered in _lines_as_they_come(stream):
                pairs = [self.document(number, raw) for number, raw in numbered]
                yield [pair for pair in pairs if pair is not None]

    def document(self, number: int, raw: bytes) -> tuple[str, Text] | None:
        """The id and text of one line; None where it cannot be read and is skipped."""
        from manylabel.data.nested_text import NotJsonError, parse_json

        try:
            line = raw.decode("utf-8-sig" if number == 1 and self.encoding == "utf-8" else self.encoding).rstrip("\r\n")
        except UnicodeDecodeError:
            encoding = "UTF-8" if self.encoding == "utf-8" else self.encoding
            self._report(number, f"These bytes are not {encoding}.", "Convert the text, or give --encoding.")
            return None
        if number == 1:
            self._notice_header(line)
        if not line.startswith("{"):
            return str(number), line
        try:
            record = parse_json(line, self.problems.limits.nesting)
        except NotJsonError as error:
            self._report(number, f"This line is not JSON: {error}.", None)
            return None
        fields = self._fields({key: value for key, value in record.items() if isinstance(value, str)})
        if not fields:
            self._report_no_text(number, record)
            return None
        text = next(iter(fields.values())) if len(fields) == 1 else fields
        identity = str(next((record[key] for key in ("id", "document_id") if record.get(key) is not None), number))
        try:
            "".join([identity, *fields.values()]).encode()
        except UnicodeEncodeError:
            problem = "This record holds half of a surrogate pair (\\ud…), which is not a character."
            self._report(number, problem, "Write both halves, or the character itself.")
            return None
        return identity, text

    def _report_no_text(self, number: int, record: Mapping[str, object]) -> None:
        """Report a record in which a text is missing, or is another value."""
        wanted = self.text_keys or (self.like.texts if self.like is not None else ()) or ("text",)
        other = next((key for key in wanted if key in record and not isinstance(record[key], str)), None)
        if other is not None:
            kind = KINDS[type(record[other])]
            self._report(number, f"{other!r} of this record holds {kind}, not a text.", "Write texts in quotes.")
            return
        found, keys = ", ".join(map(repr, record)) or "none", ", ".join(map(repr, wanted))
        self._report(number, f"This record has no text under {keys}. Keys: {found}.", "Use --text-column KEY.")

    def _notice_header(self, line: str) -> None:
        """Print how to read a table, where the first line looks like its header."""
        from manylabel.data.columns import names_columns

        own = self.like.texts if self.like is not None else ()
        for delimiter, format in DELIMITERS.items():
            if names_columns(line.split(delimiter), own):
                shown = f"{line.strip()!r:.200}"
                remark(
                    f"{self.name}: the first line looks like the header of a table ({shown}), and is read as a "
                    f"document. If this is a table, use --format {format}."
                )
                return

    def _fields(self, record: dict[str, str]) -> dict[str, str]:
        """The texts of a record: under the keys that were given, those of the training, or the usual ones."""
        if self.text_keys:
            return {key: record[key] for key in self.text_keys if key in record}
        if self.like is not None and self.like.texts:
            names = dict(zip(self.like.texts, self.like.fields, strict=True))
            if self.like.texts[-1] in record or self.like.gave("text_column"):
                return {names[key]: record[key] for key in names if key in record}
        return {key: value for key, value in record.items() if key in ("title", "text", "body")}

    def _report(self, number: int, problem: str, remedy: str | None) -> None:
        self.problems.report(problem, path=self.name, line=number, remedy=remedy)


def _lines_as_they_come(stream: IO[bytes]) -> Iterator[list[tuple[int, bytes]]]:
    """Numbered lines: all that one read of the stream returns, so that a pipe is answered before it is closed."""
    number, rest = 0, b""
    while piece := cast("BufferedReader", stream).read1(1 << 16):
        *lines, rest = (rest + piece).split(b"\n")
        if lines:
            yield [(number + place, line) for place, line in enumerate(lines, start=1)]
            number += len(lines)
    if rest:
        yield [(number + 1, rest)]
