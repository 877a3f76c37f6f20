"""Which files a path stands for: itself, the parts in a folder, or the files that share a prefix."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from manylabel.data.formats import extension, format_of_extension, guess_format
from manylabel.data.split_names import SPLIT_NAMES, split_name
from manylabel.exceptions import DataError, MissingDataError, UnknownFormatError

_PARTS = "|".join(sorted(SPLIT_NAMES, key=len, reverse=True))
_PART_FILE = re.compile(rf"({_PARTS})(_x)?\.(.+)", re.IGNORECASE)
_PREFIXED = re.compile(rf"(.+?)[-_.]({_PARTS})(_x)?\.(.+)", re.IGNORECASE)
# Files that lie beside data without being data.
_SIDE = re.compile(
    r"(readme|licen[cs]e|notice|labels|terms|classes|vocab).*|.*\.(md|xml|dtd|labels\.txt|terms\.txt)",
    re.IGNORECASE,
)
_HIDDEN = (".", "_")


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file to read: its format, and the part it is (empty: the whole corpus)."""

    path: Path
    format: str
    part: str = ""


def find_files(path: Path, format: str | None = None) -> list[DataFile]:
    """The files a path stands for, train before dev before test."""
    if path.is_file():
        return [DataFile(path, format or guess_format(path))]
    if path.is_dir():
        return _in_folder(path, format)
    files = _with_prefix(path, format)
    if files:
        return files
    raise MissingDataError(f"There is no file or folder {path}{_near(path)}.")


def _near(path: Path) -> str:
    """What the folder holds instead, for the error message."""
    if not path.parent.is_dir():
        return f"; the folder {path.parent} does not exist either"
    there = sorted(entry.name for entry in path.parent.iterdir() if not entry.name.startswith("."))
    shown = ", ".join(there[:12]) + (", …" if len(there) > 12 else "")
    return f"; {path.parent} holds {shown}" if there else f"; {path.parent} is empty"


def _parts(found: list[tuple[str, Path]], format: str | None) -> list[DataFile]:
    order = ["train", "dev", "test"]
    found.sort(key=lambda pair: order.index(pair[0]))
    files = [DataFile(path, format or guess_format(path), part) for part, path in found]
    kinds = {file.format for file in files}
    if len(kinds) > 1 or len({file.part for file in files}) < len(files):
        listed = ", ".join(f"{file.path.name} ({file.format})" for file in files)
        raise DataError(
            f"The folder holds more than one file for a part, or parts in several formats: {listed}.",
            path=found[0][1].parent,
            remedy="Give the file to read, or leave one format only.",
        )
    return files


def _with_prefix(prefix: Path, format: str | None) -> list[DataFile]:
    if not prefix.parent.is_dir():
        return []
    found: list[tuple[str, Path]] = []
    for file in sorted(prefix.parent.iterdir()):
        match = _PREFIXED.fullmatch(file.name)
        if match and match[1] == prefix.name and file.is_file() and _is_data(file):
            found.append((split_name(match[2]), file))
    return _parts(found, format)


def _is_data(file: Path) -> bool:
    """Whether the extension is one of data, and the file not the Y of a pair."""
    if _SIDE.fullmatch(file.name) or file.name.startswith(_HIDDEN):
        return False
    if extension(file) == ".npz":
        return not re.search(r"(^|_)y\.npz$", file.name, re.IGNORECASE)
    return extension(file) == ".txt" or format_of_extension(file) is not None


def _in_folder(folder: Path, format: str | None) -> list[DataFile]:
    if format in ("directory", "reuters") or any(folder.glob("reut2-*.sgm*")):
        return [DataFile(folder, format or "reuters")]
    files = [file for file in sorted(folder.iterdir()) if file.is_file() and _is_data(file)]
    parts = [(split_name(match[1]), file) for file in files if (match := _PART_FILE.fullmatch(file.name))]
    if parts:
        return _parts(parts, format)
    tables = [file for file in files if extension(file) != ".txt"]
    texts = [file for file in files if extension(file) == ".txt"]
    if texts and _are_labels_of(texts, tables):
        return [DataFile(folder, "directory")]
    if len(tables) == 1:
        return [DataFile(tables[0], format or guess_format(tables[0]))]
    raise _unclear(folder, files)


def _are_labels_of(texts: list[Path], tables: list[Path]) -> bool:
    """Whether all that lies beside the texts are their label files."""
    stems = {file.name.removesuffix(".gz").removesuffix(".txt") for file in texts}
    return all(extension(file) == ".tsv" and file.name.removesuffix(".gz")[:-4] in stems for file in tables)


def _unclear(folder: Path, files: list[Path]) -> DataError:
    prefixes = sorted({match[1] for file in files if (match := _PREFIXED.fullmatch(file.name))})
    if prefixes:
        return UnknownFormatError(
            f"The folder holds several data sets: {', '.join(prefixes)}.",
            path=folder,
            remedy=f"Name one, for example {folder / prefixes[0]}.",
        )
    if files:
        return UnknownFormatError(
            f"The folder holds several data files: {', '.join(file.name for file in files[:12])}.",
            path=folder,
            remedy="Name the one to read.",
        )
    entries = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in folder.iterdir())
    return UnknownFormatError(
        f"The folder holds no data file that is recognised; it holds {', '.join(entries[:12]) or 'nothing'}.",
        path=folder,
        remedy="Give a file, or a folder with train.* and test.*, with .txt files, or with X.npz and Y.npz.",
    )
