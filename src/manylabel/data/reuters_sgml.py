"""Reuters-21578 as Lewis distributed it: 22 SGML files, straight from the archive or from a folder.

ModApte (Vilar, Castro & Sanchis 2004, Table 1): train are the records with LEWISSPLIT="TRAIN" and
TOPICS="YES", test those with LEWISSPLIT="TEST" and TOPICS="YES", all others are unused. Test document 19918
has the topic "trade" twice, which that table counts as several labels; ``dedupe_labels=False`` keeps such
repetitions.
"""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from manylabel.data.corpus import Corpus
from manylabel.data.limits import LIMITS, Limits
from manylabel.data.problems import Problems, read_by_others
from manylabel.data.textfile import open_bytes, read_bytes
from manylabel.exceptions import DataError, UnknownNameError
from manylabel.parameters import FLAG, SEED, Number, OneOf, Satisfies, check_parameter
from manylabel.progress import track

TOPIC_LIST = "all-topics-strings.lc.txt"
LABEL_SETS = ("all135", "train115", "R90", "R10")
Choice = Literal["keep", "drop"]

_ATTRIBUTE = re.compile(r'\b(\w++)="([^"]*+)"')
_ENTITY = re.compile(r"&(?:#([0-9]{1,7})|(lt|gt|amp|quot|apos));")
_SIGNS = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


class Record(NamedTuple):
    """One story."""

    newid: str
    split: str
    date: str
    topics: list[str]
    title: str
    body: str


def is_folder(folder: Path, files: list[Path]) -> bool:
    """Whether a folder holds the SGML files of Reuters-21578."""
    return any(folder.glob("reut2-*.sgm*"))


def read(
    path: Path,
    problems: Problems,
    *,
    split: Literal["modapte", "all", "random"] = "modapte",
    label_set: str | Sequence[str] = "all135",
    unlabelled_train: Choice = "keep",
    unlabelled_test: Choice = "keep",
    fields: Sequence[str] = ("title", "body"),
    dedupe_labels: bool = True,
    cardinality: Literal["any", "unilabel"] = "any",
    unused: Choice = "drop",
    test_share: float = 0.3,
    seed: int = 0,
) -> Corpus:
    """The stories of Reuters-21578.

    `split`: ``modapte``; ``random`` draws `test_share` of the ModApte documents for the test split; ``all``
    returns every story without a split. `label_set`: ``all135`` (the distribution's list), ``train115``
    (those of a training document), ``R90`` (of a training and of a test document), ``R10`` (the ten with most
    training documents), or a list of names; other labels are removed. Then documents without a label are
    kept or dropped (`unlabelled_train`, `unlabelled_test`), and ``cardinality="unilabel"`` keeps those
    with exactly one label.
    """
    fields = (fields,) if isinstance(fields, str) else tuple(fields)
    _check(split, unlabelled_train, unlabelled_test, fields, dedupe_labels, cardinality, unused, test_share, seed)
    listed, records = _load(path, problems)
    names = _label_names(label_set, listed, records)
    splits = _splits(records, split, test_share, seed)
    dropped = {name for name, choice in (("train", unlabelled_train), ("test", unlabelled_test)) if choice == "drop"}
    allowed = frozenset(names)
    kept: list[tuple[Record, str, list[str]]] = []
    for record, own_split in zip(records, splits, strict=True):
        labels = _labels(record, allowed, dedupe_labels)
        left_out = (own_split == "unused" and unused == "drop") or (not labels and own_split in dropped)
        if not left_out and (cardinality == "any" or len(labels) == 1):
            kept.append((record, own_split, labels))
    stories = [record for record, _, _ in kept]
    return Corpus(
        ids=[record.newid for record in stories],
        fields={name: [getattr(record, name) for record in stories] for name in fields},
        labels=[labels for _, _, labels in kept],
        label_names=names,
        split_names=None if split == "all" else [name for _, name, _ in kept],
        metadata={
            "newid": [int(record.newid) for record in stories],
            "date": [record.date for record in stories],
        },
        name="reuters21578",
        source=str(path),
        licence="research only",
    )


def _labels(record: Record, allowed: frozenset[str], dedupe: bool) -> list[str]:
    found = [topic for topic in record.topics if topic in allowed]
    return sorted(set(found)) if dedupe else sorted(found)


def _check(
    split: str,
    train: str,
    test: str,
    fields: tuple[str, ...],
    dedupe: bool,
    cardinality: str,
    unused: str,
    share: float,
    seed: int,
) -> None:
    check_parameter("reuters", "split", split, OneOf("modapte", "all", "random"))
    check_parameter("reuters", "unlabelled_train", train, OneOf("keep", "drop"))
    check_parameter("reuters", "unlabelled_test", test, OneOf("keep", "drop"))
    some = Satisfies("title, body or both", lambda given: len(given) > 0 and set(given) <= {"title", "body"})
    check_parameter("reuters", "fields", fields, some)
    check_parameter("reuters", "dedupe_labels", dedupe, FLAG)
    check_parameter("reuters", "cardinality", cardinality, OneOf("any", "unilabel"))
    check_parameter("reuters", "unused", unused, OneOf("keep", "drop"))
    check_parameter("reuters", "test_share", share, Number(0, 1, open_low=True, open_high=True))
    check_parameter("reuters", "seed", seed, SEED)


def _load(path: Path, problems: Problems) -> tuple[list[str] | None, list[Record]]:
    """The list of topics, if it is there, and every story in the order of the files."""
    listed: list[str] | None = None
    records: list[Record] = []
    for name, data in track("Reading stories", sorted(_files(path, problems.limits))):
        text = data.decode("latin-1")
        if name == TOPIC_LIST:
            listed = [line.strip() for line in text.splitlines() if line.strip()]
        else:
            records += _records(text, path if path.is_file() else path / name, name, problems)
    if not records:
        raise DataError(
            "The file has no <REUTERS> record.",
            path=path,
            remedy="Give the archive or the folder of reut2-*.sgm.",
        )
    return listed, records


def _files(path: Path, limits: Limits) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the SGML files and the topic list."""
    if path.is_dir():
        wanted = [*path.glob("reut2-*.sgm"), *path.glob("reut2-*.sgm.gz"), *path.glob(TOPIC_LIST)]
        for file in sorted(wanted):
            yield file.name.removesuffix(".gz"), read_bytes(file, limits=limits)
    elif path.name.lower().endswith((".sgm", ".sgm.gz")):
        yield path.name, read_bytes(path, limits=limits)
    else:
        yield from archive_members(path, limits)


def archive_members(path: Path, limits: Limits = LIMITS) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of an archive's SGML files and topic list, in their order. Nothing is written to disk."""
    with (
        read_by_others("The archive", path, "Copy or download it again."),
        open_bytes(path, limits) as packed,
        tarfile.open(fileobj=packed, mode="r|") as archive,
    ):
        for member in archive:  # in one pass: going back would unpack the archive anew
            name = Path(member.name).name
            if member.isfile() and (re.fullmatch(r"reut2-[0-9]+\.sgm", name) or name == TOPIC_LIST):
                limits.check_unpacked(member.size, path.stat().st_size, path)  # a sparse member claims any size
                stream = archive.extractfile(member)
                if stream is not None:
                    yield name, stream.read()


def _records(text: str, path: Path, name: str, problems: Problems) -> Iterator[Record]:
    line, counted_to = 1, 0
    for start, head, content in _elements(text, "REUTERS"):
        line, counted_to = line + text.count("\n", counted_to, start), start
        attributes = dict(_ATTRIBUTE.findall(head))
        story = _first(content, "TEXT")
        newid = attributes.get("NEWID", "")
        if story is None or not (newid.isdecimal() and newid.isascii() and len(newid) < 19):
            problems.report(f"The record in {name} has no TEXT, or no NEWID that is a number.", path=path, line=line)
            continue
        topics, date = _first(content, "TOPICS"), _first(content, "DATE")
        title, body = _title_and_body(*story)
        given = attributes.get("TOPICS") == "YES"
        split_of_record = (
            {"TRAIN": "train", "TEST": "test"}.get(attributes.get("LEWISSPLIT", ""), "unused") if given else "unused"
        )
        yield Record(
            newid=newid,
            split=split_of_record,
            date=date[1].strip() if date else "",
            topics=[_plain(item).strip() for _, _, item in _elements(topics[1], "D")] if topics else [],
            title=title,
            body=body,
        )


def _elements(text: str, tag: str) -> Iterator[tuple[int, str, str]]:
    """The place, the attributes and the content of each element ``<tag …>…</tag>``, found in one pass.

    >>> list(_elements('<D>a</D> <DATE>1</DATE> <D x="1">b</D> <D>', "D"))
    [(0, '', 'a'), (24, 'x="1"', 'b')]
    """
    opening, closing = f"<{tag}", f"</{tag}>"
    start = text.find(opening)
    while start >= 0:
        inside = start + len(opening)
        if text[inside : inside + 1] not in (">", " ", "\t", "\r", "\n"):
            start = text.find(opening, inside)
            continue
        end = text.find(">", inside)
        stop = text.find(closing, end) if end >= 0 else -1
        if stop < 0:
            return  # where one element is never closed, no later one is
        yield start, text[inside:end].strip(), text[end + 1 : stop]
        start = text.find(opening, stop + len(closing))


def _first(text: str, tag: str) -> tuple[str, str] | None:
    """The attributes and the content of the first element with this tag; None if there is none."""
    found = next(_elements(text, tag), None)
    return None if found is None else found[1:]


def _title_and_body(attributes: str, content: str) -> tuple[str, str]:
    """Stories of TYPE="BRIEF" have no body; those of TYPE="UNPROC" have no tags: the whole content is the body."""
    if "UNPROC" in attributes:
        return "", _plain(content).strip()
    title, body = _first(content, "TITLE"), _first(content, "BODY")
    return (_plain(title[1]).strip() if title else "", _plain(body[1]).strip() if body else "")


def _plain(text: str) -> str:
    return _ENTITY.sub(_sign, text) if "&" in text else text


def _sign(match: re.Match[str]) -> str:
    if match[2]:
        return _SIGNS[match[2]]
    code = int(match[1])
    # The wire's control characters (&#2; starts a text, &#3; ends it) do not belong to the text, and halves of
    # surrogate pairs are no characters.
    is_character = 32 <= code < 0x110000 and code != 127 and not 0xD800 <= code < 0xE000
    return chr(code) if is_character else ""


def _label_names(label_set: str | Sequence[str], listed: list[str] | None, records: list[Record]) -> list[str]:
    used = {topic for record in records for topic in record.topics}
    known = sorted(set(listed) | used) if listed is not None else sorted(used)
    if not isinstance(label_set, str):
        for name in label_set:
            if name not in known:
                raise UnknownNameError("Reuters topic", name, known)
        return sorted(set(label_set))
    if label_set not in LABEL_SETS:
        raise UnknownNameError("Reuters label set", label_set, LABEL_SETS)
    if label_set == "all135":
        return known
    train = Counter(topic for record in records if record.split == "train" for topic in set(record.topics))
    test = {topic for record in records if record.split == "test" for topic in record.topics}
    if label_set == "R10":
        return sorted(sorted(train, key=lambda topic: (-train[topic], topic))[:10])
    return sorted(train if label_set == "train115" else set(train) & test)


def _splits(records: list[Record], split: str, share: float, seed: int) -> list[str]:
    splits = [record.split for record in records]
    if split == "all":
        return ["all"] * len(splits)
    if split == "random":
        rows = [row for row, name in enumerate(splits) if name != "unused"]
        order = np.random.default_rng(seed).permutation(len(rows))
        test = {rows[index] for index in order[: round(share * len(rows))].tolist()}
        splits = ["test" if row in test else "train" if name != "unused" else name for row, name in enumerate(splits)]
    return splits
