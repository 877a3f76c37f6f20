"""The sums behind each metric per document, so that bootstrap and tests can reweight documents cheaply."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manylabel.data.labels import stack
from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError, UnknownNameError
from manylabel.metrics import DocumentCounts, LabelMatrix, LabelRanks, document_counts, indicator, label_ranks
from manylabel.metrics.targets import TARGET_METRICS, TargetMetric, find_target_metric

RESAMPLED = "metric for intervals and tests"
"""What errors call the metrics that documents are resampled for."""


@dataclass(frozen=True, slots=True, eq=False)
class Fractions:
    """A metric as the mean over columns of (Σ_i w_i above_i) / (Σ_i w_i below_i), w_i the weight of document i.

    Every metric has this form: macro F1 with a column for each label, the others with one. So measuring it again
    under other weights (a resample of the documents, the predictions of two methods swapped) costs one sparse
    product.
    """

    above: Csr
    below: Csr
    undefined: float
    """What a column counts whose denominator is 0."""

    def shares(self, above: Floats, below: Floats) -> Floats:
        """Each column's fraction, for each row of weighted sums."""
        found: Floats = np.divide(above, below, out=np.full(above.shape, self.undefined), where=below > 0)
        return found

    def values(self, above: Floats, below: Floats) -> Floats:
        """The metric for each row of weighted sums."""
        shares = self.shares(above, below)
        means: Floats = shares.mean(axis=1) if shares.shape[1] else np.full(len(shares), np.nan)
        return means

    @property
    def totals(self) -> tuple[Floats, Floats]:
        """The sums over all documents, each counted once: a row above and a row below."""
        above, below = (np.asarray(matrix.sum(axis=0), dtype=np.float64) for matrix in (self.above, self.below))
        return above[np.newaxis], below[np.newaxis]

    @property
    def value(self) -> float:
        """The metric itself, each document counted once."""
        return float(self.values(*self.totals)[0])

    def weighed(self, weights: Floats) -> Floats:
        """The metric for each row of document weights."""
        return self.values(np.asarray(weights @ self.above), np.asarray(weights @ self.below))


@dataclass(frozen=True, slots=True, eq=False)
class DocumentStatistics:
    """The true and the predicted labels of some documents; `ranks` is None where the method gave no scores."""

    Y_true: Csr
    Y_pred: Csr
    ranks: LabelRanks | None = None
    documents: Ints | None = None
    """The document of each row, where documents were predicted several times; None: each row is a document."""

    def __len__(self) -> int:
        """The number of documents."""
        return int(self.Y_true.shape[0]) if self.documents is None else len(np.unique(self.documents))

    @classmethod
    def concatenate(cls, batches: Iterable[DocumentStatistics]) -> DocumentStatistics:
        """The statistics of several batches or folds, one after the other."""
        batches = list(batches)
        widths = sorted({batch.Y_true.shape[1] for batch in batches})
        if len(widths) != 1:
            raise DataError(
                "Statistics of documents can be put together where they have the same labels, "
                f"but there are {len(batches)} batches with {widths} labels."
            )
        ranks = [batch.ranks for batch in batches if batch.ranks is not None]
        numbers = [batch.documents for batch in batches if batch.documents is not None]
        return cls(
            stack([batch.Y_true for batch in batches], widths[0]),
            stack([batch.Y_pred for batch in batches], widths[0]),
            LabelRanks.concatenate(ranks) if len(ranks) == len(batches) else None,
            np.concatenate(numbers) if len(numbers) == len(batches) else None,
        )

    @property
    def right(self) -> Csr:
        """The labels that are both true and predicted."""
        return Csr(self.Y_true.multiply(self.Y_pred))

    @property
    def wrong(self) -> Csr:
        """The labels that are true or predicted, but not both."""
        differing = Csr(abs(self.Y_true - self.Y_pred))
        differing.eliminate_zeros()
        return differing

    @property
    def label_f1(self) -> Floats:
        """The F1 of each label; 0 for a label that is neither true nor predicted."""
        of_labels = _macro(self)
        f1: Floats = of_labels.shares(*of_labels.totals)[0]
        return f1

    @property
    def counts(self) -> DocumentCounts:
        """How many labels of each document are right, true and predicted."""
        return document_counts(self.Y_true, self.Y_pred)

    def fractions(self, metric: TargetMetric | str) -> Fractions:
        """The sums a metric is made of, per document: the predictions of one document, if several, are added up."""
        wanted = resampled_metric(metric)
        if wanted.k is None and wanted.name not in _MADE_OF:
            raise UnknownNameError(RESAMPLED, wanted.name, [*TARGET_METRICS, "recall@5"])
        found = _MADE_OF[wanted.name](self) if wanted.k is None else _recall(self, wanted)
        return found if self.documents is None else _added_up(found, self.documents)

    def value(self, metric: TargetMetric | str) -> float:
        """The metric itself, each document counted once; the same number as `TargetMetric.value`."""
        return self.fractions(metric).value


def document_statistics(
    Y_true: LabelMatrix, Y_pred: LabelMatrix, scores: npt.ArrayLike | None = None
) -> DocumentStatistics:
    """The predictions of one method, ready for intervals and tests; `scores` are for recall@k only.

    Large corpora come in batches: `DocumentStatistics.concatenate` puts them together.

    >>> statistics = document_statistics([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 1]])
    >>> round(statistics.value("micro-f1"), 4), round(statistics.value("macro-f1"), 4)
    (0.6667, 0.5556)
    """
    T, S = indicator(Y_true, "Y_true"), indicator(Y_pred, "Y_pred")
    if T.shape != S.shape:
        raise DataError(
            f"Y_true and Y_pred must have the same documents and labels, but have shapes {T.shape} and {S.shape}."
        )
    if not T.shape[0]:
        raise DataError("There are no documents to measure.", remedy="Intervals and tests need at least one.")
    return DocumentStatistics(T, S, None if scores is None else label_ranks(T, scores))


def resampled_metric(metric: TargetMetric | str) -> TargetMetric:
    """The metric of an interval or a test."""
    return find_target_metric(metric, RESAMPLED) if isinstance(metric, str) else metric


def check_statistics(*systems: object) -> None:
    """Raise an error unless the systems are document statistics."""
    for system in systems:
        if not isinstance(system, DocumentStatistics):
            raise DataError(
                f"Intervals and tests read the statistics of documents, not a value of type {type(system).__name__}.",
                remedy="Give what document_statistics(Y_true, Y_pred) returns.",
            )


def check_paired(first: DocumentStatistics, second: DocumentStatistics) -> None:
    """Raise an error unless both predictions are for the same documents with the same true labels."""
    check_statistics(first, second)
    one, two = first.Y_true, second.Y_true
    if one.shape != two.shape:
        raise DataError(
            "Two methods can be compared document by document only on the same documents, "
            f"but they have {one.shape[0]} documents × {one.shape[1]} labels and {two.shape[0]} × {two.shape[1]}."
        )
    if not (np.array_equal(one.indptr, two.indptr) and np.array_equal(one.indices, two.indices)):
        raise DataError(
            "The two methods were measured against different true labels.",
            remedy="Give both the same documents, in the same order, with the same order of labels.",
        )


# ---- What each metric is made of -------------------------------------------------------------------------------------


def _added_up(fractions: Fractions, documents: Ints) -> Fractions:
    """The sums of the rows of each document."""
    numbers, of_rows = np.unique(documents, return_inverse=True)
    entries = np.ones(len(documents)), (of_rows.reshape(-1), np.arange(len(documents)))
    sums = Csr(entries, shape=(len(numbers), len(documents)))
    return Fractions(Csr(sums @ fractions.above), Csr(sums @ fractions.below), fractions.undefined)


def _micro(statistics: DocumentStatistics) -> Fractions:
    counts = statistics.counts
    return Fractions(_column(2 * counts.right), _column(counts.true + counts.predicted), 0.0)


def _macro(statistics: DocumentStatistics) -> Fractions:
    """Over all labels, as the metric ``macro-f1``: a label that is neither true nor predicted counts 0."""
    below = statistics.Y_true.astype(np.float64) + statistics.Y_pred.astype(np.float64)
    return Fractions(Csr(2.0 * statistics.right.astype(np.float64)), Csr(below), 0.0)


def _sample(statistics: DocumentStatistics) -> Fractions:
    counts = statistics.counts
    sizes = counts.true + counts.predicted
    return _mean(np.divide(2.0 * counts.right, sizes, out=np.ones(len(sizes)), where=sizes > 0))


def _exact(statistics: DocumentStatistics) -> Fractions:
    return _mean(np.diff(statistics.wrong.indptr) == 0)


def _hamming(statistics: DocumentStatistics) -> Fractions:
    labels = np.full(statistics.Y_true.shape[0], max(statistics.Y_true.shape[1], 1))
    return Fractions(_column(np.diff(statistics.wrong.indptr)), _column(labels), np.nan)


def _recall(statistics: DocumentStatistics, metric: TargetMetric) -> Fractions:
    """Over documents with a label; nan where there is none."""
    ranks = statistics.ranks
    if ranks is None:
        raise DataError(
            f"{metric.name} is about the order of labels, but the method gave no scores.",
            remedy="Hand the scores to document_statistics.",
        )
    documents = np.repeat(np.arange(len(ranks.sizes)), ranks.sizes)
    hits = np.bincount(documents, weights=ranks.rank <= (metric.k or 0), minlength=len(ranks.sizes))
    return Fractions(_column(hits / np.maximum(ranks.sizes, 1)), _column(ranks.sizes > 0), np.nan)


def _mean(of_documents: Floats | npt.NDArray[np.bool_]) -> Fractions:
    return Fractions(_column(of_documents), _column(np.ones(len(of_documents))), np.nan)


def _column(of_documents: Floats | Ints | npt.NDArray[np.bool_]) -> Csr:
    return Csr(np.asarray(of_documents, dtype=np.float64)[:, np.newaxis])


_MADE_OF = {
    "micro-f1": _micro,
    "macro-f1": _macro,
    "sample-f1": _sample,
    "exact-match": _exact,
    "hamming-loss": _hamming,
}
