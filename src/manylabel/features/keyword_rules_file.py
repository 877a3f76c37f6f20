r"""Keyword rules as text: one ``label: query`` a line, ``#`` before a remark; lines of one label are alternatives.

    # grain
    wheat: wheat OR "durum" OR bushel*
    corn:  (corn OR maize) AND NOT "corn flakes"
    "time: past": yesterday

A label with a colon, a quote, or blanks or a # at its edge stands in quotes, a backslash before each quote in it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.features.keyword_parser import parse_query, query_problem
from manylabel.features.keyword_queries import Or, Query

SHOWN = 10
"""How many labels a warning lists."""


class UnknownRuleLabelWarning(UserWarning):
    """A rule is for a label that no training document has."""


def parse_rules(text: str, path: str | Path | None = None) -> dict[str, Query]:
    """The query of each label; errors name the file and the line.

    >>> print(write_rules(parse_rules("corn: maize\\nwheat: wheat\\ncorn: corn NOT flakes")), end="")
    corn: maize OR corn AND NOT flakes
    wheat: wheat
    """
    found: dict[str, list[Query]] = {}
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            label, start = _label(line)
            found.setdefault(label, []).append(parse_query(line, start))
        except DataError as error:
            raise DataError(error.problem, path=path, line=number) from None
    return {label: queries[0] if len(queries) == 1 else Or(tuple(queries)) for label, queries in found.items()}


def write_rules(rules: Mapping[str, Query | str]) -> str:
    """The text that `parse_rules` reads.

    >>> print(write_rules({"wheat": "wheat OR corn", "time: past": "ago"}), end="")
    wheat: wheat OR corn
    "time: past": ago
    """
    return "".join(f"{written_label(label)}: {query}\n" for label, query in rules.items())


def written_label(label: str) -> str:
    """A label as it stands in a file of rules: in quotes where that is needed."""
    if "\n" in label or "\r" in label:
        raise DataError(f"The label {label!r} goes over a line's end, which a file of rules cannot say.")
    plain = label.strip() == label and label and ":" not in label and label[0] not in '"#'
    return label if plain else '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'


def rules_text(given: Any) -> str:
    """Rules as one text, checked: from a file (its path), or from a mapping of labels to queries."""
    if isinstance(given, Mapping):
        lines = [
            (label, query)
            for label, queries in given.items()
            for query in ([queries] if isinstance(queries, str) else _several(label, queries))
        ]
        text, path = "".join(write_rules({label: query}) for label, query in lines), None
    elif isinstance(given, (str, Path)):
        path = Path(given)
        if not path.is_file():
            raise DataError(
                f"There is no file {str(path)!r} of keyword rules.",
                remedy="Make one to start from with: manylabel rules DATA > rules.txt",
            )
        text = _read(path)
    else:
        raise ParameterError(
            f"Keyword rules are the path of a file, or a mapping from labels to queries, not {type(given).__name__}."
        )
    if not parse_rules(text, path):
        raise DataError("There is no rule.", path=path, remedy="Write one a line, for example  wheat: wheat OR corn")
    return text


def with_rule_labels(rules: str, names: list[str], Y: Csr) -> tuple[list[str], Csr]:
    """Label names and Y with the labels that only rules know put last: no training document has them."""
    further = [label for label in parse_rules(rules) if label not in set(names)]
    if not further:
        return names, Y
    warn_of_labels(further, names)
    return [*names, *further], Csr((Y.data, Y.indices, Y.indptr), shape=(Y.shape[0], len(names) + len(further)))


def warn_of_labels(unknown: Sequence[str], known: Sequence[str]) -> None:
    """Say which labels have a rule but no training document, and which names they are nearest to: it may be a slip."""
    near = [get_close_matches(label, known, n=1, cutoff=0.75) for label in unknown]
    shown = [f"{label} (is {match[0]} meant?)" if match else label for label, match in zip(unknown, near, strict=True)]
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    warnings.warn(
        f"Keyword rules give labels that no training document has: {', '.join(shown[:SHOWN])}{more}.",
        UnknownRuleLabelWarning,
        stacklevel=2,
    )


def _several(label: str, queries: Any) -> Sequence[str]:
    if isinstance(queries, (list, tuple)) and all(isinstance(query, str) for query in queries):
        return queries
    raise ParameterError(f"The rule of {label!r} must be a query, or a list of them, not {queries!r}.")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"This is no text in UTF-8 (byte {error.start}).", path=path) from None


def _label(line: str) -> tuple[str, int]:
    """The label of a line, and where its query begins."""
    begin = len(line) - len(line.lstrip())
    if line[begin] == '"':
        label, at = _quoted_label(line, begin)
    else:
        at = line.find(":")
        label = line[begin:at].strip() if at >= 0 else ""
    if at < 0 or at >= len(line) or line[at] != ":":
        place = len(line) if at < 0 else at
        raise query_problem(line, place, f"A colon was expected at column {place + 1}, after the label")
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
