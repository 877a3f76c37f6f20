"""Data sets known by name, and `load`: a path or a name to a corpus."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from manylabel.data.fetch import FETCHABLE, cache_folder
from manylabel.data.layout import find_files
from manylabel.data.reading import Reading, read
from manylabel.exceptions import MissingDataError, UnknownNameError

DATA_VARIABLE = "MANYLABEL_DATA"
BUILT_IN = "townhall"


@dataclass(frozen=True, slots=True)
class KnownData:
    """One row: a name, where the files lie under the data folder, what they are, and how they are read."""

    name: str
    path: str
    summary: str
    licence: str
    options: Mapping[str, Any] = field(default_factory=dict)
    split_by: str = ""


_PAGES = ("arts", "business", "education", "health", "reference", "science")
_YAHOO = "Yahoo pages of Ueda & Saito 2002"

KNOWN: tuple[KnownData, ...] = (
    KnownData(BUILT_IN, "", "letters to a town hall, built in", "part of manylabel"),
    KnownData("reuters21578", "reuters21578", "Reuters-21578 news, ModApte split", "research only"),
    *(KnownData(f"yahoo-{p}", f"yahoo/full/{p}", f"{_YAHOO}, {p}, raw counts", "research only") for p in _PAGES),
    *(
        KnownData(
            f"yahoo-reduced-{p}",
            f"yahoo/reduced/{p}",
            f"{_YAHOO}, {p}, frequent words, unit length",
            "research only",
        )
        for p in _PAGES
    ),
    KnownData("medical", "mulan/medical", "clinical reports, Mulan", "see Mulan"),
    KnownData("enron", "mulan/enron", "e-mails, Mulan", "see Mulan"),
    KnownData("bibtex", "mulan/bibtex", "bibliographic entries, Mulan", "see Mulan"),
    KnownData("rcv1-1", "rcv1/sub1", "RCV1-v2 news topics, subset 1, tf-idf", "research only"),
    KnownData("rcv1-2", "rcv1/sub2", "RCV1-v2 news topics, subset 2, tf-idf", "research only"),
    KnownData("goemotions", "goemotions", "comments with emotions", "CC BY 4.0"),
    KnownData(
        "debtags",
        "debtags",
        "Debian packages with facet::tag labels",
        "Debian metadata",
        {"hierarchy_separator": "::"},
        split_by="source",
    ),
    KnownData("20newsgroups", "20newsgroups", "newsgroup posts by date, one label each", "unstated"),
    KnownData("hallmarks", "hallmarks", "cancer abstracts with hallmarks", "GPL-3", {"hierarchy_separator": "--"}),
    KnownData("cnae9", "cnae9", "company descriptions, one label each", "CC BY 4.0"),
    *(
        KnownData(f"oh{n}", f"oh/oh{n}.wc.arff.gz", "MEDLINE word counts, one label each", "unstated")
        for n in (0, 5, 10, 15)
    ),
)

_BY_NAME = {row.name: row for row in KNOWN}


def data_folders() -> list[Path]:
    """Where known data sets are looked for, in order: $MANYLABEL_DATA if set, then the cache."""
    given = os.environ.get(DATA_VARIABLE)
    return ([Path(given)] if given else []) + [cache_folder()]


def load(name_or_path: str | Path, **options: Any) -> Reading:
    """The documents of a path or of a data set known by name.

    A path that exists wins; then a known name is looked up under $MANYLABEL_DATA and in the cache.
    `options` are those of `read` and go before the data set's own.
    """
    name = str(name_or_path)
    if Path(name).exists():
        return read(name, **options)
    if name not in _BY_NAME:
        return _read_prefix(name, options)
    if name == BUILT_IN:
        from manylabel.data import builtin

        for option in options:
            raise UnknownNameError(f"option of the data set {BUILT_IN}", option, ())
        return Reading(builtin.read_townhall(), "builtin")
    row = _BY_NAME[name]
    reading = read(_locate(row), **{**row.options, **options})
    return replace(reading, corpus=replace(reading.corpus, name=row.name, licence=row.licence, split_by=row.split_by))


def _locate(row: KnownData) -> Path:
    folders = data_folders()
    for folder in folders:
        path = folder / row.path
        if path.exists() or (path.parent.is_dir() and any(path.parent.glob(f"{path.name}[-_.]*"))):
            return path
    looked = " and ".join(str(folder / row.path) for folder in folders)
    fetch = f"Fetch it with `manylabel fetch {row.name}`, or set" if row.name in FETCHABLE else "Set"
    raise MissingDataError(
        f"The data set {row.name!r} is not here: looked for {looked}. {fetch} {DATA_VARIABLE} "
        f"to a folder that holds {row.path}."
    )


def _read_prefix(name: str, options: dict[str, Any]) -> Reading:
    """Read the files a prefix stands for; a sentence with the nearest known name where there are none."""
    try:
        find_files(Path(name), options.get("format"))
    except MissingDataError as error:
        near = difflib.get_close_matches(name, _BY_NAME, n=1, cutoff=0.5)
        offer = f" Did you mean the data set {near[0]!r}?" if near else ""
        raise MissingDataError(f"{error}{offer} Known data sets: {', '.join(_BY_NAME)}.") from None
    return read(name, **options)
