"""Analyses of a classifier's predictions and scores beyond metrics: what the tables and figures of the papers show.

set sizes                |S| predicted labels by |T| true labels (Godbole & Sarawagi 2004, Fig. 4)
contingency per label    tp, fp, fn, tn and accuracy (the lecture, Table II)
curves                   precision–recall and ROC curves with their areas, per label, micro and macro
threshold sweep          precision, recall and 0/1 loss by threshold (Vilar, Castro & Sanchis 2004, Fig. 1 and 2)
document ranking         the documents of each label, best score first (the lecture, document-ranking classification)
threshold curves         labels predicted and right at each threshold, of each label and of one common to all
reliability              probabilities against shares of true labels
mistakes                 labels taken for others, and the single mistakes that are worst
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from manylabel.data.labels import stack
from manylabel.decisions.base import DecisionRule, floor
from manylabel.decisions.model_with_rule import ModelWithRule
from manylabel.estimator import Csr, Floats, Ints
from manylabel.evaluation.expected import ExpectedQuality, expected_quality
from manylabel.evaluation.mistakes import Confusion, Mistake, WorstMistakes, confusions
from manylabel.evaluation.reliability import Reliability
from manylabel.evaluation.threshold_curves import (
    ThresholdCurve,
    common_threshold_curve,
    label_threshold_curves,
    with_areas,
)
from manylabel.metrics.counts import DocumentCounts, LabelCounts, document_counts, label_counts
from manylabel.metrics.curves import CurveRecord, LabelCurves, label_curves
from manylabel.metrics.document_metrics import set_size_counts
from manylabel.metrics.ranks import document_ranking
from manylabel.metrics.sweeps import ThresholdSweep, decision_sweep, threshold_sweep
from manylabel.models.score_kinds import ScoreKind, display

PROBABILITIES = (0.001, *(step / 100 for step in range(1, 100)), 0.999)
"""The thresholds of a sweep over probabilities."""
STEPS = 101
"""The number of thresholds of a sweep over other scores."""
MOST_CELLS = 1 << 25
"""Scores kept for curves and rankings (256 MB); where there are more, only the most frequent labels have curves."""
MOST_POINTS = 500
"""The number of points of a curve, for drawing."""
RANKED, RANKED_IN_ALL = 1000, 500_000
"""How many documents the ranking of a label lists, and those of all labels together (at least 20 each)."""
LARGEST_SET = 9
"""Larger label sets are always counted together."""


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document in the ranking of a label."""

    id: str
    score: float
    true: bool
    predicted: bool


@dataclass(frozen=True, slots=True)
class LabelRanking:
    """The first documents of one label, best score first, and the share of right ones among them.

    `r_precision` is the precision among the first R documents, R being the number of documents with the label (Manning,
    Raghavan & Schütze 2008, section 8.4). None where it is undefined: without such documents, and for a label that
    training never saw, which has no scores.
    """

    label: str
    documents: list[RankedDocument]
    precision_at_10: float | None
    r_precision: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """The analyses of one classifier on one set of documents."""

    method: str
    label_names: list[str]
    shows_probabilities: bool
    """Whether scores and thresholds are probabilities."""
    set_sizes: Ints
    """Documents by true (rows) and predicted (columns) set size 0, 1 … k and more than k."""
    counts: LabelCounts
    curves: LabelCurves
    """The labels whose scores were kept, those with most documents first."""
    rankings: list[LabelRanking]
    """In the order of `curves.labels`."""
    swept: str
    """What the threshold of the sweep is compared with."""
    sweeps: dict[str, ThresholdSweep]
    """Over ``all`` documents and, where some have no label, over the ``labelled`` ones."""
    common: ThresholdCurve | None
    """The curve of one threshold common to all labels; None where the rule compares it with no single scores."""
    threshold_curves: list[ThresholdCurve]
    """The curves of the most frequent labels."""
    reliability: Reliability | None
    """None where scores are not probabilities of single labels."""
    confusions: tuple[Confusion, ...]
    mistakes: list[Mistake]
    quality: ExpectedQuality
    """Micro F1, macro F1 and exact match with 95 % intervals over documents."""

    @property
    def areas(self) -> dict[str, CurveRecord]:
        """The curves of each label that has some, by name."""
        return {curve.name: curve for curve in self.curves.labels}


class AnalysisBuilder:
    """Collects predictions and scores batch by batch, for `evaluate`, and computes the analyses at the end."""

    def __init__(self, decided: ModelWithRule, *, most_cells: int = MOST_CELLS) -> None:
        self.decided = decided
        self.most_cells = most_cells
        self.names: list[str] = []
        self.Y_true = Csr((0, 0))
        self.kept: Ints = np.zeros(0, dtype=np.int64)
        self.predicted: list[Csr] = []
        self.scores: list[Floats] = []
        self.thresholds: Floats | None = None
        self.sweeps: dict[str, ThresholdSweep] = {}
        self.reliability: Reliability | None = None
        self.mistakes = WorstMistakes([])

    def begin(self, label_names: Sequence[str], Y_true: Csr) -> None:
        """Choose the labels whose scores are kept: the most frequent ones, as many as `most_cells` allow."""
        self.names, self.Y_true = list(label_names), Y_true
        self.mistakes = WorstMistakes(self.names)
        frequency = np.bincount(Y_true.indices, minlength=Y_true.shape[1])
        most = max(1, self.most_cells // max(Y_true.shape[0], 1))
        self.kept = np.argsort(-frequency, kind="stable")[:most]

    def add(self, Y_pred: Csr, scores: Floats) -> None:
        """Keep the predictions and scores of the next documents, and add their counts to the sweeps."""
        start = sum(batch.shape[0] for batch in self.predicted)
        Y_true = Csr(self.Y_true[start : start + Y_pred.shape[0]])
        unseen = ((0, 0), (0, Y_true.shape[1] - scores.shape[1]))
        shown = np.pad(self.decided.shown(scores), unseen, constant_values=-np.inf)
        # probabilities near 1 round to 1, so that log-odds keep the order of documents where they do not
        ordered = np.pad(scores, unseen, constant_values=-np.inf) if self.decided.calibration_ is None else shown
        self._judge(start, Y_true, stack([Y_pred], Y_true.shape[1]), shown)
        self.predicted.append(Y_pred)
        self.scores.append(ordered[:, self.kept])
        if self.thresholds is None:
            probabilities = self.decided.shows_probabilities or _accumulates(self.decided.rule_)
            self.thresholds = np.array(PROBABILITIES) if probabilities else spread_thresholds(shown, Y_true.nnz)
        rule, kind = self.decided.rule_, self.decided.score_kind
        if _accumulates(rule):
            shown = np.pad(scores, unseen, constant_values=floor(kind))
        found = sweep_parts(Y_true, shown, self.thresholds, rule, kind)
        self.sweeps = {part: self.sweeps[part] + one if self.sweeps else one for part, one in found.items()}

    def _judge(self, start: int, Y_true: Csr, Y_pred: Csr, shown: Floats) -> None:
        """Add the mistakes and, where scores are probabilities, the reliability of a batch."""
        self.mistakes.add(start, Y_true, Y_pred, shown)
        if self.decided.shows_probabilities:
            known = shown.shape[1] - int(np.isneginf(shown[:1]).sum())  # labels that training never saw come last
            new = Reliability.of(Csr(Y_true[:, :known]), shown[:, :known])
            self.reliability = new if self.reliability is None else self.reliability + new

    def finish(self, method: str, ids: Sequence[str]) -> Analysis:
        """The analyses of all documents; `ids` names them in rankings."""
        S = stack(self.predicted, len(self.names))
        scores = np.vstack(self.scores) if self.scores else np.zeros((0, len(self.kept)))
        T, kept_names = self.Y_true, [self.names[label] for label in self.kept.tolist()]
        of_kept = Csr(T[:, self.kept])
        sizes = document_counts(T, S)
        curves = _with_shown_thresholds(label_curves(of_kept, scores, kept_names, MOST_POINTS), self._show)
        by_threshold = label_threshold_curves(
            of_kept, Csr(S[:, self.kept]), scores, kept_names, self._own(self.kept.tolist()), self._show
        )
        return Analysis(
            method=method,
            label_names=self.names,
            shows_probabilities=self.decided.shows_probabilities,
            set_sizes=set_size_counts(sizes, largest_set(sizes)),
            counts=label_counts(T, S),
            curves=curves,
            rankings=label_rankings(of_kept, Csr(S[:, self.kept]), scores, kept_names, ids, self._show),
            swept=self._swept(),
            sweeps=sweep_views(self.sweeps),
            common=next(iter(with_areas(self._common(T, S), curves)), None),
            threshold_curves=with_areas(by_threshold, curves),
            reliability=self.reliability,
            confusions=confusions(T, S, self.names),
            mistakes=self.mistakes.finish(),
            quality=expected_quality(T, S, ["macro-f1", "exact-match"]),
        )

    def _own(self, labels: Sequence[int]) -> list[float | None]:
        """The model's thresholds of some labels, in the units shown to users."""
        own = self.decided.thresholds()
        return [None if own is None or label >= len(own) else float(own[label]) for label in labels]

    def _common(self, T: Csr, S: Csr) -> list[ThresholdCurve]:
        """The curve of a common threshold, if there is one; the model's own is given where all labels have the same."""
        if not self.sweeps or _accumulates(self.decided.rule_):
            return []
        own = set(self._own(range(len(self.names)))) - {None}
        right = int(T.multiply(S).sum())
        every = sweep_views(self.sweeps)["all"]
        same = own.pop() if len(own) == 1 else None
        return [common_threshold_curve(every, len(self.names), right, int(S.nnz), same)]

    def _show(self, scores: Floats) -> Floats:
        """Kept scores in the units shown to users."""
        return display(scores, self.decided.score_kind) if self.decided.calibration_ is None else scores

    def _swept(self) -> str:
        if _accumulates(self.decided.rule_):
            return "accumulated posterior"
        return "probability of each label" if self.decided.shows_probabilities else "score of each label"


def largest_set(sizes: DocumentCounts) -> int:
    """The largest set size with a row of its own: that of 99 % of the documents, at least 3 where there are such.

    >>> largest_set(DocumentCounts(right=[0] * 200, true=[1] * 195 + [6] * 5, predicted=[2] * 200, labels=9))
    6
    >>> largest_set(DocumentCounts(right=[0] * 200, true=[1] * 199 + [6], predicted=[2] * 200, labels=9))
    3
    """
    most = int(np.quantile(sizes.true, 0.99, method="higher")) if len(sizes) else 1
    seen = int(max(sizes.true.max(initial=1), sizes.predicted.max(initial=1)))
    return min(LARGEST_SET, seen, max(3, most))


def _with_shown_thresholds(curves: LabelCurves, show: Callable[[Floats], Floats]) -> LabelCurves:
    """The curves with their thresholds in the units shown to users."""

    def shown(values: Sequence[float | None]) -> list[float | None]:
        converted = show(np.array([np.nan if value is None else value for value in values])).tolist()
        return [None if before is None else after for before, after in zip(values, converted, strict=True)]

    def changed(curve: CurveRecord) -> CurveRecord:
        return replace(curve, thresholds=shown(curve.thresholds), roc_thresholds=shown(curve.roc_thresholds))

    return LabelCurves([changed(curve) for curve in curves.labels], changed(curves.micro), changed(curves.macro))


def label_rankings(
    Y_true: Csr,
    Y_pred: Csr,
    scores: Floats,
    label_names: Sequence[str],
    ids: Sequence[str],
    show: Callable[[Floats], Floats] = np.asarray,
) -> list[LabelRanking]:
    """The documents of each label, best score first; equal scores in the order of the documents.

    `show` converts scores into the units shown to users.

    >>> Y_true, scores = Csr([[1], [0], [1]]), np.array([[0.2], [0.9], [0.7]])
    >>> found = label_rankings(Y_true, Csr([[0], [1], [1]]), scores, ["roads"], ["a", "b", "c"])[0]
    >>> [(one.id, one.true) for one in found.documents], found.r_precision
    ([('b', False), ('c', True), ('a', True)], 0.5)
    """
    order = document_ranking(scores)
    listed = max(20, min(RANKED, RANKED_IN_ALL // max(len(label_names), 1)))
    true, predicted = Y_true.tocsc(), Y_pred.tocsc()
    found = []
    for column, name in enumerate(label_names):
        has, gets = (_dense_column(matrix, column) for matrix in (true, predicted))
        rows = order[column] if np.isfinite(scores[:, column]).any() else np.zeros(0, dtype=np.int64)
        right, positives = has[rows], int(has.sum())
        first = rows[:listed]
        documents = [
            RankedDocument(str(ids[row]), score, bool(has[row]), bool(gets[row]))
            for row, score in zip(first.tolist(), show(scores[first, column]).tolist(), strict=True)
        ]
        found.append(LabelRanking(name, documents, _mean(right[:10]), _mean(right[:positives])))
    return found


def _mean(right: npt.NDArray[np.bool_]) -> float | None:
    return float(right.mean()) if len(right) else None


def spread_thresholds(scores: Floats, n_true: int) -> Floats:
    """Thresholds from one that few labels reach to one that about five times as many reach as are true.

    For scores that are not probabilities, whose scale is not known in advance.

    >>> spread_thresholds(np.array([[3.0, 1.0], [0.5, -1.0]]), 1)[[0, -1]].tolist()
    [-1.0, 3.0]
    """
    ordered = -np.sort(-scores[np.isfinite(scores)], axis=None)
    if not len(ordered):
        return np.zeros(1)
    last = len(ordered) - 1
    high, low = ordered[min(last, n_true // 50)], ordered[min(last, 5 * max(n_true, 1))]
    return np.unique([float(f"{value:.4g}") for value in np.linspace(low, high, STEPS)])


def sweep_parts(
    Y_true: Csr, scores: Floats, thresholds: npt.ArrayLike, rule: DecisionRule | None, kind: ScoreKind
) -> dict[str, ThresholdSweep]:
    """The sweeps of documents with and without a true label; the sum of both is that of all documents.

    A `rule` whose threshold is not compared with single scores, such as `AccumulatedPosterior`, decides at each
    threshold from scores of a `kind`; otherwise the labels whose score reaches the threshold are predicted.
    """
    has_label = np.diff(Y_true.indptr) > 0
    found = {}
    for part, rows in (("labelled", has_label), ("unlabelled", ~has_label)):
        true, swept = Csr(Y_true[np.flatnonzero(rows)]), scores[rows]

        def decide(threshold: float, swept: Floats = swept) -> Csr:
            fixed = None if rule is None else rule.at_threshold(threshold)
            assert fixed is not None
            return fixed.decide(swept, kind)

        found[part] = (
            decision_sweep(true, decide, thresholds) if _accumulates(rule) else threshold_sweep(true, swept, thresholds)
        )
    return found


def sweep_views(parts: Mapping[str, ThresholdSweep]) -> dict[str, ThresholdSweep]:
    """The sweeps of `sweep_parts` over all documents and, where some have no label, over the labelled ones."""
    if not parts:
        return {}
    every = parts["labelled"] + parts["unlabelled"]
    return {"all": every, "labelled": parts["labelled"]} if parts["unlabelled"].documents else {"all": every}


def _accumulates(rule: DecisionRule | None) -> bool:
    """Whether the rule has a sweep of its own: its threshold is not compared with single scores."""
    return rule is not None and rule.at_threshold(0.5) is not None


def _dense_column(matrix: object, column: int) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = matrix[:, [column]].toarray().reshape(-1).astype(np.bool_)  # type: ignore[index]
    return found
