"""What every decision rule is: scores of a kind it can read in, label sets out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypedDict

import numpy as np

from manylabel.decisions.guarantee_record import GuaranteeRecord
from manylabel.estimator import Csr, Estimator, Floats
from manylabel.exceptions import DecisionError
from manylabel.models.score_kinds import Bools, ScoreKind, SingleLabelWarning, best_label, undisplay
from manylabel.parameters import OneOf

FALLBACK = OneOf("none", "argmax")


class Choice(TypedDict):
    """What was chosen for a metric on out-of-fold scores."""

    metric: str
    title: str
    rule: str
    """The decision rule in words."""
    value: float
    """The metric that the chosen rule reached on documents it did not learn from."""
    settings: dict[str, Any]
    """Settings of the model that were chosen with it."""


class DecisionRule(Estimator):
    """Turns a batch of scores into label sets.

    A rule says which kinds of scores it reads (`accepts`) and writes `choose`; a rule that learns says so
    (`learns`) and writes `learn`. It must be given scores of documents the model was not trained on
    (out-of-fold scores): `DecidedModel` sees to that. With ``fallback="argmax"`` a document left without a
    label gets its best one. A label that is impossible (posterior 0, or score −∞: never seen in training) is
    never given.
    """

    accepts: ClassVar[frozenset[ScoreKind]] = frozenset(ScoreKind)
    fallback: str = "none"

    # --- what a rule writes -------------------------------------------------------------------------------

    @property
    def learns(self) -> bool:
        """Whether `fit` learns anything, so that scores must be at hand."""
        return False

    @property
    def held_out_share(self) -> float:
        """The share of the training documents to be kept from the model, for rules that learn on their scores.

        0 for all others: they learn on out-of-fold scores, and the model on everything.
        """
        return 0.0

    def prepare(self, scores: Floats, Y: Csr, kind: ScoreKind) -> Self:
        """What a rule that learns on held-out documents learns before, from out-of-fold scores of the others."""
        return self

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Learn from out-of-fold (or held-out) scores and the true labels."""

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """The labels given, documents × labels, before impossible ones are taken out."""
        raise NotImplementedError

    def thresholds(self, n_labels: int, kind: ScoreKind) -> Floats | None:
        """The cut of each label in the units people read (probabilities if any); None where there is none."""
        return None

    def cuts(self, n_labels: int, kind: ScoreKind) -> Floats | None:
        """The same in the units of the scores; rules that keep their cuts so say so, for probabilities round to 1."""
        shown = self.thresholds(n_labels, kind)
        return None if shown is None else undisplay(shown, kind)

    @property
    def compares(self) -> bool:
        """Whether `fit` measures how well the rule serves a metric (`gain`), so that models can be compared by it."""
        return False

    @property
    def gain(self) -> float:
        """The metric that the rule reached on documents it did not learn from; greater is better. See `compares`."""
        raise NotImplementedError

    def settled(self) -> DecisionRule:
        """The fitted rule that decides: this one, or, for a rule that chooses among others, the one it chose."""
        return self

    def choice(self, settings: Mapping[str, Any]) -> Choice | None:
        """What a rule that chooses among others chose, beside the chosen settings of the model; None for others."""
        return None

    def guarantee(self) -> GuaranteeRecord | None:
        """What the rule guarantees of new documents; None for those that guarantee nothing."""
        return None

    # --- done here once -----------------------------------------------------------------------------------

    def fit(self, scores: Floats, Y: Csr, kind: ScoreKind) -> Self:
        """Learn from out-of-fold scores and the true labels; a rule that learns nothing only checks."""
        self.check_parameters()
        self.check_kind(kind)
        if self.learns:
            scores, Y = np.asarray(scores, dtype=np.float64), Csr(Y)
            if scores.shape != Y.shape:
                raise DecisionError(
                    f"{type(self).__name__}: scores are {scores.shape[0]} × {scores.shape[1]} but Y is "
                    f"{Y.shape[0]} × {Y.shape[1]}. Both must be documents × labels."
                )
            self.learn(scores, Y, kind)
        return self

    def decide(self, scores: Floats, kind: ScoreKind) -> Csr:
        """The label sets of a batch of documents as 0/1 CSR."""
        return Csr(self.decide_dense(scores, kind).astype(np.int8))

    def decide_dense(self, scores: Floats, kind: ScoreKind) -> Bools:
        """The label sets of a batch of documents, documents × labels."""
        self.check_kind(kind)
        if self.learns:
            self.check_fitted()
        scores = np.asarray(scores, dtype=np.float64)
        if kind is ScoreKind.POSTERIOR and scores.shape[1] == 1:
            warnings.warn(
                f"{type(self).__name__}: with one label its posterior is always 1, so every document "
                "gets it. Use a model with log_odds or margin scores, for example BinaryNaiveBayes.",
                SingleLabelWarning,
                stacklevel=2,
            )
        chosen = self.choose(scores, kind) & possible(scores, kind)
        if self.fallback == "argmax":
            empty = ~chosen.any(axis=1)
            chosen[empty] = best_label(scores[empty], above=floor(kind))
        return chosen

    def check_kind(self, kind: ScoreKind) -> None:
        """Refuse scores of a kind the rule cannot read."""
        if kind not in self.accepts:
            raise DecisionError(
                f"{type(self).__name__} cannot read scores of kind '{kind}'. It reads "
                f"{' and '.join(sorted(repr(str(known)) for known in self.accepts))}. Choose another "
                "rule, or a model with such scores."
            )


def floor(kind: ScoreKind) -> float:
    """The score of an impossible label."""
    return 0.0 if kind is ScoreKind.POSTERIOR else -math.inf


def possible(scores: Floats, kind: ScoreKind) -> Bools:
    """Which labels are possible at all."""
    return np.asarray(scores > floor(kind))
