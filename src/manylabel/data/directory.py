"""A folder of text files, each with a file of its labels beside it: Annif's full-text corpus."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from pathlib import Path

from manylabel.data.corpus import Corpus
from manylabel.data.label_vocabulary import (
    LabelVocabulary,
    bare_address,
    label_addresses,
    plain_name,
    with_named_concepts,
)
from manylabel.data.problems import Problems
from manylabel.data.recognition import suffix_of
from manylabel.data.textfile import checked_encoding, numbered_lines, other_encoding, read_bytes
from manylabel.exceptions import DataError, WriteError

_SAFE_NAME = re.compile(r"[\w-][\w.-]{0,150}")


def is_folder(folder: Path, files: list[Path]) -> bool:
    """Whether the data files of a folder are texts and their label files, and nothing else."""
    texts = [file for file in files if suffix_of(file) == ".txt"]
    stems = {file.name.removesuffix(".gz").removesuffix(".txt") for file in texts}
    others = [file for file in files if suffix_of(file) != ".txt"]
    labels = [file for file in others if suffix_of(file) == ".tsv" and file.name.removesuffix(".gz")[:-4] in stems]
    return bool(texts) and len(labels) == len(others)


def read(path: Path, problems: Problems, *, encoding: str = "utf-8") -> Corpus:
    """One document per ``.txt`` file; its labels are in the ``.tsv`` or else the ``.key`` file of the same name.

    A ``.tsv`` file has ``<address><TAB>label`` on each line, a ``.key`` file one label. Labels are named; the addresses
    are the vocabulary of the corpus. A document without such a file has no labels; if no document has one, the corpus
    has none. README and side files are left out.
    """
    if not path.is_dir():
        raise DataError("It is a file, not a folder of .txt files.", path=path, remedy="Give the folder.")
    encoding = checked_encoding(encoding)
    ids: list[str] = []
    texts: list[str] = []
    labels: list[list[str]] = []
    labelled = False
    concepts: dict[str, str] = {}
    for file in sorted([*path.glob("*.txt"), *path.glob("*.txt.gz")]):
        stem = file.name.removesuffix(".gz").removesuffix(".txt")
        if re.match(r"(readme|licen[cs]e|notice)$", stem, re.IGNORECASE):
            continue
        text = _text(file, problems, encoding)
        if text is None:
            continue
        names = _labels(file.with_name(stem), problems, encoding, concepts)
        labelled = labelled or names is not None
        ids.append(stem)
        texts.append(text)
        labels.append(names or [])
    corpus = Corpus(
        ids=ids,
        fields={"text": texts},
        labels=labels if labelled else None,
        name=path.absolute().name,
        source=str(path),
    )
    return with_named_concepts(corpus, LabelVocabulary({"": concepts}, source=str(path))) if concepts else corpus


def _text(file: Path, problems: Problems, encoding: str) -> str | None:
    data = read_bytes(file, limits=problems.limits)
    try:
        return data.decode("utf-8-sig" if encoding == "utf-8" else encoding).replace("\r\n", "\n")
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        problems.report(
            f"Byte 0x{data[start]:02x} at position {start + 1} of the file is not {encoding}.",
            path=file,
            line=data.count(b"\n", 0, start) + 1,
            remedy=other_encoding(),
        )
        return None


def _labels(stem: Path, problems: Problems, encoding: str, concepts: dict[str, str]) -> list[str] | None:
    """The labels of a document, addresses where they are known, whose names are added to `concepts`."""
    key, table = stem.with_name(stem.name + ".key"), stem.with_name(stem.name + ".tsv")
    if not table.is_file():
        return sorted({line.strip() for _, line in numbered_lines(key, problems, encoding)}) if key.is_file() else None
    names: set[str] = set()
    for _, line in numbered_lines(table, problems, encoding):
        first, _, rest = line.partition("\t")
        address, name = bare_address(first.strip()), rest.split("\t")[0].strip()
        if name and address:
            concepts.setdefault(address, name)
        names.add(address or name)
    return sorted(names)


def write(corpus: Corpus, path: Path) -> None:
    """Write a new folder with a ``.txt`` file per document, and one of its labels; unsafe ids become numbers.

    The files of labels are ``.tsv`` where labels have addresses, otherwise ``.key``, which holds names alone.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise DataError("It exists already.", path=path, remedy="Give the name of a new or empty folder.")
    path = path.absolute()
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir()
        safe = all(_SAFE_NAME.fullmatch(identity) for identity in corpus.ids)
        names = corpus.ids if safe and len(set(corpus.ids)) == len(corpus) else _numbers(len(corpus))
        addresses = label_addresses(corpus)
        lines = {label: _line(label, addresses.get(label)) for label in corpus.label_names}
        ending = ".tsv" if addresses else ".key"
        for row, (name, text) in enumerate(zip(names, corpus.joined_texts, strict=True)):
            (beside / f"{name}.txt").write_text(text, encoding="utf-8", newline="\n")
            if corpus.labels is not None:
                listed = "".join(lines[label] for label in corpus.labels[row])
                (beside / f"{name}{ending}").write_text(listed, encoding="utf-8", newline="\n")
        os.replace(beside, path)
    except OSError as error:
        raise WriteError(f"{path} could not be written: {error.strerror}. Nothing was changed.") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _line(label: str, address: str | None) -> str:
    """The line of a label in a file of labels: its address, if it has one, and its name, unless that is the address."""
    if address is None:
        return f"{label}\n"
    name = plain_name(label, address)
    return f"<{address}>\n" if bare_address(name) == address else f"<{address}>\t{name}\n"


def _numbers(total: int) -> list[str]:
    width = len(str(total))
    return [f"{number:0{width}d}" for number in range(1, total + 1)]
