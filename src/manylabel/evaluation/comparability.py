"""The contract of evaluation: figures stand side by side only where they were measured alike."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence

from manylabel.evaluation.result import Result
from manylabel.exceptions import ComparisonError

SHOWN = 12
"""Characters of a hash that are shown."""


def fingerprint(ids: Sequence[str], label_sets: Sequence[Sequence[str]]) -> str:
    """SHA-256 of documents' ids and labels: two results with the same one were measured against the same truth.

    >>> fingerprint(["1", "2"], [["a", "b"], []]) == fingerprint(["1", "2"], [["b", "a"], []])
    True
    """
    digest = hashlib.sha256()
    for identifier, names in zip(ids, label_sets, strict=True):
        digest.update(json.dumps([identifier, sorted(names)], ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


def check_comparable(results: Sequence[Result], names: Sequence[str] | None = None) -> None:
    """Refuse results of one data set that were not measured alike, in a sentence that says what differs.

    Alike are: the part measured, the truth (`gold_sha256`), the labels counted (the denominator of macro averages and
    Hamming loss), and the convention of every metric both have. Methods, recipes, seeds, versions and the training
    documents may differ: they are what is compared.

    `names` is what the message calls the results; without, their methods.
    """
    called = list(names or (result.method for result in results))
    for name, result in zip(called[1:], results[1:], strict=True):
        if differing := "; ".join(_unlike(results[0], result)):
            raise ComparisonError(
                f"{called[0]} and {name} were not measured alike and cannot stand in one table: {differing}. "
                "Metric both again, on the same documents with the same version of manylabel."
            )


def check_same_conventions(results: Sequence[Result]) -> None:
    """Refuse results of several data sets whose metrics do not mean the same on each."""
    for result in results[1:]:
        if differing := "; ".join(_other_conventions(results[0].conventions, result.conventions)):
            raise ComparisonError(
                f"The results on {results[0].data} and {result.data} cannot be ranked together: {differing}."
            )


def same_training(results: Sequence[Result]) -> bool:
    """Whether all results whose training documents are known were trained on the same ones."""
    return len({result.train_sha256 for result in results if result.train_sha256 is not None}) <= 1


def _unlike(one: Result, two: Result) -> Iterator[str]:
    if one.part != two.part:
        yield f"one is of the part {one.part!r}, the other of {two.part!r}"
    if one.gold_sha256 != two.gold_sha256:
        yield (
            f"the measured documents or their true labels differ ({one.data}, {one.test.documents:,} documents, truth "
            f"{one.gold_sha256[:SHOWN]}; {two.data}, {two.test.documents:,} documents, truth "
            f"{two.gold_sha256[:SHOWN]})"
        )
    labels = [{row.label for row in result.labels} for result in (one, two)]
    if labels[0] != labels[1]:
        odd = min(labels[0] ^ labels[1])
        yield f"one counts {len(labels[0])} labels, the other {len(labels[1])} ({odd!r} is only in one of them)"
    yield from _other_conventions(one.conventions, two.conventions)


def _other_conventions(one: Mapping[str, str], two: Mapping[str, str]) -> Iterator[str]:
    other = [name for name in one if name in two and one[name] != two[name]]
    if other:
        more = f" (and {len(other) - 1} more metrics)" if len(other) > 1 else ""
        yield f"the convention of {other[0]} differs: “{one[other[0]]}” and “{two[other[0]]}”{more}"
