"""Remarks of a method on how it made its predictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats, unfitted_copy

if TYPE_CHECKING:
    from manylabel.decisions.model_with_rule import ModelWithRule

SUPPORTS = 3
MOST_LABELS = 2000
"""Beyond so many labels, a table of labels × labels is not made for a remark."""


def remarks_of(decided: ModelWithRule, labels: Sequence[str], batches: Iterable[Csr]) -> dict[str, Any]:
    """The remarks of a fitted model on documents given in batches; mostly none.

    ``chosen``: settings it tuned. ``chosen_for_metric``: the decision rule it chose, and for what metric.
    ``all_negative_share``: where the rule gives a document without a label its best one, the share of documents that
    had none before. ``supports``: for each label the labels whose presence speaks most for and against it (SVM-HF).
    ``guarantee``: what the rule guarantees of new documents. ``bin_weights``: the mean weight of each frequency bin
    (value-weighted naive Bayes). Co-training adds its rounds.
    """
    model, rule = decided.model_, decided.rule_
    said: dict[str, Any] = {"chosen": dict(model.chosen)} if model.chosen else {}
    if decided.choice_ is not None:
        said["chosen_for_metric"] = decided.choice_
    if len(labels) <= MOST_LABELS and (coefficients := model.label_coefficients()) is not None:
        said["supports"] = supports(coefficients, labels)
    if model.bin_weights_ is not None:
        said["bin_weights"] = plain_bin_weights(model.bin_weights_)
    if (guarantee := decided.guarantee()) is not None:
        said["guarantee"] = guarantee.as_dict()
    if rule is None:
        said.update(model.remarks(Csr(sparse.vstack(list(batches), format="csr"))))
    elif rule.fallback == "argmax":
        said["all_negative_share"] = all_negative_share(decided, batches)
    return said


def plain_bin_weights(weights: Floats) -> dict[str, list[float]]:
    """The mean weights of frequency bins by name: over terms that occur in the bin, over all terms, and their number.

    >>> plain_bin_weights(np.array([[0.5, 0.25], [0.5, 0.125], [2.0, 1.0]]))
    {'occurring': [0.5, 0.25], 'all_terms': [0.5, 0.125], 'terms': [2.0, 1.0]}
    """
    return dict(zip(("occurring", "all_terms", "terms"), weights.tolist(), strict=True))


def all_negative_share(decided: ModelWithRule, batches: Iterable[Csr]) -> float:
    """The share of documents for which the rule, without its fallback, predicts no label.

    Source: Godbole & Sarawagi 2004, section 5.5, count the documents with nothing but negative scores.
    """
    rule = decided.rule_
    assert rule is not None
    strict = unfitted_copy(rule).set_params(fallback="none").restore(rule.learned_state())
    empty = documents = 0
    for X in batches:
        given = strict.decide(decided.score_batch(X), decided.score_kind)
        empty += int((np.diff(given.indptr) == 0).sum())
        documents += X.shape[0]
    return empty / max(documents, 1)


def supports(coefficients: Floats, labels: Sequence[str], most: int = SUPPORTS) -> dict[str, dict[str, float]]:
    """For each label, the other labels with the largest positive and the largest negative weights for it.

    >>> supports(np.array([[9.0, 1.0, -2.0], [0.5, 9.0, 0.0], [0.0, -1.0, 9.0]]), ["grain", "wheat", "sugar"])
    {'grain': {'wheat': 1.0, 'sugar': -2.0}, 'wheat': {'grain': 0.5}, 'sugar': {'wheat': -1.0}}
    """
    found: dict[str, dict[str, float]] = {}
    for label, row in enumerate(coefficients):
        order = [column for column in np.argsort(-row, kind="stable").tolist() if column != label]
        told = [column for column in order[:most] if row[column] > 0]
        told += [column for column in order[-most:] if row[column] < 0]
        found[labels[label]] = {labels[column]: round(float(row[column]), 4) for column in told}
    return found
