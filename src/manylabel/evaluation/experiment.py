"""Evaluate a classifier on labelled documents: all metrics, each label, and whether a stored guarantee held."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from typing import Any, Protocol

import numpy as np

from manylabel.data.documents import length_of
from manylabel.data.hierarchy import Hierarchy
from manylabel.data.labels import LabelSets, as_label_sets, label_matrix, stack
from manylabel.estimator import Csr, Floats, Ints
from manylabel.evaluation.result import LabelRow, Result, SplitCounts, fingerprint, versions
from manylabel.exceptions import ParameterError
from manylabel.metrics import (
    LabelRanks,
    compute_hierarchical_metrics,
    compute_metrics,
    conventions,
    find_ranking_metric,
    hierarchical_conventions,
    label_counts,
    label_ranks,
    metrics_of_ranks,
    propensities,
    ranking_conventions,
)
from manylabel.metrics.counts import document_counts
from manylabel.wording import counted, there_are


class Labeller(Protocol):
    """The interface that `evaluate` needs of a fitted classifier."""

    method: str
    seed: int
    labels_: list[str]
    label_counts_: Any
    n_documents_: int

    @property
    def recipe(self) -> Any:
        """The resolved settings."""

    @property
    def thresholds(self) -> Mapping[str, float]:
        """The threshold of each label."""

    def iter_decisions(self, documents: Any) -> Iterator[tuple[Csr, Callable[[], Floats]]]:
        """Predicted label sets, batch by batch, each with a function that gives the scores."""

    def remarks(self, documents: Any) -> dict[str, Any]:
        """The method's remarks on how it made its predictions."""


class Analyst(Protocol):
    """The interface of analyses that `evaluate` passes predictions and scores to."""

    def begin(self, label_names: Sequence[str], Y_true: Csr) -> None:
        """The labels, those that training never saw last, and the true labels of all documents."""

    def add(self, Y_pred: Csr, scores: Floats) -> None:
        """The predicted labels and the scores of the next documents, without the labels that training never saw."""


def evaluate(
    classifier: Labeller,
    documents: Any,
    label_sets: LabelSets,
    *,
    ids: Sequence[str],
    data: str,
    split: str,
    train: SplitCounts | None = None,
    fit_seconds: float | None = None,
    hierarchy: Hierarchy | None = None,
    train_sha256: str | None = None,
    analyst: Analyst | None = None,
) -> Result:
    """The metrics of a classifier's predictions for labelled documents.

    Labels that the documents carry and training never saw cannot be predicted: they are counted as misses and named
    in `unseen_labels`. They rank last. With a `hierarchy`, hierarchical metrics are taken too. An `analyst` gets
    label names and true labels at the beginning, and then the predictions and scores of each batch.
    """
    label_sets = as_label_sets(label_sets)
    _check_one_each(documents, ids, len(label_sets))
    known = list(classifier.labels_)
    unseen = Counter(name for names in label_sets for name in names if name not in set(known))
    names = known + sorted(unseen)
    T = label_matrix(label_sets, names)
    if analyst is not None:
        analyst.begin(names, T)
    S, ranks, seconds = _answers(classifier, documents, T, analyst)
    if fit_seconds is not None:
        seconds["fit"] = fit_seconds
    metric = classifier.recipe.decision.get("metric", "")
    own = [metric] if metric.startswith("recall@") else []  # what it was trained for
    parents = None if hierarchy is None else hierarchy.columns(names)[1]
    return Result(
        method=classifier.method,
        data=data,
        split=split,
        test=SplitCounts.of(label_sets),
        train=train,
        metrics=_metrics(T, S, {**metrics_of_ranks(ranks), **metrics_of_ranks(ranks, own)}, parents),
        labels=_label_rows(classifier, names, T, S),
        unseen_labels=dict(sorted(unseen.items())),
        conventions={
            **conventions(),
            **ranking_conventions(),
            **{name: find_ranking_metric(name).convention for name in own},
            **({} if hierarchy is None else hierarchical_conventions()),
        },
        recipe=classifier.recipe.as_dict(),
        seed=classifier.seed,
        seconds=seconds,
        true_labels_sha256=fingerprint(ids, label_sets),
        train_sha256=train_sha256,
        remarks=with_measured_guarantee(classifier.remarks(documents), T, S),
        versions=versions(),
    )


def _check_one_each(documents: Any, ids: Sequence[str], n_label_sets: int) -> None:
    """Raise an error unless there is one label set and one id per document; the length of a stream is not known."""
    count = length_of(documents) if isinstance(documents, Sized) else n_label_sets
    if count != n_label_sets:
        raise ParameterError(f"{there_are(count, 'document').capitalize()} but labels for {n_label_sets}.")
    if len(ids) != count:
        raise ParameterError(
            f"{there_are(count, 'document').capitalize()} but {counted(len(ids), 'id')}. Give one id per document."
        )


def _answers(
    classifier: Labeller, documents: Any, T: Csr, analyst: Analyst | None
) -> tuple[Csr, LabelRanks, dict[str, float]]:
    """The predicted label sets, the ranks of the true labels, and the seconds that predicting took."""
    batches: list[Csr] = []
    trained = np.zeros(T.shape[1])
    trained[: len(classifier.labels_)] = classifier.label_counts_
    propensity = propensities(trained, classifier.n_documents_)
    ranks = [label_ranks(T[:0], np.zeros((0, T.shape[1])), propensity)]
    seconds, start = 0.0, 0
    decisions = classifier.iter_decisions(documents)
    while True:
        began = time.perf_counter()
        decision = next(decisions, None)
        seconds += time.perf_counter() - began
        if decision is None:
            break
        S, scores = decision
        batches.append(S)
        numbers = scores()
        ranks.append(label_ranks(T[start : start + S.shape[0]], _widened(numbers, T.shape[1]), propensity))
        if analyst is not None:
            analyst.add(S, numbers)
        start += S.shape[0]
    return stack(batches, T.shape[1]), LabelRanks.concatenate(ranks), {"predict": seconds}


def _widened(scores: Floats, n_labels: int) -> Floats:
    """Scores with a column of −∞ for each label that training never saw."""
    missing = n_labels - scores.shape[1]
    return np.pad(scores, ((0, 0), (0, missing)), constant_values=-np.inf) if missing else scores


def _metrics(T: Csr, S: Csr, ranking: dict[str, float], parents: Ints | None) -> dict[str, dict[str, float]]:
    """All metrics of all documents, and of those with a label; those of the ranking are the same in both views."""

    def measured(Y_true: Csr, Y_pred: Csr) -> dict[str, float]:
        with_ancestors = {} if parents is None else compute_hierarchical_metrics(Y_true, Y_pred, parents)
        return {**compute_metrics(Y_true, Y_pred), **ranking, **with_ancestors}

    metrics = {"all": measured(T, S)}
    labelled = np.flatnonzero(np.diff(T.indptr))
    if len(labelled) < T.shape[0]:
        metrics["labelled"] = measured(Csr(T[labelled]), Csr(S[labelled]))
    return metrics


def _label_rows(classifier: Labeller, names: Sequence[str], T: Csr, S: Csr) -> list[LabelRow]:
    counts = label_counts(T, S)
    thresholds = classifier.thresholds
    trained = dict(zip(classifier.labels_, np.asarray(classifier.label_counts_).tolist(), strict=True))
    rows = []
    columns = zip(names, counts.tp.tolist(), counts.fp.tolist(), counts.fn.tolist(), strict=True)
    for name, hits, false, missed in columns:
        precision = hits / (hits + false) if hits + false else 0.0
        recall = hits / (hits + missed) if hits + missed else 0.0
        f1 = 2 * hits / (2 * hits + false + missed) if hits else 0.0
        rows.append(
            LabelRow(
                label=name,
                trained=trained.get(name, 0),
                true=hits + missed,
                predicted=hits + false,
                hits=hits,
                precision=precision,
                recall=recall,
                f1=f1,
                threshold=thresholds.get(name),
            )
        )
    return rows


def with_measured_guarantee(remarks: Mapping[str, Any], T: Csr, S: Csr) -> dict[str, Any]:
    """The remarks, with the measured mean of a guarantee and the number of documents it was measured on added.

    ``recall``: the mean of |S∩T|/|T| over documents with a label. ``fdr``: the mean of |S∖T|/max(|S|, 1) over all. nan
    over no documents. Labels that training never saw count as missed.

    >>> T, S = Csr([[1, 1], [0, 1], [0, 0]]), Csr([[1, 0], [1, 1], [0, 0]])
    >>> with_measured_guarantee({"guarantee": {"metric": "recall"}}, T, S)["guarantee"]
    {'metric': 'recall', 'measured': 0.75, 'measured_on': 2}
    >>> with_measured_guarantee({"guarantee": {"metric": "fdr"}}, T, S)["guarantee"]["measured"]
    0.16666666666666666
    """
    guarantee = remarks.get("guarantee")
    if guarantee is None:
        return dict(remarks)
    counts = document_counts(T, S)
    if guarantee["metric"] == "recall":
        rows = counts.true > 0
        values = counts.right[rows] / counts.true[rows]
    else:
        values = (counts.predicted - counts.right) / np.maximum(counts.predicted, 1)
    mean = float(values.mean()) if len(values) else float("nan")
    return {**remarks, "guarantee": {**guarantee, "measured": mean, "measured_on": len(values)}}
