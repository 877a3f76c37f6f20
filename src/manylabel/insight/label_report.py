"""The label report: what the labels of a corpus look like, alone, in pairs, by name and in their hierarchy."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import betaincinv

from manylabel.data.hierarchy import Hierarchy
from manylabel.estimator import Csr, Floats, Ints
from manylabel.evaluation.label_intervals import label_intervals
from manylabel.features.contingency import contingency_tables
from manylabel.features.term_scores import FUNCTIONS, Options, best_terms, label_scores
from manylabel.insight.dependencies import LabelPairs, label_pairs
from manylabel.metrics.counts import label_counts
from manylabel.reports.label_records import (
    Exclusion,
    Implication,
    LabelQuality,
    LabelReport,
    LabelRow,
    LabelTerms,
    MissingAncestor,
    SimilarNames,
    Together,
)
from manylabel.resampling.imbalance import label_imbalance

IMPLIES = 0.8
"""A label implies another if, with 97.5 % confidence, at least this share of its documents has the other, too."""
MOST_PAIRS = 500
"""The report lists up to this many pairs of each kind; it counts all of them."""
LONG_WORD = 6
"""Names that differ in one letter of a word are reported if the word has at least this many."""
SHORT_WORD = {"one letter apart": (4, 20), "two letters exchanged": (3, 5)}
"""Names that differ in a shorter word are reported if it has at least so many letters, and one of the two names so many
times the documents of the other.

Short names are often one letter apart and both right: heat and wheat, cpi and cpu, odf and pdf. A misspelling is rare
beside the name that was meant; two right names seldom are. Names of three letters are often codes, so that another
letter says nothing, but no two codes of Reuters-21578, Debtags or GoEmotions have the same letters in another order.
With these limits no pair of short names is reported in any of the three, which have 744 labels."""


def report_labels(Y: Csr, names: Sequence[str], hierarchy: Hierarchy | None, data: str) -> LabelReport:
    """The label report of a documents × labels matrix."""
    facts, pairs = label_imbalance(Y), label_pairs(Y)
    documents, ratios = facts.label_documents, facts.imbalance_ratios
    used = np.flatnonzero(documents)
    companions = _companions(pairs, len(names))
    rows = [
        LabelRow(
            names[label],
            int(documents[label]),
            float(documents[label] / max(Y.shape[0], 1)),
            float(ratios[label]),
            tuple(names[other] for other in companions[label]),
        )
        for label in np.argsort(-documents, kind="stable").tolist()
        if documents[label]
    ]
    above = pairs.chosen(pairs.both > pairs.expected)
    below = pairs.chosen(pairs.both < pairs.expected)
    implications = _implications(above, documents, names)
    return LabelReport(
        data,
        int(Y.shape[0]),
        len(names),
        facts.mean_ratio,
        facts.scumble,
        facts.cardinality,
        tuple(rows),
        len(above),
        pairs_together(above, names),
        len(implications),
        tuple(implications[:MOST_PAIRS]),
        len(below),
        _exclusions(below, names),
        missing_ancestors(Y, names, hierarchy),
        similar_names([names[label] for label in used.tolist()], documents[used].tolist()),
    )


def _companions(pairs: LabelPairs, n_labels: int, most: int = 3) -> list[list[int]]:
    """For each label those that occur with it most above chance."""
    found: list[list[int]] = [[] for _ in range(n_labels)]
    for place in np.argsort(-(pairs.both - pairs.expected), kind="stable").tolist():
        one, other = int(pairs.first[place]), int(pairs.second[place])
        if pairs.both[place] <= pairs.expected[place]:
            break
        for label, companion in ((one, other), (other, one)):
            if len(found[label]) < most:
                found[label].append(companion)
    return found


def pairs_together(pairs: LabelPairs, names: Sequence[str]) -> tuple[Together, ...]:
    """The pairs that occur together most above chance, with their names."""
    order = np.argsort(-(pairs.both - pairs.expected), kind="stable")[:MOST_PAIRS]
    best = pairs.chosen(order)
    return tuple(Together(names[a], names[b], both, expected, p) for a, b, both, expected, p in best.rows())


def _exclusions(pairs: LabelPairs, names: Sequence[str]) -> tuple[Exclusion, ...]:
    order = np.argsort(-(pairs.expected - pairs.both), kind="stable")[:MOST_PAIRS]
    best = pairs.chosen(order)
    return tuple(Exclusion(names[a], names[b], both, expected, p) for a, b, both, expected, p in best.rows())


def _implications(pairs: LabelPairs, documents: Ints, names: Sequence[str]) -> list[Implication]:
    """Pairs in which nearly all documents of one label have the other, by the lower end of the share's interval."""
    found = []
    for one, other in ((pairs.first, pairs.second), (pairs.second, pairs.first)):
        low = betaincinv(pairs.both + 0.5, documents[one] - pairs.both + 0.5, 0.025)
        for place in np.flatnonzero(low >= IMPLIES).tolist():
            a, b, both = int(one[place]), int(other[place]), int(pairs.both[place])
            found.append(
                Implication(names[a], names[b], both, int(documents[a]), float(low[place]), float(pairs.p[place]))
            )
    return sorted(found, key=lambda one: (-one.low, -one.both, one.label))


def missing_ancestors(Y: Csr, names: Sequence[str], hierarchy: Hierarchy | None) -> tuple[MissingAncestor, ...]:
    """Labels whose documents lack an ancestor that other documents carry, with how many lack it."""
    if hierarchy is None:
        return ()
    column = {name: number for number, name in enumerate(names)}
    by_label = Y.T.tocsr()
    sets = [
        frozenset(by_label.indices[by_label.indptr[c] : by_label.indptr[c + 1]].tolist()) for c in range(len(names))
    ]
    found = []
    for child, label in enumerate(names):
        for ancestor in hierarchy.ancestors(label):
            if ancestor in column and sets[column[ancestor]]:
                lacking = len(sets[child] - sets[column[ancestor]])
                if lacking:
                    found.append(MissingAncestor(label, ancestor, lacking, len(sets[child])))
    return tuple(sorted(found, key=lambda one: -one.lacking))


def similar_names(names: Sequence[str], documents: Sequence[int]) -> tuple[SimilarNames, ...]:
    """Names that may mean the same: other case, accents, punctuation, number or order of words, one letter apart, or
    two neighbouring letters exchanged.

    `documents` has the number of documents of each name: one letter of a short word counts only where one name is far
    rarer than the other.

    >>> names = ["Garden waste", "waste, garden", "park", "parks", "libraries", "libaries", "mail", "mial", "maid"]
    >>> for one in similar_names(names, [9, 9, 9, 9, 9, 9, 60, 2, 50]):
    ...     print(f"{one.first}, {one.second}: {one.reason}")
    Garden waste, waste, garden: the same words
    park, parks: the same words
    libaries, libraries: one letter apart
    mail, mial: two letters exchanged; 60 and 2 documents
    """
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in names:
        groups[_words(name)].append(name)
    found = [
        SimilarNames(min(pair), max(pair), "the same words")
        for key, group in groups.items()
        if key
        for pair in combinations(sorted(group), 2)
    ]
    known = {frozenset((one.first, one.second)) for one in found}
    near = _misspelt(dict(zip(names, documents, strict=True)))
    return tuple(sorted(found, key=lambda one: one.first)) + tuple(
        SimilarNames(*pair, near[pair]) for pair in sorted(near) if frozenset(pair) not in known
    )


def _words(name: str) -> tuple[str, ...]:
    """The words of a name without accents, case and plural s, in alphabetical order."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one)).casefold()
    return tuple(sorted(word.removesuffix("s") if len(word) > 3 else word for word in re.findall(r"[\w+#]+", plain)))


def _misspelt(documents: Mapping[str, int]) -> dict[tuple[str, str], str]:
    """Pairs of names one of which may be a misspelling of the other, with the reason; see `LONG_WORD`, `SHORT_WORD`."""
    found: dict[tuple[str, str], str] = {}
    by_plain = {name.casefold(): name for name in documents}
    for reason, pairs in (
        ("one letter apart", _one_letter_apart(by_plain)),
        ("two letters exchanged", _letters_exchanged(by_plain)),
    ):
        for (one, other), letters in pairs.items():
            pair = min(by_plain[one], by_plain[other]), max(by_plain[one], by_plain[other])
            least, times = SHORT_WORD[reason]
            rare, frequent = sorted(documents[name] for name in pair)
            if letters >= LONG_WORD:
                found[pair] = reason
            elif letters >= least and frequent >= times * rare:
                found[pair] = f"{reason}; {documents[pair[0]]:,} and {documents[pair[1]]:,} documents"
    return found


def _one_letter_apart(names: Iterable[str]) -> dict[tuple[str, str], int]:
    """Pairs of names one of which has a letter less, more or another one, and the letters of the longer word.

    Digits do not count as letters.

    >>> _one_letter_apart(["wheat", "heat", "phase 1", "phase 2"])
    {('heat', 'wheat'): 5}
    """
    known = dict.fromkeys(names)
    by_rest: dict[str, list[tuple[int, str, int]]] = defaultdict(list)
    for name in known:
        for word in re.finditer(r"[^\W\d_]+", name):
            for place in range(*word.span()):
                by_rest[name[:place] + name[place + 1 :]].append((place, name, len(word.group())))
    found: dict[tuple[str, str], int] = {}
    for rest, group in by_rest.items():
        pairs = [(one, other, n) for (at, one, n), (there, other, _) in combinations(group, 2) if at == there]
        pairs += [(rest, name, n) for _, name, n in group if rest in known]
        found |= {(min(one, other), max(one, other)): n for one, other, n in pairs if one != other}
    return found


def _letters_exchanged(names: Iterable[str]) -> dict[tuple[str, str], int]:
    """Pairs of names that differ by two neighbouring letters of a word, and the letters of the word.

    >>> _letters_exchanged(["network", "netwrok", "mail", "mali", "c3", "3c"])
    {('network', 'netwrok'): 7, ('mail', 'mali'): 4}
    """
    known = dict.fromkeys(names)
    found: dict[tuple[str, str], int] = {}
    for name in known:
        for word in re.finditer(r"[^\W\d_]+", name):
            for place in range(word.start(), word.end() - 1):
                exchanged = f"{name[:place]}{name[place + 1]}{name[place]}{name[place + 2 :]}"
                if exchanged != name and exchanged in known:
                    found[min(name, exchanged), max(name, exchanged)] = len(word.group())
    return found


# ---- with a model ----------------------------------------------------------------------------------------------------


def label_qualities(Y_true: Csr, Y_pred: Csr, names: Sequence[str], thresholds: Floats | None) -> list[LabelQuality]:
    """Precision, recall and F1 of each label with 95 % intervals, the most frequent label first."""
    counts = label_counts(Y_true, Y_pred)
    tp, fp, fn = (np.asarray(part, dtype=np.float64) for part in (counts.tp, counts.fp, counts.fn))
    p, r, f = label_intervals(counts)
    with np.errstate(invalid="ignore"):
        values = [tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)]
    known = [[None if np.isnan(value) else float(value) for value in column] for column in values]
    return [
        LabelQuality(
            names[label],
            int(tp[label] + fn[label]),
            int(tp[label] + fp[label]),
            known[0][label],
            known[1][label],
            known[2][label],
            tuple(p[label].tolist()),
            tuple(r[label].tolist()),
            tuple(f[label].tolist()),
            None if thresholds is None else float(thresholds[label]),
        )
        for label in np.argsort(-(tp + fn), kind="stable").tolist()
        if tp[label] + fp[label] + fn[label]
    ]


def terms_of_labels(
    X: Csr, Y: Csr, labels: Sequence[int], names: Sequence[str], terms: Sequence[str], most: int = 8
) -> list[LabelTerms]:
    """The best terms of some labels by every selection function, among terms of at least two documents."""
    table = contingency_tables(X, Y)
    candidates = np.flatnonzero(table.term_documents >= 2)
    best: dict[int, dict[str, tuple[str, ...]]] = {label: {} for label in labels}
    for function in FUNCTIONS:
        for label, scores in label_scores(table, function, Options(), list(labels)):
            chosen: Any = candidates[best_terms(scores[candidates], most)]
            best[label][function] = tuple(str(terms[term]) for term in chosen.tolist())
    return [LabelTerms(names[label], best[label]) for label in labels]
