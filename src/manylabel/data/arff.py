"""ARFF files of Mulan and MEKA, dense or sparse, and those of Weka with one nominal class."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from manylabel.data.arff_parsing import Attribute, Header, Rows, read_header, read_rows
from manylabel.data.atomic import atomic_text
from manylabel.data.corpus import SPLIT_NAMES, Corpus
from manylabel.data.hierarchy import Hierarchy, hierarchy_of_file
from manylabel.data.labels import label_sets
from manylabel.data.limits import LIMITS, Limits
from manylabel.data.problems import Problems, read_by_others
from manylabel.data.textfile import Lines, read_bytes
from manylabel.data.xml_text import check_xml
from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.wording import counted, settings_text

_MEKA = re.compile(r"\s-C\s++(-?[0-9]{1,9})")
_MOVES_COLUMNS = re.compile(r"\.filters\.(?!(un)?supervised\.instance\.)")
"""A filter in the history that Weka appends to the relation, unless it is one of documents alone."""
_SPLIT_ENDING = re.compile(rf"[-_.]({'|'.join(SPLIT_NAMES)})$", re.IGNORECASE)


def read(
    path: Path,
    problems: Problems,
    *,
    label_file: str | Path | None = None,
    label_count: int | None = None,
    encoding: str = "utf-8",
) -> Corpus:
    """The documents of an ARFF file.

    Labels are the attributes that Mulan's label XML names (`label_file`, else ``enron.xml`` beside
    ``enron-train.arff``), else the first `label_count` attributes (the last ones if it is negative, none if
    0), else those that MEKA's ``-C`` in the relation counts, else the one nominal attribute that is named class or
    comes last, whose value is the document's single label. String attributes are texts, all others
    terms. A value missing from a sparse row is 0, or the first value of a nominal attribute, as in Weka.
    A missing value (``?``) is a problem.
    """
    lines = Lines(path, problems, encoding)
    reader = iter(lines)
    header = read_header(path, lines, reader, problems.limits)
    columns, hierarchy, how = _label_columns(path, header, label_file, label_count, problems.limits)
    single = class_column(header.attributes) if columns is None else None
    if columns is None and single is None:
        raise DataError(
            _why_unnamed(header),
            path=path,
            remedy="Put Mulan's label XML beside it, or give their number: "
            f"{settings_text(label_count=5)}, or -5 for the last five.",
        )
    _check_attributes(path, header, single)
    rows = read_rows(path, header.attributes, single, lines, reader, problems)
    if single is not None:
        name = header.attributes[single].name
        how = f"the values of attribute {name!r}, {'by its name' if name.lower() == 'class' else 'the last one'}"
    return replace(_corpus(path, header, rows, columns or [], single, hierarchy), labels_from=how)


def _label_columns(
    path: Path, header: Header, label_file: str | Path | None, label_count: int | None, limits: Limits
) -> tuple[list[int] | None, Hierarchy | None, str]:
    """The columns of the labels (None where nothing names them), their hierarchy, and how they were found, in words."""
    width = len(header.attributes)
    if label_count is not None and label_file is None:
        if abs(label_count) > width:
            raise DataError(
                f"The data have only {counted(width, 'attribute')}, not {counted(abs(label_count), 'label')}.",
                path=path,
            )
        columns = list(range(label_count)) if label_count >= 0 else list(range(width + label_count, width))
        return columns, None, _placed(label_count, f"by {settings_text(label_count=label_count)}")
    xml = Path(label_file) if label_file is not None else find_label_file(path)
    if xml is None:
        found = meka_label_columns(header.relation, width)
        count = 0 if found is None else len(found) * (1 if found[0] == 0 else -1)
        return found, None, _placed(count, f"by -C {count} in @relation")
    names, hierarchy = read_label_file(xml, limits)
    position = {attribute.name: column for column, attribute in enumerate(header.attributes)}
    for name in names:
        if name not in position:
            raise DataError(f"The label {name!r} of {xml.name} is not an attribute of the file.", path=path)
    return [position[name] for name in names], hierarchy, f"the attributes that {xml.name} names"


def _why_unnamed(header: Header) -> str:
    """Why nothing names the labels of a file, in words."""
    if (count := meka_count(header.relation)) is None:
        return "The file does not name its label attributes."
    if _MOVES_COLUMNS.search(header.relation):
        return f"@relation has -C {count}, but also a filter of Weka that may have moved the label attributes."
    return f"@relation has -C {count}, but the file has {counted(len(header.attributes), 'attribute')}."


def _placed(count: int, why: str) -> str:
    """Which attributes are labels, by their number: the first ones, or the last ones if it is negative.

    >>> _placed(3, "by -C 3"), _placed(-1, "by -C -1"), _placed(0, "by -C 0")
    ('the first 3 attributes, by -C 3', 'the last attribute, by -C -1', '')
    """
    if not count:
        return ""
    end = "first" if count > 0 else "last"
    return f"the {end} attribute, {why}" if abs(count) == 1 else f"the {end} {abs(count):,} attributes, {why}"


def find_label_file(path: Path) -> Path | None:
    """The label XML beside an ARFF file: ``enron.xml`` for ``enron-train.arff``, the only one for ``train.arff``."""
    stem = path.name.removesuffix(".gz").removesuffix(".arff").removesuffix(".ARFF")
    for name in (stem, _SPLIT_ENDING.sub("", stem)):
        if (beside := path.with_name(f"{name}.xml")).is_file():
            return beside
    found = sorted(path.parent.glob("*.xml")) if _SPLIT_ENDING.fullmatch(f"-{stem}") else []
    return found[0] if len(found) == 1 else None


def read_label_file(path: Path, limits: Limits = LIMITS) -> tuple[list[str], Hierarchy | None]:
    """The labels of Mulan's XML file in their order; labels inside labels make a hierarchy."""
    data = read_bytes(path, limits=limits)
    check_xml(data, path, limits)
    with read_by_others("The label file", path, "Copy it again."):
        root = ElementTree.fromstring(data)
    names: list[str] = []
    parents: dict[str, dict[str, None]] = {}

    def walk(element: ElementTree.Element, parent: str | None) -> None:  # as deep as `check_xml` allows
        for child in element:
            name = child.get("name")
            if child.tag.rpartition("}")[2] != "label" or name is None:
                continue
            names.append(name)
            if parent is not None:
                parents[name] = {parent: None}
            walk(child, name)

    walk(root, None)
    if not names:
        raise DataError("The file has no label.", path=path, remedy="Give Mulan's file of <label name=…> elements.")
    if len(set(names)) < len(names):
        twice = min(name for name, times in Counter(names).items() if times > 1)
        raise DataError(f"The file names the label {twice!r} twice.", path=path, remedy="Remove one of them.")
    return names, hierarchy_of_file(parents, path, limits) if parents else None


def meka_label_columns(relation: str, width: int) -> list[int] | None:
    """The columns MEKA's ``-C n`` in the relation names: the first n, or the last -n if n is negative.

    None where a filter of attributes in the relation's history may have moved them.

    >>> meka_label_columns("mail: -C 2", 5), meka_label_columns("mail: -C -2", 5)
    ([0, 1], [3, 4])
    >>> meka_label_columns("mail: -C 2-weka.filters.unsupervised.attribute.Remove-R1-2", 5)
    """
    count = meka_count(relation)
    if count is None or not 0 < abs(count) < width or _MOVES_COLUMNS.search(relation):
        return None
    return list(range(count)) if count > 0 else list(range(width + count, width))


def meka_count(relation: str) -> int | None:
    """The number after ``-C`` among MEKA's options, which follow the name of the relation and a colon.

    >>> meka_count("mail: -C 2 -split-percentage 66"), meka_count("grade -C 2"), meka_count("mail")
    (2, None, None)
    """
    _, _, options = relation.partition(":")
    found = _MEKA.search(f" {options}")
    return None if found is None else int(found[1])


def class_column(attributes: list[Attribute]) -> int | None:
    """The column of the one nominal class: the attribute named class, else the last one if its values are names."""
    for column, attribute in enumerate(attributes):
        if attribute.name.lower() == "class" and attribute.kind == "nominal":
            return column
    last = attributes[-1]
    named = last.kind == "nominal" and (last.codes is None or len(last.values) > 2)
    return len(attributes) - 1 if named else None


def _check_attributes(path: Path, header: Header, single: int | None) -> None:
    for column, attribute in enumerate(header.attributes):
        if attribute.kind == "nominal" and column != single and attribute.codes is None:
            raise DataError(
                f"The values of attribute {attribute.name!r} are neither numbers nor yes and no.",
                path=path,
                remedy="Turn it into attributes of 0 and 1, or remove it.",
            )


def _corpus(
    path: Path,
    header: Header,
    rows: Rows,
    columns: list[int],
    single: int | None,
    hierarchy: Hierarchy | None,
) -> Corpus:
    attributes = header.attributes
    texts = {attributes[column].name: values for column, values in rows.texts.items()}
    taken = {*columns, *rows.texts} | ({single} if single is not None else set())
    terms = [column for column in range(len(attributes)) if column not in taken]
    if single is not None:
        names = list(attributes[single].values)
        codes = rows.matrix[:, [single]].toarray().ravel().astype(int)
        labels = [[names[code]] for code in codes.tolist()]
    else:
        names = [attributes[column].name for column in columns]
        Y = Csr(rows.matrix[:, columns])
        labels = label_sets(Y, names)
        _check_marks(path, Y, rows.lines)
    return Corpus(
        ids=[str(line) for line in rows.lines],
        fields=texts,
        labels=labels if names else None,
        label_names=sorted(names) if single is not None else names,
        counts=None if texts else _counts(rows.matrix, terms),
        terms=None if texts else [attributes[column].name for column in terms],
        hierarchy=hierarchy,
        name=path.name.split(".")[0],
        source=str(path),
    )


def _counts(matrix: Csr, terms: list[int]) -> Csr:
    counts = Csr(matrix[:, terms])
    counts.sort_indices()
    return counts


def _check_marks(path: Path, Y: Csr, lines: Sequence[int]) -> None:
    wrong = np.flatnonzero(Y.data != 1)
    if len(wrong):
        row = int(np.searchsorted(Y.indptr, wrong[0], side="right")) - 1
        raise DataError(
            f"A label has the value {Y.data[wrong[0]]:g}, where only 0 and 1 are allowed.",
            path=path,
            line=lines[row],
            remedy=f"Correct the value, or give the right number of labels ({settings_text(label_count=5)}).",
        )


def write(corpus: Corpus, path: Path) -> None:
    """Write a sparse ARFF file with the labels first and MEKA's ``-C`` in the relation, so that it needs no XML."""
    with atomic_text(path) as stream:
        _write(corpus, stream)


def _write(corpus: Corpus, stream: IO[str]) -> None:
    names = list(corpus.label_names)
    terms = list(corpus.terms or [])
    relation = f"{corpus.name or 'corpus'}: -C {len(names)}"
    stream.write(f"@relation {_quote(relation)}\n\n")
    stream.writelines(f"@attribute {_quote(name)} {{0,1}}\n" for name in names)
    taken = set(names)
    for term in terms:
        # A term may have the name of a label, but attributes must differ.
        while term in taken:
            term += "_"
        taken.add(term)
        stream.write(f"@attribute {_quote(term)} numeric\n")
    stream.write("\n@data\n")
    assert corpus.counts is not None  # `write` of reading.py checked the kind
    counts = corpus.counts.copy()
    counts.sum_duplicates()
    Y = corpus.label_matrix() if corpus.labels is not None else Csr((len(corpus), 0))
    for row in range(len(corpus)):
        span = slice(counts.indptr[row], counts.indptr[row + 1])
        cells = [f"{column} 1" for column in Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()]
        pairs = zip(counts.indices[span].tolist(), counts.data[span].tolist(), strict=True)
        cells += [f"{column + len(names)} {value:.17g}" for column, value in pairs]
        stream.write("{" + ",".join(cells) + "}\n")


def _quote(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
