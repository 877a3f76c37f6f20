"""The table of metrics of predicted label sets: name, title, function, direction, convention and source of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from manylabel.exceptions import UnknownNameError
from manylabel.metrics import document_metrics as by_document
from manylabel.metrics import label_metrics as by_label
from manylabel.metrics.counts import DocumentCounts, LabelCounts, LabelMatrix, document_counts, label_counts
from manylabel.metrics.label_metrics import Over
from manylabel.metrics.ranking import RANKING_METRICS
from manylabel.parameters import names_given


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Label counts and document counts of the same predictions."""

    labels: LabelCounts
    documents: DocumentCounts


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of predicted label sets, with what a table or a page says of it."""

    name: str
    """The name in options and results, such as "micro-f1"."""
    title: str
    compute: Callable[[Counts], float]
    greater_is_better: bool | None
    """None for a number that is neither good nor bad."""
    convention: str
    """How empty sets, zero denominators and absent labels count, as a sentence."""
    source: str
    over: Over | None = None
    """The labels of a macro average, see `chosen_labels`; None for other metrics."""


_BOTH_EMPTY = "Mean over documents; 1 where the true and the predicted set are both empty, 0 where only one of them is."
_POOLED = "Counts pooled over documents and labels; 0 where the denominator is 0."
_LABELS = {
    "all": "all labels; a label whose denominator is 0 counts 0.",
    "present": "the labels that some evaluated document has; a label whose denominator is 0 counts 0.",
    "present_or_predicted": "the true and predicted labels of the evaluated documents; 0 where a denominator is 0.",
}
_GODBOLE = "Godbole & Sarawagi 2004, section 5.2"
_MANNING = "Manning, Raghavan & Schütze 2008, section 13.6"


def _macro(name: str, title: str, function: Callable[..., by_label.MacroMean], over: Over, mean: str) -> Metric:
    """A macro average: the mean over the labels that `over` names."""
    return Metric(
        name,
        title,
        compute=lambda counts: function(counts.labels, over).value,
        greater_is_better=True,
        convention=f"{mean} over {_LABELS[over]}",
        source=_MANNING,
        over=over,
    )


_TABLE = (
    Metric(
        "micro-precision",
        "Micro precision",
        compute=lambda counts: by_label.micro_precision(counts.labels),
        greater_is_better=True,
        convention=_POOLED,
        source="Vilar, Castro & Sanchis 2004, eq. 26",
    ),
    Metric(
        "micro-recall",
        "Micro recall",
        compute=lambda counts: by_label.micro_recall(counts.labels),
        greater_is_better=True,
        convention=_POOLED,
        source="Vilar, Castro & Sanchis 2004, eq. 27",
    ),
    Metric(
        "micro-f1",
        "Micro F1",
        compute=lambda counts: by_label.micro_f1(counts.labels),
        greater_is_better=True,
        convention=_POOLED,
        source=_MANNING,
    ),
    _macro("macro-precision", "Macro precision", by_label.macro_precision, "all", "Mean of precision"),
    _macro("macro-recall", "Macro recall", by_label.macro_recall, "all", "Mean of recall"),
    _macro("macro-f1", "Macro F1", by_label.macro_f1, "all", "Mean of F1"),
    _macro("macro-f1-present", "Macro F1, labels present", by_label.macro_f1, "present", "Mean of F1"),
    _macro(
        "macro-f1-present-or-predicted",
        "Macro F1, labels present or predicted",
        by_label.macro_f1,
        "present_or_predicted",
        "Mean of F1",
    ),
    _macro(
        "macro-f1-of-means",
        "F1 of macro precision and recall",
        by_label.macro_f1_of_means,
        "all",
        "F1 of mean precision and mean recall",
    ),
    Metric(
        "label-accuracy",
        "Accuracy per label, mean",
        compute=lambda counts: by_label.pooled_accuracy(counts.labels),
        greater_is_better=True,
        convention="Share of right yes/no decisions over all documents and labels: 1 − Hamming loss.",
        source="Sebastiani 2002, section 7.1",
    ),
    Metric(
        "jaccard",
        "Jaccard index",
        compute=lambda counts: by_document.jaccard(counts.documents),
        greater_is_better=True,
        convention=_BOTH_EMPTY,
        source=_GODBOLE + ", there called accuracy",
    ),
    Metric(
        "sample-precision",
        "Precision per document",
        compute=lambda counts: by_document.sample_precision(counts.documents),
        greater_is_better=True,
        convention=_BOTH_EMPTY,
        source=_GODBOLE,
    ),
    Metric(
        "sample-recall",
        "Recall per document",
        compute=lambda counts: by_document.sample_recall(counts.documents),
        greater_is_better=True,
        convention=_BOTH_EMPTY,
        source=_GODBOLE,
    ),
    Metric(
        "sample-f1",
        "F1 per document",
        compute=lambda counts: by_document.sample_f1(counts.documents),
        greater_is_better=True,
        convention=_BOTH_EMPTY,
        source="Ueda & Saito 2002, section 4.1",
    ),
    Metric(
        "f1-of-means",
        "F1 of mean precision and recall per document",
        compute=lambda counts: by_document.f1_of_means(counts.documents),
        greater_is_better=True,
        convention="F1 of the means over documents of precision and recall; each of them 1 where both sets are empty.",
        source=_GODBOLE + ", as printed",
    ),
    Metric(
        "exact-match",
        "Exact match",
        compute=lambda counts: by_document.exact_match(counts.documents),
        greater_is_better=True,
        convention="Share of documents whose set is exactly right, empty sets included; the accuracy of single labels.",
        source="Vilar, Castro & Sanchis 2004",
    ),
    Metric(
        "zero-one-loss",
        "0/1 loss",
        compute=lambda counts: by_document.zero_one_loss(counts.documents),
        greater_is_better=False,
        convention="Share of documents whose set is not exactly right: 1 − exact match.",
        source="Vilar, Castro & Sanchis 2004",
    ),
    Metric(
        "hamming-loss",
        "Hamming loss",
        compute=lambda counts: by_document.hamming_loss(counts.documents),
        greater_is_better=False,
        convention="Share of wrong cells of the documents × labels table, all labels counted.",
        source="Schapire & Singer 2000; Lee 2018",
    ),
    Metric(
        "all-negative-share",
        "Documents with nothing predicted",
        compute=lambda counts: by_document.all_negative_share(counts.documents),
        greater_is_better=None,
        convention="Share of all documents, labelled or not.",
        source="Godbole & Sarawagi 2004, section 5.5",
    ),
    Metric(
        "true-cardinality",
        "True labels per document",
        compute=lambda counts: by_document.true_cardinality(counts.documents),
        greater_is_better=None,
        convention="Mean over all documents, unlabelled ones included.",
        source="Tsoumakas & Katakis 2007",
    ),
    Metric(
        "predicted-cardinality",
        "Predicted labels per document",
        compute=lambda counts: by_document.predicted_cardinality(counts.documents),
        greater_is_better=None,
        convention="Mean over all documents, those with nothing predicted included.",
        source="Tsoumakas & Katakis 2007",
    ),
)

METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _TABLE}


SAME_AS = {"accuracy": "exact-match", "f1_micro": "micro-f1", "f1_macro": "macro-f1", "f1_samples": "sample-f1"}
"""What some metrics are called in scikit-learn."""


def metric_hint(name: str) -> str:
    """A sentence on the metric that a name of scikit-learn stands for; empty for other names.

    >>> metric_hint("accuracy")
    "scikit-learn's accuracy of label sets is 'exact-match' here."
    """
    if name.lower() in ("f1", "f1-score", "f1_score"):
        return "Name the average: 'micro-f1', 'macro-f1' or 'sample-f1'."
    return f"scikit-learn's {name} of label sets is {SAME_AS[name]!r} here." if name in SAME_AS else ""


def find_metric(name: str) -> Metric:
    """The metric with this name; the error for an unknown name suggests the nearest.

    >>> find_metric("micro-f")
    Traceback (most recent call last):
    ...
    manylabel.exceptions.UnknownNameError: Unknown metric: 'micro-f'. Did you mean 'micro-f1'? Known: ...
    """
    if name not in METRICS:
        if name in RANKING_METRICS or name.startswith("recall@"):
            hint = "It is about the order of labels, which compute_ranking_metrics reads from scores."
            raise UnknownNameError("metric of label sets", name, METRICS, hint)
        raise UnknownNameError("metric", name, METRICS, metric_hint(name))
    return METRICS[name]


def count_all(Y_true: LabelMatrix, Y_pred: LabelMatrix) -> Counts:
    """The label counts and document counts of predicted label sets."""
    return Counts(label_counts(Y_true, Y_pred), document_counts(Y_true, Y_pred))


def metrics_of_counts(counts: Counts, names: Iterable[str] | None = None) -> dict[str, float]:
    """The named metrics (default: all), computed from counts, for example of several batches."""
    wanted = METRICS if names is None else names_given("names", names)
    return {name: find_metric(name).compute(counts) for name in wanted}


def compute_metrics(Y_true: LabelMatrix, Y_pred: LabelMatrix, names: Iterable[str] | None = None) -> dict[str, float]:
    """The named metrics (default: all) of predicted label sets.

    >>> compute_metrics([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 1]], ["jaccard", "exact-match"])
    {'jaccard': 0.5, 'exact-match': 0.0}
    """
    return metrics_of_counts(count_all(Y_true, Y_pred), names)


def conventions() -> dict[str, str]:
    """How each metric treats empty sets, zero denominators and absent labels, in words.

    >>> conventions()["zero-one-loss"]
    'Share of documents whose set is not exactly right: 1 − exact match.'
    """
    return {name: metric.convention for name, metric in METRICS.items()}
