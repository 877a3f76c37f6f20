"""Keyword rules studied on documents: what each line matches, how often it is right, and the mistakes in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Ints
from manylabel.evaluation.label_intervals import label_intervals
from manylabel.exceptions import DataError, nearest_name
from manylabel.features.keyword_queries import Query, parse_query
from manylabel.features.keyword_rules import rule_lines, write_rules
from manylabel.features.keywords import KeywordMatcher
from manylabel.features.reading import CHOSEN_BY_TEXTS, Reading
from manylabel.features.scripts import without_markup
from manylabel.metrics.counts import LabelCounts

MOST_NEAR = 20
"""Unknown labels for which a similar name is looked for, which takes long where there are many labels."""


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """A mistake in a line of keyword rules."""

    line: int
    problem: str

    def as_dict(self) -> dict[str, Any]:
        """The mistake as plain data."""
        return asdict(self)


class QueryMatcher:
    """Finds the texts for which queries are true, as the method ``rules`` finds them.

    How texts are split, and whether HTML is removed, is chosen by a sample of them.
    """

    def __init__(self, sample: Sequence[str]) -> None:
        self.reading = Reading.of(sample, stemmer=None, **CHOSEN_BY_TEXTS)

    def matcher(self, queries: Sequence[Query]) -> KeywordMatcher:
        """The matcher of some queries; they are named by their places."""
        names = [str(place) for place in range(len(queries))]
        rules = write_rules(dict(zip(names, queries, strict=True)))
        return KeywordMatcher(rules, tokens=self.reading.tokens).fit(names)

    def problems(self, queries: Mapping[int, Query]) -> dict[int, str]:
        """Why queries would not mean what is written, by line; none where nothing is wrong."""
        lost = KeywordMatcher("", tokens=self.reading.tokens).never_found(queries)
        how = f"it is not a word as texts are split here ({self.reading.tokens})"
        return {line: f"{atom} would never be found: {how}." for line, atom in lost.items()}

    def matches(self, matcher: KeywordMatcher, texts: Sequence[str]) -> Csr:
        """Texts × queries: 1 where a query is true."""
        return matcher.transform([without_markup(text) for text in texts] if self.reading.strips_markup else texts)


class OneQuery:
    """Finds the texts for which one query of a keyword rule is true; a `DataError` for a mistake in it."""

    def __init__(self, query: str, sample: Sequence[str]) -> None:
        self.queries = QueryMatcher(sample)
        parsed = parse_query(query)
        for problem in self.queries.problems({1: parsed}).values():
            raise DataError(problem)
        self.matcher = self.queries.matcher([parsed])

    def places(self, texts: Sequence[str]) -> Ints:
        """The places of the texts for which the query is true."""
        found: Ints = np.unique(self.queries.matches(self.matcher, texts).nonzero()[0]).astype(np.int64)
        return found


class RuleStudy:
    """Counts what the lines of keyword rules match, over batches of documents."""

    def __init__(self, rules: str, sample: Sequence[str], known: Sequence[str]) -> None:
        self.queries = QueryMatcher(sample)
        read = list(rule_lines(rules))
        whole = [(line, label, query) for line, label, query in read if not isinstance(query, DataError)]
        wrong = {line: str(query) for line, _, query in read if isinstance(query, DataError)}
        wrong |= self.queries.problems({line: query for line, _, query in whole})
        self.lines = [one for one in whole if one[0] not in wrong]
        names = set(known)
        unknown = {label: line for line, label, _ in reversed(self.lines) if label not in names}
        for count, (label, line) in enumerate(sorted(unknown.items(), key=lambda one: one[1])):
            wrong[line] = _no_label(label, known if count < MOST_NEAR else ())
        self.problems = [RuleProblem(line, problem) for line, problem in sorted(wrong.items())]
        self.labels = list(dict.fromkeys(label for _, label, _ in self.lines))
        self.matcher = self.queries.matcher([query for *_, query in self.lines]) if self.lines else None
        place = {label: column for column, label in enumerate(self.labels)}
        self.label_of = np.array([place[label] for _, label, _ in self.lines], dtype=np.int64)
        self.by_line = np.zeros((3, len(self.lines)), dtype=np.int64)
        self.by_label = np.zeros((3, len(self.labels)), dtype=np.int64)
        self.carried = np.zeros(len(self.labels), dtype=np.int64)

    def add(self, texts: Sequence[str], Y: Csr, unlabelled: Ints) -> None:
        """Count matches in a batch of texts. `Y` has a column per label of `labels`; `unlabelled` marks with 1 the
        documents whose labels nobody has assigned yet.
        """
        if self.matcher is None:
            return
        held = self.queries.matches(self.matcher, texts).astype(np.int64)
        lines = np.arange(len(self.lines))
        shape = (len(self.lines), len(self.labels))
        of_label = sparse.csr_array((np.ones(len(lines), dtype=np.int64), (lines, self.label_of)), shape=shape)
        merged = Csr((Csr(held @ of_label) > 0).astype(np.int64))
        self.by_line += [held.sum(axis=0), held.multiply(Y[:, self.label_of]).sum(axis=0), unlabelled @ held]
        self.by_label += [merged.sum(axis=0), merged.multiply(Y).sum(axis=0), unlabelled @ merged]
        self.carried += Y.sum(axis=0)

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """What was counted: of each line, and of each label, whose lines are alternatives; and the mistakes."""
        lines = [
            {"line": line, "label": label, "query": str(query), **figures}
            for (line, label, query), figures in zip(
                self.lines, _figures(self.by_line, self.carried[self.label_of]), strict=True
            )
        ]
        counts = np.bincount(self.label_of, minlength=len(self.labels)).tolist()
        merged = _figures(self.by_label, self.carried)
        labels = [
            {"label": label, "lines": n, "label_documents": carried, **figures}
            for label, n, carried, figures in zip(self.labels, counts, self.carried.tolist(), merged, strict=True)
        ]
        return {"rules": lines, "labels": labels, "problems": [one.as_dict() for one in self.problems]}


def _no_label(label: str, known: Sequence[str]) -> str:
    near = nearest_name(label, known, 0.75)
    return f"There is no label {label!r:.200}." + ("" if near is None else f" Did you mean {near!r}?")


def _figures(counts: Ints, carried: Ints) -> list[dict[str, Any]]:
    """Documents matched, with the label and unlabelled, with precision, its 95 % interval, and recall."""
    documents, true, unlabelled = counts
    wrong, missed = documents - true - unlabelled, carried - true
    intervals = label_intervals(LabelCounts(true, wrong, missed, np.zeros_like(true))).precision.tolist()
    return [
        {
            "documents": n,
            "true": right,
            "unlabelled": open_,
            "precision": right / (n - open_) if n > open_ else None,
            "interval": interval if n > open_ else None,
            "recall": right / total if total else None,
        }
        for n, right, open_, total, interval in zip(
            documents.tolist(), true.tolist(), unlabelled.tolist(), carried.tolist(), intervals, strict=True
        )
    ]
