r"""Keyword rules: their text, and words to start from.

A text of rules has one ``label: query`` per line and ``#`` before a comment; lines of one label are alternatives.

    # grain
    wheat: wheat OR "durum" OR bushel*
    corn:  (corn OR maize) AND NOT "corn flakes"
    "time: past": yesterday

A label that contains a colon, begins with a quote or #, or begins or ends with a blank is written in quotes, with a
backslash before each quote in it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.data.label_forms import with_further_labels
from manylabel.data.textfile import read_bytes
from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError, ManylabelWarning, ParameterError, nearest_name
from manylabel.features.keyword_queries import Or, Query, atoms, parse_query, query_problem
from manylabel.progress import track

SHOWN = 10
"""The most labels a warning lists."""
MOST_WORDS = 50_000
"""The most words, phrases and beginnings of words in all rules together."""
CANDIDATES = 50
"""How many of the best single words of a label are tried in its rule."""


class UnknownRuleLabelWarning(ManylabelWarning):
    """A keyword rule gives a label that no training document has."""


def parse_rules(text: str, path: str | Path | None = None) -> dict[str, Query]:
    """The query of each label of a text of rules; errors name the file and the line.

    >>> print(write_rules(parse_rules("corn: maize\\nwheat: wheat\\ncorn: corn NOT flakes")), end="")
    corn: maize OR corn AND NOT flakes
    wheat: wheat
    """
    return dict(_parsed(text, None if path is None else str(path)))


@lru_cache(maxsize=2)  # training parses the same rules at every step
def _parsed(text: str, path: str | None) -> Mapping[str, Query]:
    found: dict[str, list[Query]] = {}
    for number, label, query in rule_lines(text):
        if isinstance(query, DataError):
            raise DataError(query.problem, path=path, line=number, remedy=query.remedy)
        found.setdefault(label, []).append(query)
    return {label: queries[0] if len(queries) == 1 else Or(tuple(queries)) for label, queries in found.items()}


def rule_lines(text: str) -> Iterator[tuple[int, str, Query | DataError]]:
    """The lines of a text of rules: number, label and query; where a line has a mistake, this in place of the query."""
    words = 0
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        label = ""
        try:
            label, start = _label(line)
            query = parse_query(line, start)
        except DataError as error:
            yield number, label, error
            continue
        words += sum(1 for _ in atoms(query))
        if words > MOST_WORDS:
            yield (
                number,
                label,
                DataError(
                    f"The keyword rules have more than {MOST_WORDS:,} words.",
                    remedy="Use fewer words, or train a method on documents instead.",
                ),
            )
            return
        yield number, label, query


def write_rules(rules: Mapping[str, Query | str]) -> str:
    """The rules as a text that `parse_rules` reads.

    >>> print(write_rules({"wheat": "wheat OR corn", "time: past": "ago"}), end="")
    wheat: wheat OR corn
    "time: past": ago
    """
    return "".join(f"{written_label(label)}: {query}\n" for label, query in rules.items())


def written_label(label: str) -> str:
    """The label as it is written in a text of rules: in quotes if it needs them."""
    if "\n" in label or "\r" in label:
        raise DataError(f"The label {label!r} contains a line break, which a file of keyword rules cannot express.")
    plain = label.strip() == label and label and ":" not in label and label[0] not in '"#'
    return label if plain else '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'


def rules_text(rules: Any) -> str:
    """The checked text of rules that are given as the path of a file or as a mapping from labels to queries."""
    if isinstance(rules, Mapping):
        lines = [
            (label, query)
            for label, queries in rules.items()
            for query in ([queries] if isinstance(queries, str) else _several(label, queries))
        ]
        text, path = "".join(write_rules({label: query}) for label, query in lines), None
    elif isinstance(rules, (str, Path)):
        path = Path(rules)
        if not path.exists():
            raise DataError(
                f"There is no file {str(path)!r} of keyword rules.",
                remedy="Make one to start from with: manylabel rules DATA > rules.txt",
            )
        text = _read(path)
    else:
        raise ParameterError(
            f"Keyword rules are the path of a file, or a mapping from labels to queries, not {type(rules).__name__}."
        )
    if not parse_rules(text, path):
        raise DataError(
            "There is no keyword rule.", path=path, remedy="Write one per line, for example  wheat: wheat OR corn"
        )
    return text


def with_rule_labels(rules: str, names: list[str], Y: Csr) -> tuple[list[str], Csr]:
    """The label names and Y, with the labels that occur only in rules added as empty last columns."""
    further = [label for label in parse_rules(rules) if label not in set(names)]
    if not further:
        return names, Y
    warn_of_labels(further, names)
    return with_further_labels(further, names, Y)


def warn_of_labels(unknown: Sequence[str], known: Sequence[str]) -> None:
    """Warn of labels that have a rule but no training document, with the most similar known label of each."""
    near = [nearest_name(label, known, 0.75) for label in unknown]
    shown = [
        label if match is None else f"{label} (did you mean {match}?)"
        for label, match in zip(unknown, near, strict=True)
    ]
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    warnings.warn(
        f"Keyword rules give labels that no training document has: {', '.join(shown[:SHOWN])}{more}.",
        UnknownRuleLabelWarning,
        stacklevel=2,
    )


def suggest_keywords(X: Csr, Y: Csr, most: int = 6, min_documents: int = 2) -> Csr:
    """Keywords for a first rule of each label: labels × terms, up to `most` terms per label, numbered from 1 by choice.

    Greedy search: the rule "a OR b OR …" starts empty, and the term that raises its F1 on the documents most is added
    until no term raises it; candidates are the terms with the best F1 alone. A term must occur in at least
    `min_documents` documents of the label, or in all of them if it has fewer. Ties go to the lower column. A label
    without documents has no keywords.

    >>> X = Csr([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> suggest_keywords(X, Csr([[1, 0], [1, 0], [0, 1], [0, 1]])).toarray().tolist()
    [[1, 0, 0], [0, 1, 0]]
    """
    present = Csr((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
    present.eliminate_zeros()
    by_term, by_label = sparse.csc_array(present), sparse.csc_array(Y)
    frequency = np.diff(by_term.indptr).astype(np.float64)
    together = Csr(Y.T.astype(np.float64) @ present)
    rows: list[Ints] = []
    for label in track("Suggesting keywords", range(Y.shape[1])):
        carriers = by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]
        start, stop = together.indptr[label], together.indptr[label + 1]
        terms, shared = together.indices[start:stop], together.data[start:stop]
        enough = shared >= min(min_documents, len(carriers))
        terms, shared = terms[enough], shared[enough]
        alone = 2 * shared / (frequency[terms] + len(carriers))
        best = terms[np.lexsort((terms, -alone))[:CANDIDATES]]
        rows.append(_greedy(by_term, np.sort(best), carriers.astype(np.int64), most))
    indptr = np.cumsum([0, *map(len, rows)])
    order = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(1, len(row) + 1) for row in rows)])
    terms = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
    chosen = Csr((order, terms, indptr), shape=(Y.shape[1], X.shape[1]))
    chosen.sort_indices()
    return chosen


def _greedy(by_term: sparse.csc_array, candidates: Ints, carriers: Ints, most: int) -> Ints:
    """The keywords of one label, in the order in which they raise the F1 of its rule."""
    occurs = Csr(by_term[:, candidates].T)
    positive = np.zeros(by_term.shape[0])
    positive[carriers] = 1.0
    missed = np.ones(by_term.shape[0])
    chosen: list[int] = []
    hits, predicted, best = 0.0, 0.0, 0.0
    while len(chosen) < min(most, len(candidates)):
        new_hits, new_predicted = occurs @ (positive * missed), occurs @ missed
        f1: Floats = 2 * (hits + new_hits) / (predicted + new_predicted + len(carriers))
        word = int(f1.argmax())
        if f1[word] <= best:
            break
        best = float(f1[word])
        hits, predicted = hits + float(new_hits[word]), predicted + float(new_predicted[word])
        missed[occurs.indices[occurs.indptr[word] : occurs.indptr[word + 1]]] = 0.0
        chosen.append(word)
    return candidates[chosen].astype(np.int64)


def _several(label: str, queries: Any) -> Sequence[str]:
    if isinstance(queries, (list, tuple)) and all(isinstance(query, str) for query in queries):
        return queries
    raise ParameterError(f"The keyword rule of {label!r} must be a query or a list of queries, not {queries!r}.")


def _read(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"The file is not UTF-8 text (byte {error.start}).", path=path) from None


def _label(line: str) -> tuple[str, int]:
    """The label of a line, and the position where its query begins."""
    begin = len(line) - len(line.lstrip())
    if line[begin] == '"':
        label, at = _quoted_label(line, begin)
    else:
        at = line.find(":")
        label = line[begin:at].strip() if at >= 0 else ""
    if at < 0 or at >= len(line) or line[at] != ":":
        position = len(line) if at < 0 else at
        raise query_problem(line, position, f"A colon was expected at column {position + 1}, after the label")
    if not label:
        raise query_problem(line, at, f"A label was expected before the colon at column {at + 1}")
    return label, at + 1


def _quoted_label(line: str, begin: int) -> tuple[str, int]:
    letters: list[str] = []
    at = begin + 1
    while at < len(line) and line[at] != '"':
        at += line[at] == "\\" and at + 1 < len(line)
        letters.append(line[at])
        at += 1
    if at >= len(line):
        raise query_problem(
            line, begin, f'The quote opened at column {begin + 1} is never closed; another " was expected'
        )
    after = at + 1
    while after < len(line) and line[after].isspace():
        after += 1
    return "".join(letters), after
