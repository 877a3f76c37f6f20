"""Files that hold a vocabulary of labels: how they are recognised, and found beside the data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from manylabel.data.columns import TEXTS, TITLES
from manylabel.data.label_vocabulary import (
    SKOS_ENDINGS,
    LabelVocabulary,
    as_vocabulary,
    bare_address,
    is_name_column,
    read_label_vocabulary,
)
from manylabel.data.limits import LIMITS, Limits
from manylabel.data.problems import Problems
from manylabel.data.textfile import first_lines
from manylabel.exceptions import DataError, MissingExtraError, UnknownFormatError
from manylabel.progress import remark
from manylabel.wording import settings_text

TABLE_ENDINGS = (".tsv", ".csv")
ENOUGH = 0.9
"""The share of the labels at which a vocabulary beside the data is used without reading further ones."""
LEAST = 0.5
"""The least share of the labels that a vocabulary beside the data must have."""
LONGEST_NAME, USUAL_NAME = 12, 3
"""A table whose second cells have more words than this, or more in the mean, holds texts, not names."""
_ROW = re.compile(r"<[^<>\s]+>\t[^\t<]*(\t[^\t<]*)?$")
_BARE_ROW = re.compile(r"<?\w+://[^<>\s]+>?\t[^\t<]*(\t[^\t<]*)?$")


def looks_like_vocabulary(file: Path, *, long_names: bool = False) -> bool:
    """Whether a table lists concepts: its first line is ``<address>``, tab, name, or a header with uri and label_en; or
    every line is an address without angle brackets and a short name.

    With `long_names` such names may be as long as titles: a table of addresses and titles then looks like one, too. The
    label file of one full text also does; where it lies beside its text it is not a vocabulary.
    """
    stem = file.name.removesuffix(".gz").rpartition(".")[0]
    if any(file.with_name(f"{stem}.txt{packed}").is_file() for packed in ("", ".gz")):
        return False
    lines = _filled_lines(file)
    first = lines[0] if lines else ""
    return bool(_ROW.match(first)) or _has_header(first) or _are_concepts(lines, long_names=long_names)


def _filled_lines(file: Path) -> list[str]:
    return [line.strip("\ufeff\r\n") for line in first_lines(file) if line.strip()]


def _cells(line: str) -> list[str]:
    return [cell.strip().lower() for cell in re.split(r"[,\t]", line)]


def _has_header(line: str) -> bool:
    """Whether a line names the columns uri and label_en, or label in another language."""
    return "uri" in _cells(line) and any(map(is_name_column, _cells(line)))


def is_vocabulary_file(file: Path) -> bool:
    """Whether a file is a thesaurus, by its ending, or a table of addresses and names that holds no documents."""
    if file.name.lower().removesuffix(".gz").endswith(SKOS_ENDINGS):
        return True
    try:
        check_holds_documents(file)
    except UnknownFormatError:
        return True
    except DataError:  # it cannot be read, which is reported where it is
        return False
    return False


def check_holds_documents(file: Path) -> None:
    """Raise an error where a table that is given as data is a vocabulary: every row one address, each another, and a
    name; or a header with uri and label_en, and no column of texts.
    """
    ending = Path(file.name.lower().removesuffix(".gz")).suffix
    if ending not in TABLE_ENDINGS:
        return
    lines = _filled_lines(file)
    has_header = bool(lines) and _has_header(lines[0]) and not {*_cells(lines[0])} & {*TEXTS, *TITLES}
    if has_header or _are_concepts(lines):
        raise UnknownFormatError(
            "The file looks like a vocabulary of labels (in each row a URI and its name), not like documents.",
            path=file,
            remedy=f"Give the documents as data{as_vocabulary(file)}. If its rows are documents, use "
            f"{settings_text(format=ending[1:])}.",
        )


def lists_names(file: Path) -> bool:
    """Whether a table holds addresses and names: a header with uri and label_en, or in each row an address and a short
    name, not a longer text.
    """
    lines = _filled_lines(file)
    return bool(lines) and (_has_header(lines[0]) or _are_concepts(lines))


def _are_concepts(rows: Sequence[str], *, long_names: bool = False) -> bool:
    """Whether rows are an address and a name each, no address occurs twice, as labels of documents do, and all names
    are short.
    """
    if len(rows) < 2 or not all(map(_BARE_ROW.match, rows)):
        return False
    addresses, names = zip(*(row.split("\t")[:2] for row in rows), strict=True)
    words = [len(name.split()) for name in names]
    longest, usual = (max(words), LONGEST_NAME) if long_names else (LONGEST_NAME, USUAL_NAME)
    are_short = max(words) <= longest and sum(words) <= usual * len(words)
    return len(set(addresses)) == len(addresses) and are_short


def find_vocabulary(data: Path, labels: Sequence[str], limits: Limits = LIMITS) -> LabelVocabulary | None:
    """The vocabulary that lies beside the data and has at least half of their labels; None if there is none.

    It is looked for in the folder of a file; for a folder of texts in it and in the two folders above it. Where a
    thesaurus cannot be read because rdflib is not installed, tables are used; `MissingExtraError` where there is none.
    """
    folders = [data, *data.absolute().parents[:2]] if data.is_dir() else [data.absolute().parent]
    missing: dict[str, MissingExtraError] = {}
    for folder in folders:
        found: list[tuple[float, LabelVocabulary]] = []
        for file in _candidates(folder, data):
            try:
                pair = _covering(file, labels, limits)
            except MissingExtraError as error:
                missing[file.name] = error
            else:
                found += [] if pair is None else [pair]
        if found:
            chosen = max(found, key=lambda pair: (pair[0], len(pair[1].names)))[1]
            for name, reason in missing.items():
                remark(f"Labels are named by {Path(chosen.source).name}; {name} was not read. {reason}")
            return chosen
    if missing:
        raise next(iter(missing.values()))
    return None


def _candidates(folder: Path, data: Path) -> list[Path]:
    files = [file for file in sorted(folder.iterdir()) if file.is_file() and file.absolute() != data.absolute()]
    endings = {file: Path(file.name.lower().removesuffix(".gz")).suffix for file in files}
    thesauri = sorted((f for f in files if endings[f] in SKOS_ENDINGS), key=lambda f: SKOS_ENDINGS.index(endings[f]))
    # The same thesaurus in two notations is read once.
    first = {file.name.partition(".")[0]: file for file in reversed(thesauri)}
    tables = [file for file in files if endings[file] in TABLE_ENDINGS and looks_like_vocabulary(file, long_names=True)]
    return [*(file for file in thesauri if file in first.values()), *tables]


def _covering(file: Path, labels: Sequence[str], limits: Limits) -> tuple[float, LabelVocabulary] | None:
    """The share of the labels that a vocabulary has, up to `ENOUGH`, and the vocabulary; None if it is too small."""
    try:
        found = read_label_vocabulary(file, Problems("skip", limits=limits))
    except DataError:
        return None  # a file that happens to lie there; one that the user names is reported
    known = found.addresses_by_name()
    share = sum(bare_address(label) in known for label in labels) / max(len(labels), 1)
    return (min(share, ENOUGH), found) if share >= LEAST else None
