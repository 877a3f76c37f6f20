"""Label sets with a guarantee: a recall, or a false-discovery rate, that holds on new documents of the same kind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal, Self

import numpy as np

from manylabel.decisions.base import FALLBACK, DecisionRule, possible
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.decisions.guarantee_record import GuaranteedMetric, GuaranteeRecord
from manylabel.decisions.risk_control import ControlledCut, false_discovery_cut, recall_cut
from manylabel.estimator import Csr, Floats
from manylabel.exceptions import DecisionError, ParameterError
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import Constraint, Number, OneOf


class Guarantee(DecisionRule):
    """The smallest label sets of a family that keep a guarantee: { k : key_k ≥ cut }.

    ``metric="recall"``    E |S∩T|/|T| ≥ level           over documents with a label; those without are no part of it
    ``metric="fdr"``       E |S∖T|/max(|S|, 1) ≤ level   over all documents

    The cut comes from conformal risk control on documents that neither the model nor the probabilities have seen: see
    `risk_control`. The guarantee is one of the mean over new documents, drawn as the training documents were, and over
    the draw of the held-out ones; it needs nothing of the model, whose quality only decides how large the sets are. So
    a share of the training documents is held out (`share`, drawn at random) and the model is not fitted again on
    everything: the scores of a model that knows the held-out documents would be others, and the guarantee void. They
    are drawn without regard to labels, for stratifying would keep labels of a single document out of the held-out
    documents and so make them easier than the documents to come.

    The keys come from the labels' probabilities p_k, calibrated (`curve`, `shrinkage`: see `Calibration`) on
    out-of-fold scores of the documents that were not held out:

    recall    key_k = p_k / (1 + Σ_{j≠k} p_j), about what giving the label adds to the expected recall, P(k∈T) E[1/|T|
              | k∈T]: cutting there makes the smallest sets of a given recall
    fdr       key_k = p_k

    docs/guarantees.md compares other keys. With ``fallback="argmax"`` (recall only) a document without a label gets the
    one of the highest key; the cut takes that into account.

    Source: Angelopoulos, Bates, Fisch, Lei & Schuster 2022; the keys are ours. Deviation: where even the largest sets
    miss the level, which the theorem excludes (labels that training never saw are never given), this rule refuses.

    >>> scores = np.array([[2.0, -2.0], [-1.0, 1.5], [1.0, 0.5], [-2.0, -1.0], [1.0, -1.0], [-1.0, 2.0]])
    >>> truth = Csr([[1, 0], [0, 1], [1, 1], [0, 1], [1, 0], [0, 1]])
    >>> rule = Guarantee("recall", 0.7).prepare(scores, truth, ScoreKind.MARGIN).fit(scores, truth, ScoreKind.MARGIN)
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
    cut_: float
    risk_: float
    bound_: float
    n_documents_: int

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
        """Each setting by itself, and a forced label, which a bound on wrong labels does not go with."""
        super().check_parameters()
        if self.metric == "fdr" and self.fallback == "argmax":
            raise ParameterError(
                "Guarantee: a label forced on every document (fallback='argmax') does not go with a guaranteed "
                "false-discovery rate. Leave fallback at 'none'."
            )

    @property
    def learns(self) -> bool:
        """Always."""
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
        """Find the cut on held-out documents."""
        if not hasattr(self, "calibration_"):
            raise DecisionError("Guarantee: call prepare with out-of-fold scores before fit with held-out ones.")
        truth = Y.toarray().astype(np.bool_)
        rows = truth.any(axis=1) if self.metric == "recall" else np.ones(len(truth), dtype=np.bool_)
        keys = self.keys(scores[rows], kind)
        alpha = 1 - self.level if self.metric == "recall" else self.level
        found = (recall_cut if self.metric == "recall" else false_discovery_cut)(keys, truth[rows], alpha)
        if not len(keys) or found.bound - 1e-12 > alpha or (self.metric == "fdr" and math.isinf(found.cut)):
            raise DecisionError(self._refusal(found, len(keys)))
        self.n_documents_ = len(keys)
        self.cut_, self.risk_, self.bound_ = found.cut, found.risk, found.bound

    def keys(self, scores: Floats, kind: ScoreKind) -> Floats:
        """What is compared with the cut, documents × labels: −∞ for impossible labels, +∞ for the fallback's."""
        p = np.ascontiguousarray(self.calibration_.transform(open_scores(scores, kind)))
        keys = p / (1 + p.sum(axis=1, keepdims=True) - p) if self.metric == "recall" else p
        keys = np.where(possible(scores, kind), keys, -math.inf)
        if self.fallback == "argmax" and keys.size:
            rows, best = np.arange(len(keys)), keys.argmax(axis=1)
            keys[rows, best] = np.where(np.isneginf(keys[rows, best]), -math.inf, math.inf)
        return keys

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """Key ≥ cut."""
        return np.asarray(self.keys(scores, kind) >= self.cut_)

    def guarantee(self) -> GuaranteeRecord:
        """What is guaranteed, and what it rests on."""
        self.check_fitted()
        return GuaranteeRecord(self.metric, self.level, self.n_documents_, self.cut_, self.risk_, self.bound_)

    def _refusal(self, found: ControlledCut, documents: int) -> str:
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
