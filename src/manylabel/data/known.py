"""Data sets known by name: the one that is built in, those found in a folder, and those that can be downloaded."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from manylabel.data.atomic import atomic_write
from manylabel.data.corpus import Corpus
from manylabel.data.hierarchy import Hierarchy
from manylabel.data.reading import Reading, find_files, read
from manylabel.data.reuters_sgml import archive_members
from manylabel.exceptions import DataError, MissingDataError, ParameterError, UnknownNameError
from manylabel.progress import stage

DATA_VARIABLE = "MANYLABEL_DATA"
BUILT_IN = "townhall"


@dataclass(frozen=True, slots=True)
class KnownData:
    """One row: a name, the path of the files in the data folder, what they are, and the options to read them with."""

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

    A path that exists comes first; then a known name is looked up under $MANYLABEL_DATA and in the cache. `options`
    are those of `read`; they replace the data set's own.
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise ParameterError(
            f"A path or the name of a data set is expected, not a value of type {type(name_or_path).__name__}. "
            "Documents in memory need no corpus: pass them to TextClassifier.fit, for example fit(table['text'], "
            "table['labels'])."
        )
    name = str(name_or_path)
    check_exists(name, options.get("format"))
    if os.path.exists(name) or name not in _BY_NAME:
        return read(name, **options)
    if name == BUILT_IN:
        for option in options:
            raise UnknownNameError(f"option of the data set {BUILT_IN}", option, ())
        return Reading(read_townhall(), "builtin")
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
        f"The data set {row.name!r} was not found: looked for {looked}. {fetch} {DATA_VARIABLE} "
        f"to a folder that holds {row.path}."
    )


def check_exists(name: str, format: str | None = None) -> None:
    """Raise `MissingDataError` where nothing has this path, prefix or name; the message offers the nearest name."""
    if os.path.exists(name) or name == BUILT_IN:
        return
    if name in _BY_NAME:
        _locate(_BY_NAME[name])
        return
    try:
        find_files(Path(name), format)
    except MissingDataError as error:
        near = difflib.get_close_matches(name, _BY_NAME, n=1, cutoff=0.5)
        offer = f" Did you mean the data set {near[0]!r}?" if near else ""
        if not near and name.isidentifier():  # neither a path nor a sentence
            offer = f" Known data sets: {', '.join(_BY_NAME)}."
        raise MissingDataError(f"{error}{offer}") from None


HOME_VARIABLE = "MANYLABEL_HOME"
_CHUNK = 1 << 18
_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class Fetchable:
    """Where a data set can be downloaded, where it is stored, and the SHA-256 sums of the files in its archive.

    Sites repack archives, so the sum of the archive itself is of no use; the files inside do not change.
    """

    path: str
    urls: tuple[str, ...]
    sums: Mapping[str, str] = field(repr=False)


REUTERS_SUMS: dict[str, str] = {
    "reut2-000.sgm": "9ff9bb40624ef992a03f62aace12e697dca1087abfd9b4d06aa787a6ad3e0687",
    "reut2-001.sgm": "1528e7e82d110d88d0234eb9619eadb7f9fd805711971df05975b92277dfdf4d",
    "reut2-002.sgm": "99f18068d0518952987dedd78c622e5c2a584e357d264d3754696c815f3e6628",
    "reut2-003.sgm": "78a3a8d7e04bc9d42c4614d5d5c60a4293dbe3f708df6fb5a71d9ef31f4b3fa3",
    "reut2-004.sgm": "726342c19a65873330b412378cd6a3f0d512035f5223146ddd60930c62eb6ff0",
    "reut2-005.sgm": "d09de619b6dd2d047d5124681f6df90550abaf592020d1c1ce338ae9b91522e7",
    "reut2-006.sgm": "b5535c0d66b01f4976f84621a4a795afbc00d2c4bd0a1b7ae426df6630fb361d",
    "reut2-007.sgm": "aa706007ec84a03537a3921ca976d60e11b3f99e4b9e9b2d5c81dd384d2c2062",
    "reut2-008.sgm": "a3994583694a00b7c744097c1d7eabfcf90f2e6650cc21663e46828035a336cb",
    "reut2-009.sgm": "29995f606dd1a9bdf907eacc9d879846c716860d9d9141676979474aaea39c7d",
    "reut2-010.sgm": "996df6008089bd09fa5b28a4d2eb0ee5f7b9d4601cde566fed3926ac82960fa3",
    "reut2-011.sgm": "d3a2782015247d9c2bffb8926267827fdd449c70d619435ef01a25a1c56a53ca",
    "reut2-012.sgm": "da31035d483851f2aebce5b66d779e5e2c0ac9dcfe098596c6d544e81c5604ab",
    "reut2-013.sgm": "8f7700bc0455fac3fcc12377ced4807b7df8aba1f21ecad059b9cc2b1cf0b8be",
    "reut2-014.sgm": "ef936bd3e0f36cf722afa9a6957563549775af32e9e28b4f539c8737ceda83ab",
    "reut2-015.sgm": "6d3bcec73eff871b8a5403588af814c4e50a0de6bc25707480522ab836f74026",
    "reut2-016.sgm": "be2f03a185fff70131f3b4fdbd6229b7ee2be077eba9691eaa597c8cfbda8812",
    "reut2-017.sgm": "f370e610b4b1342e41a98e0c426a08541044bd1d7e539674f32372a6060b73b5",
    "reut2-018.sgm": "a5f971bf25448e915781962309e669359a35fbcaf3017a806eca0590897f209a",
    "reut2-019.sgm": "d3b07097fba2633d130b4914aceba671645985248943ce9e39c289315339dffb",
    "reut2-020.sgm": "f6ad1b724125c202566c63b35ea0b5ee23881f8b7ed47a32829d5af05d8e860d",
    "reut2-021.sgm": "3f5196d32869723c9042aa5756805b4e90360f1f45ea17f4594fa0e2b3630b18",
}

FETCHABLE: dict[str, Fetchable] = {
    "reuters21578": Fetchable(
        "reuters21578/reuters21578.tar.gz",
        (
            "https://archive.ics.uci.edu/ml/machine-learning-databases/reuters21578-mld/reuters21578.tar.gz",
            "http://www.daviddlewis.com/resources/testcollections/reuters21578/reuters21578.tar.gz",
            "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
        ),
        REUTERS_SUMS,
    ),
}


def cache_folder() -> Path:
    """Where fetched data is kept: $MANYLABEL_HOME, else manylabel in $XDG_CACHE_HOME or in ~/.cache."""
    given = os.environ.get(HOME_VARIABLE)
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "manylabel"


def fetch(name: str, *, urls: Sequence[str] | None = None, file: str | Path | None = None, again: bool = False) -> Path:
    """Download a data set into the cache and return its path there.

    The archive comes from a local `file`, or from the first of `urls` that answers (default: the known ones). It is
    stored only if every file inside has the right SHA-256 sum. An intact archive in the cache is used again unless
    `again`.
    """
    if name not in FETCHABLE:
        raise UnknownNameError("data set to fetch", name, FETCHABLE)
    row = FETCHABLE[name]
    target = cache_folder() / row.path
    if target.is_file() and not again and file is None:
        verify(target, row.sums)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    if file is not None:
        if not Path(file).is_file():
            raise MissingDataError(f"There is no file {file} to take the data set {name!r} from.")
        verify(Path(file), row.sums)
        _store(Path(file).absolute().as_uri(), target, row)
    else:
        _store_first(name, list(row.urls if urls is None else urls), target, row)
    return target


def _store_first(name: str, urls: list[str], target: Path, row: Fetchable) -> None:
    """Store the archive of the first address that sends the right files."""
    from http.client import HTTPException
    from urllib.error import URLError

    failures: list[str] = []
    for url in urls:
        try:
            _store(url, target, row)
            return
        except DataError as error:
            failures.append(f"{url} ({error.problem.rstrip('.')})")
        except (OSError, ValueError, HTTPException) as error:
            failures.append(f"{url} ({error.reason if isinstance(error, URLError) else error})")
    raise MissingDataError(
        f"The data set {name!r} could not be fetched: {'; '.join(failures)}. Download it by hand from "
        f"{urls[0]} and put it at {target} (or run `manylabel fetch {name} --from FILE`), or set "
        f"MANYLABEL_DATA to a folder that holds {row.path}."
    )


def _store(url: str, target: Path, row: Fetchable) -> None:
    """Download to a file beside the target, check it and rename it; a file that fails the check is deleted."""
    from urllib.request import urlopen  # importing it takes longer than reading most files

    beside = target.with_name(f".{target.name}.download")
    try:
        with atomic_write(beside) as stream, urlopen(url, timeout=_TIMEOUT) as answer:
            length = answer.headers.get("Content-Length")
            with stage(f"Fetching {target.name}", int(length) if length else None) as advance:
                while chunk := answer.read(_CHUNK):
                    stream.write(chunk)
                    advance(len(chunk))
        verify(beside, row.sums)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def verify(path: Path, sums: Mapping[str, str]) -> None:
    """Raise `DataError` unless the archive holds every file of `sums` with its SHA-256 sum."""
    found = {name: hashlib.sha256(data).hexdigest() for name, data in archive_members(path)}
    for name, expected in sums.items():
        if found.get(name) != expected:
            problem = f"{name} in the archive is not the original" if name in found else f"The archive lacks {name}"
            raise DataError(f"{problem}.", path=path, remedy="Delete the file and fetch it again.")


SEPARATOR = "/"


def read_townhall() -> Corpus:
    """605 letters to a town hall, labelled ``area/topic``, split by date: see townhall/README.md.

    >>> corpus = read_townhall()
    >>> len(corpus), corpus.splits
    (605, {'train': 415, 'test': 190})
    """
    lines = files("manylabel.data").joinpath("townhall", "letters.jsonl").read_text(encoding="utf-8").splitlines()
    letters = [json.loads(line) for line in lines]
    labels = [letter["labels"] for letter in letters]
    return Corpus(
        ids=[letter["id"] for letter in letters],
        fields={name: [letter[name] for letter in letters] for name in ("title", "body")},
        labels=labels,
        split_names=[letter["split"] for letter in letters],
        metadata={"date": [letter["date"] for letter in letters]},
        hierarchy=Hierarchy.from_paths({name for names in labels for name in names}, SEPARATOR),
        name="townhall",
        source="townhall",
        licence="CC0 1.0",
    )
