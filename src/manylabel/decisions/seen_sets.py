"""The best of the label sets seen in training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.decisions.base import FALLBACK, DecisionRule
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.decisions.threshold_search import ThresholdSearch
from manylabel.estimator import Csr, Floats
from manylabel.kernels.canonical import canonical
from manylabel.models.base import row_batches
from manylabel.models.exported import Form
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import FLAG, Constraint, Number, OneOf
from manylabel.stored import Matrix, Part, Stored, reals
from manylabel.strategies.label_powerset import set_classes

BATCH_MEMORY = 8 << 20
"""Bytes the tables of a batch of documents may take: few enough to stay near the processor."""

SetMetric = Literal["sample-f1", "exact-match", "hamming-loss"]


class SeenSets(DecisionRule):
    """One of the label sets seen in training: the most probable one, or the one of greatest expected F1.

    P(T|x) ∝ Π_{k∈T} p_k(x) Π_{k∉T} (1 − p_k(x)) · [ P(T) / (Π_{k∈T} π_k Π_{k∉T} (1 − π_k)) ]^dependence

    over the sets T seen in training. p_k(x) is the probability of label k by itself, calibrated on out-of-fold scores
    (`Calibration`, with `curve` and `shrinkage`). The second factor is how much more often the set occurs than its
    labels would meet by chance: P(T) is its share of the training documents, π_k = (n_k + ½)/(N + 1). With `dependence`
    1 this is Bayes' rule for scores that are independent given the labels; on real scores about half of it was
    best. 0 leaves the independent probabilities, renormalised over the seen sets.

    ``metric="exact-match"``    the most probable set: the best guess at the whole set
    ``metric="sample-f1"``       the seen set S of the greatest Σ_T P(T|x) 2|S∩T|/(|S| + |T|): the best F1 per document
    ``metric="hamming-loss"``  the seen set S of the least Σ_T P(T|x) |S△T|: the fewest wrong labels

    Sets in fewer than `min_count` documents are left out. The empty set is one like any other where training has
    documents without a label, unless `allow_empty` is off. Ties go to the set seen more often, then to the one seen
    first. A set with an impossible label is impossible; where all sets are, no label is predicted.

    Costs grow with the number of seen sets and their lengths, not with pairs of sets: the expectation needs T only
    through its length and labels (the grouping of Dembczyński, Waegeman, Cheng & Hüllermeier 2011, `SetTable`).

    Source: only label sets seen in training are predicted, Vilar, Castro & Sanchis 2004, section 2; the rest is ours.

    >>> scores = np.array([[2.0, 1.0, -3.0], [1.0, -0.2, -2.0], [-2.0, -1.0, 2.0], [1.5, 0.4, -1.0], [-1.0, -2.0, 1.0]])
    >>> rule = SeenSets().fit(scores, Csr([[1, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 1]]), ScoreKind.MARGIN)
    >>> rule.sets_.toarray().tolist()
    [[1, 1, 0], [0, 0, 1]]
    >>> rule.decide(np.array([[1.0, -0.5, -1.0]]), ScoreKind.MARGIN).toarray().tolist()
    [[1, 1, 0]]
    """

    weighs_seen_sets = True
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "metric": OneOf("sample-f1", "exact-match", "hamming-loss"),
        "dependence": Number(low=0),
        "curve": OneOf("logistic", "isotonic"),
        "shrinkage": Number(low=0),
        "min_count": Number(low=1, whole=True),
        "allow_empty": FLAG,
        "fallback": FALLBACK,
    }
    sets_: Csr
    """Sets × labels, the most frequent first."""
    log_dependence_: Floats
    """The logarithm of the second factor of each set, up to a constant."""
    calibration_: Calibration
    _table: SetTable | None = None

    learned: ClassVar[Mapping[str, Stored]] = {
        "sets_": Matrix("sets", "labels", ("i1",)),
        "log_dependence_": reals("sets"),
        "calibration_": Part(Calibration, "labels"),
    }

    def __init__(
        self,
        metric: SetMetric = "sample-f1",
        dependence: float = 0.5,
        curve: Literal["logistic", "isotonic"] = "logistic",
        shrinkage: float = 0.0,
        min_count: int = 1,
        allow_empty: bool = True,
        fallback: Literal["none", "argmax"] = "none",
    ) -> None:
        self.metric: SetMetric = metric
        self.dependence = dependence
        self.curve: Literal["logistic", "isotonic"] = curve
        self.shrinkage = shrinkage
        self.min_count = min_count
        self.allow_empty = allow_empty
        self.fallback = fallback

    @property
    def learns(self) -> bool:
        """True: this rule needs out-of-fold scores."""
        return True

    @property
    def decides_apart(self) -> bool:
        """False: no label set seen in training has a label that is added."""
        return False

    @property
    def takes_fallback(self) -> bool:
        """False: the empty set is one of the sets to choose from."""
        return False

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Calibrate every label, and count the label sets."""
        self.learn_from(ThresholdSearch(scores, Y, kind))

    def learn_from(self, search: ThresholdSearch) -> Self:
        """Take the curves from a search that rules share, and count the label sets."""
        Y_true = canonical(search.Y, np.int8, keep_zeros=False)
        _, classes, sets = set_classes(Y_true, self.min_count, "drop", self.allow_empty)
        counts = np.bincount(classes, minlength=sets.shape[0])
        order = np.argsort(-counts, kind="stable")
        self.sets_ = Csr(sets[order])
        prior = (np.bincount(Y_true.indices, minlength=Y_true.shape[1]) + 0.5) / (Y_true.shape[0] + 1)
        by_chance = self.sets_ @ (np.log(prior) - np.log1p(-prior))
        self.log_dependence_ = np.asarray(self.dependence * (np.log(counts[order]) - by_chance), dtype=np.float64)
        self.calibration_ = search.calibration(self.curve, self.shrinkage)
        self._table = None
        return self

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """The best seen set of each document."""
        chosen = np.zeros(scores.shape, dtype=np.bool_)
        for rows, log_weights in self._in_batches(scores, kind):
            best, some = self._sets().best(log_weights, self.metric)
            chosen[rows] = (self.sets_[best].toarray() > 0) & some[:, np.newaxis]
        return chosen

    def set_probabilities(self, scores: Floats, kind: ScoreKind) -> Floats:
        """P(T|x), documents × seen sets; rows sum to 1, or to 0 where no set is possible."""
        self.check_kind(kind)
        self.check_fitted()
        found = np.zeros((len(scores), self.sets_.shape[0]))
        for rows, log_weights in self._in_batches(np.asarray(scores, dtype=np.float64), kind):
            weights = self._sets().weights(log_weights)
            total = weights.sum(axis=0)
            found[rows] = (weights / np.where(total > 0, total, 1.0)).T
        return found

    def exported(self, n_labels: int, kind: ScoreKind) -> Form | None:
        """The sets, the most frequent first, and the curves of the labels; None for isotonic curves."""
        curves = self.calibration_.exported()
        if curves is None:
            return None
        return {
            "rule": "seen-sets",
            "metric": self.metric,
            "sets": self.sets_.astype(np.float64),
            "log_dependence": self.log_dependence_,
            "curves": curves,
        }

    def _in_batches(self, scores: Floats, kind: ScoreKind) -> Iterator[tuple[slice, Floats]]:
        """The log P(T|x), up to a constant of each document: seen sets × documents, some documents at a time.

        Summing log-odds over the labels of a set does it: all Π (1 − p_k) have in common what is left of them.
        """
        if not self.sets_.shape[0]:
            return
        for rows in row_batches(len(scores), self._sets().cells_per_document, BATCH_MEMORY):
            log_odds = self.calibration_.log_odds(open_scores(scores[rows], kind))
            yield rows, self._sets().sums(np.ascontiguousarray(log_odds.T)) + self.log_dependence_[:, np.newaxis]

    def _sets(self) -> SetTable:
        if self._table is None:
            self._table = SetTable.of(self.sets_)
        return self._table


# ---- the table of label sets ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SizeGroup:
    """The sets of one length: their row numbers, sets × labels, and labels × sets."""

    size: int
    rows: npt.NDArray[np.intp]
    sets: Csr
    holders: Csr


@dataclass(frozen=True, slots=True)
class SetTable:
    """Label sets grouped by their length. Everything it computes is sets × documents.

    Each document is computed by itself, in the same order of additions whatever its neighbours: sparse products and
    cell-by-cell steps, no BLAS, no sums whose order depends on the shape.
    """

    sets: Csr
    groups: tuple[SizeGroup, ...]

    @classmethod
    def of(cls, sets: Csr) -> Self:
        """Group the rows of sets × labels."""
        counted = sets.astype(np.float64)
        sizes = np.diff(sets.indptr)
        groups = []
        for size in np.unique(sizes).tolist():
            rows = np.flatnonzero(sizes == size)
            own = Csr(counted[rows])
            groups.append(SizeGroup(int(size), rows, own, Csr(own.T)))
        return cls(counted, tuple(groups))

    @property
    def cells_per_document(self) -> int:
        """How many numbers the tables of one document hold, in thirds: what `row_batches` asks for."""
        return self.sets.shape[0] + (2 * len(self.groups) + 2) * self.sets.shape[1] // 3

    def sums(self, values: Floats) -> Floats:
        """Σ_{k∈T} of values, labels × documents."""
        return np.asarray(self.sets @ values)

    def weights(self, log_weights: Floats) -> Floats:
        """e^w, the greatest of each document being 1; 0 throughout where all are −∞."""
        highest = log_weights.max(axis=0, initial=-np.inf)
        return np.exp(log_weights - np.where(np.isneginf(highest), 0.0, highest))

    def best(self, log_weights: Floats, metric: SetMetric) -> tuple[npt.NDArray[np.intp], Bools]:
        """The first best set of each document, and whether any set is possible there."""
        possible = ~np.isneginf(log_weights.max(axis=0, initial=-np.inf))
        if metric == "exact-match":
            return log_weights.argmax(axis=0), possible
        weights = self.weights(log_weights)
        values = self.expected_f1(weights) if metric == "sample-f1" else self.expected_agreement(weights)
        # An impossible set can have some F1 with the possible ones, but must not be chosen.
        return np.where(np.isneginf(log_weights), -np.inf, values).argmax(axis=0), possible

    def expected_f1(self, weights: Floats) -> Floats:
        """Σ_T w_T 2|S∩T|/(|S| + |T|) for each set S, 1 in place of the fraction where both are empty.

        With W_s[k] = Σ w_T over the sets T of length s that hold k, it is Σ_{k∈S} Σ_s 2/(|S| + s) W_s[k]. Source: the
        matrix Δ of Dembczyński, Waegeman, Cheng & Hüllermeier 2011.

        >>> table = SetTable.of(Csr([[1, 1, 0], [1, 0, 0], [0, 0, 1]]))
        >>> table.expected_f1(np.array([[0.5], [0.3], [0.2]])).ravel().round(4).tolist()
        [0.7, 0.6333, 0.2]
        """
        found = np.empty_like(weights)
        some = [group for group in self.groups if group.size]
        sizes = np.array([group.size for group in some])[:, np.newaxis, np.newaxis]
        holding = np.empty((len(some), self.sets.shape[1], weights.shape[1]))
        for number, group in enumerate(some):
            holding[number] = group.holders @ weights[group.rows]
        for group in some:
            found[group.rows] = group.sets @ (holding * (2.0 / (group.size + sizes))).sum(axis=0)
        for empty in (group for group in self.groups if not group.size):
            found[empty.rows] = weights[empty.rows]
        return found

    def expected_agreement(self, weights: Floats) -> Floats:
        """Σ_{k∈S} Σ_T w_T (2 [k∈T] − 1) for each set S: greatest where Σ_T w_T |S△T| is least.

        >>> table = SetTable.of(Csr([[1, 1, 0], [1, 0, 0], [0, 0, 1]]))
        >>> table.expected_agreement(np.array([[0.5], [0.375], [0.125]])).ravel().tolist()
        [0.75, 0.75, -0.75]
        """
        total = Csr(np.ones((1, self.sets.shape[0]))) @ weights
        held = Csr(self.sets.T) @ weights
        return np.asarray(self.sets @ (2.0 * held - total))
