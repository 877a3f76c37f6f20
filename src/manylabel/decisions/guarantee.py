"""Label sets with a guarantee: a recall, or a false-discovery rate, that holds on new documents of the same kind.

The threshold comes from conformal risk control. A family of label sets S_t = { k : key_k ≥ t } grows as the threshold t
falls. Each of n held-out documents has a loss L_i(t) from 0 to 1 that is monotone in t. The threshold is the last one
on the way to the preferred end (small sets for a guaranteed recall, large ones for a guaranteed false-discovery rate)
with

    (n R̂(t) + 1) / (n + 1) ≤ α,      R̂(t) = (1/n) Σ_i L_i(t),

and then the expected loss of one more document is at most α, however good the scores are, if that document and the
held-out ones are exchangeable.

Source: Angelopoulos, Bates, Fisch, Lei & Schuster 2022 (Conformal Risk Control), theorem 1, with B = 1; losses that are
not monotone are replaced by their supremum over stricter thresholds, as they propose for such losses.

The sets of the held-out documents stay the same between two keys they attain. The threshold lies in the middle between
the key found and the next lower one, so that rounding decides nothing. For the recall this is to the safe side; for the
false-discovery rate every threshold above the next lower key is within the bound of the theorem.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from manylabel.decisions.base import FALLBACK, DecisionRule, floor, possible
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.decisions.candidates import dense_candidates, pooled_candidates
from manylabel.estimator import Csr, Floats, rows_of_cells
from manylabel.exceptions import DecisionError, ParameterError
from manylabel.models.base import WORKING_MEMORY, row_batches
from manylabel.models.label_thresholds import clear_threshold
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import Constraint, Number, OneOf
from manylabel.stored import Part, Scalar, Stored, total

GuaranteedMetric = Literal["recall", "fdr"]


@dataclass(frozen=True, slots=True)
class GuaranteeRecord:
    """A guarantee and what it rests on: the mean loss of held-out documents, and the bound that follows from it.

    ``recall``: the mean share of its true labels that a new document with a label gets is at least `level`.
    ``fdr``: the mean share of wrong labels among the predicted labels of a new document is at most `level`.
    """

    metric: GuaranteedMetric
    level: float
    documents: int
    """The held-out documents it rests on; for the recall, those with a label."""
    threshold: float
    risk: float
    """The mean loss of these documents: 1 − recall, or the false-discovery rate (for which see the rule)."""
    bound: float
    """(n · risk + 1)/(n + 1): what the loss of a new document is expected to be at most."""

    def as_dict(self) -> dict[str, Any]:
        """The guarantee as plain data."""
        return asdict(self)


class Guarantee(DecisionRule):
    """The smallest label sets of a family that keep a guarantee: { k : key_k ≥ threshold }.

    ``metric="recall"``    E |S∩T|/|T| ≥ level           over documents with a label; those without are no part of it
    ``metric="fdr"``       E |S∖T|/max(|S|, 1) ≤ level   over all documents

    The threshold comes from conformal risk control on documents that neither the model nor the probabilities have seen.
    The guarantee holds for the mean over new documents, drawn as the training documents were, and over the draw of the
    held-out ones. It assumes nothing of the model, whose quality only decides how large the sets are. So a share of the
    training documents is held out (`share`, drawn at random) and the model is not fitted again on everything: a model
    that has seen the held-out documents scores them differently, which would void the guarantee. They are drawn without
    regard to labels: stratifying would keep labels of a single document out of the held-out documents and so make them
    easier than new documents.

    The keys come from the labels' probabilities p_k, calibrated (`curve`, `shrinkage`: see `Calibration`) on
    out-of-fold scores of the documents that were not held out:

    recall    key_k = p_k / (1 + Σ_{j≠k} p_j), about what predicting the label adds to the expected recall, P(k∈T)
              E[1/|T| | k∈T]: a threshold on it makes the smallest sets of a given recall
    fdr       key_k = p_k

    docs/guarantees.md compares other keys. With ``fallback="argmax"`` (recall only) a document without a label gets the
    one of the highest key; the threshold takes that into account.

    Source: Angelopoulos, Bates, Fisch, Lei & Schuster 2022; the keys are ours. Deviation: where even the largest sets
    miss the level, which the theorem excludes (labels never seen in training are never predicted), fitting fails.

    >>> scores = np.array([[2.0, -2.0], [-1.0, 1.5], [1.0, 0.5], [-2.0, -1.0], [1.0, -1.0], [-1.0, 2.0]])
    >>> Y_true = Csr([[1, 0], [0, 1], [1, 1], [0, 1], [1, 0], [0, 1]])
    >>> rule = Guarantee("recall", 0.7).prepare(scores, Y_true, ScoreKind.MARGIN).fit(scores, Y_true, ScoreKind.MARGIN)
    >>> rule.guarantee().documents, round(rule.guarantee().bound, 3)
    (6, 0.286)
    >>> rule.decide(np.array([[0.5, -3.0]]), ScoreKind.MARGIN).toarray().tolist()
    [[1, 0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "metric": OneOf("recall", "fdr"),
        "level": Number(low=0, high=1, open_low=True, open_high=True),
        "share": Number(low=0, high=1, open_low=True, open_high=True),
        "curve": OneOf("logistic", "isotonic"),
        "shrinkage": Number(low=0),
        "fallback": FALLBACK,
    }
    calibration_: Calibration
    threshold_: float
    risk_: float
    bound_: float
    n_documents_: int

    learned: ClassVar[Mapping[str, Stored]] = {
        "calibration_": Part(Calibration, "labels"),
        "threshold_": Scalar(),
        "risk_": Scalar(),
        "bound_": Scalar(),
        "n_documents_": total(),
    }

    def __init__(
        self,
        metric: GuaranteedMetric = "recall",
        level: float = 0.9,
        share: float = 0.2,
        curve: Literal["logistic", "isotonic"] = "logistic",
        shrinkage: float = 1.0,
        fallback: Literal["none", "argmax"] = "none",
    ) -> None:
        self.metric: GuaranteedMetric = metric
        self.level = level
        self.share = share
        self.curve: Literal["logistic", "isotonic"] = curve
        self.shrinkage = shrinkage
        self.fallback = fallback

    def check_parameters(self) -> None:
        """Check each setting by itself, and refuse a forced label where wrong labels are bounded."""
        super().check_parameters()
        if self.metric == "fdr" and self.fallback == "argmax":
            raise ParameterError(
                "Guarantee: a label forced on every document (fallback='argmax') does not go with a guaranteed "
                "false-discovery rate. Leave fallback at 'none'."
            )

    @property
    def learns(self) -> bool:
        """True: this rule needs held-out scores."""
        return True

    @property
    def held_out_share(self) -> float:
        """The share of the training documents that the model must not see."""
        return self.share

    def prepare(self, scores: Floats, Y: Csr, kind: ScoreKind) -> Self:
        """Learn the labels' probabilities from out-of-fold scores of documents that are not held out."""
        self.check_parameters()
        self.check_kind(kind)
        self.calibration_ = Calibration(self.curve, self.shrinkage).fit(open_scores(scores, kind), Y)
        return self

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Find the threshold on held-out documents."""
        if not self.is_fitted:
            raise DecisionError("Guarantee: call prepare with out-of-fold scores before fit with held-out ones.")
        self._learn_threshold(self.keys(scores, kind), Y)

    @property
    def learns_candidates(self) -> bool:
        """True: once keys are computed, the threshold does not depend on which label a key belongs to."""
        return True

    def fit_candidates(self, scores: Csr, Y: Csr, kind: ScoreKind) -> Self:
        """Find the threshold on the candidates of held-out documents; keys are computed in batches of documents."""
        self.check_parameters()
        self.check_kind(kind)
        keys = Csr((np.empty(scores.nnz), scores.indices, scores.indptr), shape=scores.shape)
        for rows in row_batches(*scores.shape, WORKING_MEMORY):
            batch = Csr(scores[rows])
            cells = slice(scores.indptr[rows.start], scores.indptr[rows.stop])
            keys.data[cells] = self.keys(dense_candidates(batch, floor(kind)), kind)[
                rows_of_cells(batch), batch.indices
            ]
        self._learn_threshold(*pooled_candidates(keys, Y, -math.inf))
        return self

    def _learn_threshold(self, keys: Floats, Y: Csr) -> None:
        """Find the threshold on the keys of held-out documents, documents × labels or × candidates."""
        Y_true = Y.toarray().astype(np.bool_)
        if self.metric == "recall":
            rows = Y_true.any(axis=1)
            keys, Y_true = keys[rows], Y_true[rows]
        alpha = 1 - self.level if self.metric == "recall" else self.level
        found = (recall_threshold if self.metric == "recall" else false_discovery_threshold)(keys, Y_true, alpha)
        if not len(keys) or found.bound - 1e-12 > alpha or (self.metric == "fdr" and math.isinf(found.threshold)):
            raise DecisionError(self._refusal(found, len(keys)))
        self.n_documents_ = len(keys)
        self.threshold_, self.risk_, self.bound_ = found.threshold, found.risk, found.bound

    def keys(self, scores: Floats, kind: ScoreKind) -> Floats:
        """What is compared with the threshold, documents × labels: −∞ for impossible labels, +∞ for the fallback's."""
        p = np.ascontiguousarray(self.calibration_.transform(open_scores(scores, kind)))
        keys = p / (1 + p.sum(axis=1, keepdims=True) - p) if self.metric == "recall" else p
        keys = np.where(possible(scores, kind), keys, -math.inf)
        if self.fallback == "argmax" and keys.size:
            rows, best = np.arange(len(keys)), keys.argmax(axis=1)
            keys[rows, best] = np.where(np.isneginf(keys[rows, best]), -math.inf, math.inf)
        return keys

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """Key ≥ threshold."""
        return np.asarray(self.keys(scores, kind) >= self.threshold_)

    def guarantee(self) -> GuaranteeRecord:
        """The guarantee, and the figures it rests on."""
        self.check_fitted()
        return GuaranteeRecord(self.metric, self.level, self.n_documents_, self.threshold_, self.risk_, self.bound_)

    def _refusal(self, found: ControlledThreshold, documents: int) -> str:
        whose = "documents with a label" if self.metric == "recall" else "documents"
        asked = f"{self.metric}={self.level:g}"
        if not documents:
            return (
                f"{asked} cannot be guaranteed: there are no held-out {whose}. Give more documents or a larger share."
            )
        if self.metric == "recall":
            best = math.floor(1000 * max(0.0, 1 - found.bound)) / 1000
            reach = f"giving every label that training has seen to {documents} held-out {whose} allows at most {best:g}"
        else:
            least = math.ceil(1000 * min(1.0, 2 / (documents + 1))) / 1000
            reach = f"{documents} held-out {whose} allow no less than about {least:g}"
        return f"{asked} cannot be guaranteed: {reach}. Ask for that, give more documents, or hold out a larger share."


# ---- conformal risk control ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ControlledThreshold:
    """A threshold, the mean loss of the held-out documents there, and the bound (n R̂ + 1)/(n + 1) it gives."""

    threshold: float
    risk: float
    bound: float


def bound_of(risk: float, documents: int) -> float:
    """(n R̂ + B) / (n + 1) with B = 1, the greatest loss there is.

    >>> bound_of(0.25, 4)
    0.4
    """
    return (documents * risk + 1) / (documents + 1)


def recall_threshold(keys: Floats, Y_true: Bools, alpha: float) -> ControlledThreshold:
    """The highest threshold at which 1 − |S∩T|/|T|, the missed share of a document's labels, is bounded by α.

    Documents without a label have no recall and must be left out by the caller. Labels with a key of −∞ are never
    predicted. Where no threshold keeps the bound, the lowest one is returned, its bound above α.

    >>> keys = np.array([[0.9, 0.5], [0.8, 0.1], [0.7, 0.2]])
    >>> Y_true = np.array([[True, True], [True, False], [False, True]])
    >>> found = recall_threshold(keys, Y_true, alpha=0.6)      # at 0.5: (3 · 1/3 + 1)/4
    >>> round(found.threshold, 3), round(found.risk, 3), found.bound
    (0.35, 0.333, 0.5)
    """
    rows, columns = np.nonzero(Y_true & (keys > -math.inf))
    shares = 1 / Y_true.sum(axis=1)[rows]
    levels, missed = _running(keys[rows, columns], -shares / len(keys), 1.0)
    fine = np.flatnonzero(_bounds(missed, len(keys)) <= alpha)
    return _at(int(fine[0]) if len(fine) else len(levels) - 1, levels, missed, 1.0, keys)


def false_discovery_threshold(keys: Floats, Y_true: Bools, alpha: float) -> ControlledThreshold:
    """The lowest threshold at which |S∖T|/max(|S|, 1), the wrong share of the predicted labels, is bounded by α.

    The share falls and rises as labels are added, so that each document counts with the greatest share it had at this
    or any higher threshold: conservative, and monotone. Where no threshold keeps the bound it is +∞: no labels.

    >>> keys = np.array([[0.9, 0.5], [0.8, 0.1], [0.7, 0.2]])
    >>> Y_true = np.array([[True, True], [True, False], [False, True]])
    >>> found = false_discovery_threshold(keys, Y_true, alpha=0.5)      # 0.7 is wrong, and counts 1 from there on
    >>> round(found.threshold, 3), round(found.risk, 3), found.bound
    (0.15, 0.333, 0.5)
    """
    order = np.argsort(-keys, axis=1, kind="stable")
    ranked, wrong = np.take_along_axis(keys, order, 1), ~np.take_along_axis(Y_true, order, 1)
    shares = np.cumsum(wrong, axis=1) / np.arange(1, keys.shape[1] + 1)
    # Labels of one key come together: only the share after the last of them is that of a set of the family.
    shares[:, :-1][ranked[:, :-1] == ranked[:, 1:]] = 0
    rises = np.diff(np.maximum.accumulate(shares, axis=1), axis=1, prepend=0)
    allowed = ranked > -math.inf
    levels, risks = _running(ranked[allowed], rises[allowed] / len(keys), 0.0)
    fine = np.flatnonzero(_bounds(risks, len(keys)) <= alpha)
    return _at(int(fine[-1]) if len(fine) else -1, levels, risks, 0.0, keys)


def _running(keys: Floats, steps: Floats, start: float) -> tuple[Floats, Floats]:
    """The distinct keys, highest first, and the risk at each: where it starts, and all steps so far."""
    order = np.argsort(-keys, kind="stable")
    ordered = keys[order]
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(ordered) else np.zeros(0, dtype=np.intp)
    return ordered[last], np.clip(start + np.cumsum(steps[order])[last], 0.0, 1.0)


def _bounds(risks: Floats, documents: int) -> Floats:
    """The bound at each risk, minus 1e-12, so that sums that equal α in exact arithmetic are within it."""
    return (documents * risks + 1) / (documents + 1) - 1e-12


def _at(number: int, levels: Floats, risks: Floats, nothing: float, keys: Floats) -> ControlledThreshold:
    """The threshold below one of the attained keys, or above them all (−1)."""
    if number < 0:
        return ControlledThreshold(math.inf, nothing, bound_of(nothing, len(keys)))
    risk = float(risks[number])
    return ControlledThreshold(clear_threshold(keys, float(levels[number])), risk, bound_of(risk, len(keys)))
