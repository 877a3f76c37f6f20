"""The base class of decision rules: scores in, label sets out; and what documents without a known term get."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypedDict

import numpy as np
from scipy import sparse

from manylabel.decisions.candidates import best_candidates, dense_candidates
from manylabel.decisions.cross_fitting import FOLDS, CrossFitted, compared_rows
from manylabel.estimator import Csr, Estimator, Floats, Ints, rows_of_cells, unfitted_copy
from manylabel.exceptions import DecisionError
from manylabel.models import label_axis
from manylabel.models.base import WORKING_MEMORY, MultiLabelModel
from manylabel.models.score_kinds import Bools, ScoreKind, SingleLabelWarning, best_label, display, undisplay
from manylabel.parameters import OneOf
from manylabel.stored import Either, Flag, Mapped, Maybe, Scalar, Sizes, Stored, Word, reals

if TYPE_CHECKING:
    from manylabel.decisions.guarantee import GuaranteeRecord
    from manylabel.decisions.threshold_search import ThresholdSearch
    from manylabel.models.exported import Form

FALLBACK = OneOf("none", "argmax")


class Choice(TypedDict):
    """What was chosen for a metric on out-of-fold scores."""

    metric: str
    title: str
    rule: str
    """The decision rule in words."""
    value: float | None
    """The metric that the chosen rule reached on documents it did not learn from; None where these were too few."""
    settings: dict[str, Any]
    """Settings of the model that were chosen with it; under "views", what each further view gained."""


CHOICE: Mapping[str, Stored] = {
    "metric": Word(),
    "title": Word(),
    "rule": Word(),
    "value": Maybe(Scalar()),
    "settings": Mapped(Either(Mapped(Scalar()), Either(Scalar(), Flag()))),
}
"""What is stored of a `Choice`."""


class DecisionRule(Estimator):
    """Turns a batch of scores into label sets.

    A rule declares which kinds of scores it reads (`accepts`) and implements `choose`. A rule that learns declares it
    (`learns`) and implements `learn`. It must be fitted on scores of documents the model was not trained on
    (out-of-fold scores), as `DecidedModel` does. With ``fallback="argmax"`` a document without a predicted label gets
    its best one. A label that is impossible (posterior 0, or score −∞: never seen in training) is never predicted.
    """

    accepts: ClassVar[frozenset[ScoreKind]] = frozenset(ScoreKind)
    fallback: str = "none"
    weighs_seen_sets: ClassVar[bool] = False
    """Whether a decision looks at every label set of the training documents, which takes long where there are many."""

    # --- what a rule may implement ------------------------------------------------------------------------

    @property
    def learns(self) -> bool:
        """Whether `fit` learns from scores; False: the rule works without."""
        return False

    @property
    def takes_fallback(self) -> bool:
        """Whether the same rule with ``fallback="argmax"`` is a rule worth trying: it learns the same.

        False for rules that decide themselves how many labels a document gets.
        """
        return True

    @property
    def predicts_one_label(self) -> bool:
        """Whether every document gets exactly one label, the one with the highest score."""
        return False

    @property
    def held_out_share(self) -> float:
        """The share of the training documents that the model must not see, because the rule learns on their scores.

        0 for rules that learn on out-of-fold scores, or not at all.
        """
        return 0.0

    def divide(self, Y: Csr, seed: int, scores_a_document: int | None = None) -> tuple[Ints, Ints] | None:
        """The rows the model learns from and those held out for the rule, drawn at random; None if nothing is held out.

        No more rows are held out than fit into the working memory as a dense matrix of scores, where a document has so
        many of them; by default as many as there are labels.
        """
        from manylabel.data.splits import holdout

        if not self.held_out_share:
            return None
        self.check_parameters()
        most = max(1, WORKING_MEMORY // (8 * max(scores_a_document or Y.shape[1], 1)))
        return holdout(Y.shape[0], min(self.held_out_share, most / max(Y.shape[0], 1)), seed)

    @property
    def learns_candidates(self) -> bool:
        """Whether `fit_candidates` is offered."""
        return False

    def fit_candidates(self, scores: Csr, Y: Csr, kind: ScoreKind) -> Self:
        """Learn what `fit` learns, from the scores of some labels of each document, all others being impossible."""
        raise NotImplementedError

    def prepare(self, scores: Floats, Y: Csr, kind: ScoreKind) -> Self:
        """Learn from out-of-fold scores, before `fit` learns from held-out documents; by default nothing is learned."""
        return self

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Learn from out-of-fold (or held-out) scores and the true labels."""

    def learn_crossed(self, scores: Floats, Y: Csr, kind: ScoreKind) -> CrossFitted | None:
        """Learn, and return decisions about the same documents (or a sample) by copies that did not learn from them.

        A rule that compares candidates returns the decisions of all, which it has made anyway.
        """
        from manylabel.data.splits import iterative_stratification

        self.learn(scores, Y, kind)
        rows = compared_rows(scores.shape)
        if len(rows) < FOLDS:
            return None
        scores, Y = scores[rows], Csr(Y[rows])
        tests, decided = [], []
        for train, test in iterative_stratification(Y, FOLDS, seed=0):
            tests.append(test)
            decided.append(unfitted_copy(self).fit(scores[train], Csr(Y[train]), kind).decide(scores[test], kind))
        numbers = np.repeat(np.arange(FOLDS), [len(test) for test in tests])
        return CrossFitted(rows[np.concatenate(tests)], numbers, (Csr(sparse.vstack(decided, format="csr")),))

    def learn_from(self, search: ThresholdSearch) -> Self:
        """Learn from the scores of a `ThresholdSearch`, which several rules may share; by default as `fit` does.

        A rule whose thresholds or curves the search offers takes them from it: they are then computed once.
        """
        return self.fit(search.scores, search.Y, search.kind)

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """The predicted labels, documents × labels, before impossible ones are removed."""
        raise NotImplementedError

    def at_threshold(self, threshold: float) -> DecisionRule | None:
        """The same kind of rule with a fixed threshold from 0 to 1, for threshold sweeps.

        None for rules that compare each label's score with a threshold, or have none: any score can be swept so.
        """
        return None

    def shown_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats | None:
        """The threshold of each label in the units people read (probabilities if any); None for rules without."""
        return None

    def score_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats | None:
        """The threshold of each label in the units of the scores; None for rules without.

        By default it is computed from `shown_thresholds`. Rules that store it override this: probabilities round to 1.
        """
        shown = self.shown_thresholds(n_labels, kind)
        return None if shown is None else undisplay(shown, kind)

    def exported(self, n_labels: int, kind: ScoreKind) -> Form | None:
        """The rule, without its fallback, in the form in which it is exported; None for rules that have none."""
        return None

    def corrected_thresholds(self) -> Floats | None:
        """The thresholds that a user set, NaN for labels that keep theirs; None if nothing was set."""
        return None

    def changes(self) -> list[dict[str, Any]]:
        """The corrections made after training, as plain data; none for most rules."""
        return []

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
        """What the rule guarantees for new documents; None for rules that guarantee nothing."""
        return None

    @property
    def decides_apart(self) -> bool:
        """Whether labels can be added to the rule (`beside`): False for rules that choose among label sets, and for
        those with a guarantee, which holds for all labels together.
        """
        return not self.held_out_share

    def of_labels(self, columns: Ints) -> Self:
        """The fitted rule for some of the labels, in this order; a guarantee does not hold for them."""
        return label_axis.of_labels(self, columns)

    def beside(self, other: Self) -> Self:
        """The fitted rule for its own labels and, behind them, those of another one. Only if `decides_apart`.

        A threshold that is common to all labels stays that of this rule.
        """
        return label_axis.beside(self, other)

    def draw_towards(self, known: Floats, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Draw a threshold per label, learned on these scores of new labels, towards those of known labels."""

    # --- done for all rules --------------------------------------------------------------------------------

    def fit(self, scores: Floats, Y: Csr, kind: ScoreKind) -> Self:
        """Learn from out-of-fold scores and the true labels; a rule that learns nothing only checks its settings."""
        self.check_parameters()
        self.check_kind(kind)
        if self.learns:
            self.learn(*self._checked(scores, Y), kind)
        return self

    def fit_crossed(self, scores: Floats, Y: Csr, kind: ScoreKind) -> CrossFitted | None:
        """Learn as `fit` does; return decisions about the same documents by rules that did not learn from them.

        None where there are too few documents.
        """
        self.check_parameters()
        self.check_kind(kind)
        if self.learns:
            return self.learn_crossed(*self._checked(scores, Y), kind)
        rows = np.arange(len(scores))
        return CrossFitted(rows, np.zeros_like(rows), (self.decide(scores, kind),))

    def _checked(self, scores: Floats, Y: Csr) -> tuple[Floats, Csr]:
        scores, Y = np.asarray(scores, dtype=np.float64), Csr(Y)
        if scores.shape != Y.shape:
            raise DecisionError(
                f"{type(self).__name__}: scores are {scores.shape[0]} × {scores.shape[1]} but Y is "
                f"{Y.shape[0]} × {Y.shape[1]}. Both must be documents × labels."
            )
        return scores, Y

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

    def decide_candidates(self, scores: Csr, kind: ScoreKind) -> Csr:
        """The label sets of documents from the scores of some labels, all others being impossible, as 0/1 CSR.

        Rules of one threshold per label and of the k best labels read these scores only. Other rules get them as a
        dense matrix: pass a batch of documents at a time.
        """
        form = self.exported(scores.shape[1], kind)
        if form is None or form.get("log_odds") or form["rule"] not in ("thresholds", "top-k"):
            return self.decide(dense_candidates(scores, floor(kind)), kind)
        self.check_kind(kind)
        if form["rule"] == "top-k":
            chosen = best_candidates(scores, form["k"])
        else:
            limits = form["thresholds"][scores.indices]
            chosen = scores.data > limits if form["strict"] else scores.data >= limits
        chosen &= scores.data > floor(kind)
        rows = rows_of_cells(scores)
        if self.fallback == "argmax":
            empty = np.bincount(rows[chosen], minlength=scores.shape[0]) == 0
            chosen |= best_candidates(scores, 1) & empty[rows] & (scores.data > floor(kind))
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows[chosen], minlength=scores.shape[0]))])
        labels = scores.indices[chosen]
        return Csr((np.ones(len(labels), dtype=np.int8), labels, starts.astype(labels.dtype)), shape=scores.shape)

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` where a rule that learns has learned nothing."""
        if self.learns and not state:
            raise ValueError(f"{type(self).__name__} has not learned anything")
        return super().check_learned(state)

    def check_kind(self, kind: ScoreKind) -> None:
        """Raise `DecisionError` for scores of a kind that the rule cannot read."""
        if kind not in self.accepts:
            raise DecisionError(
                f"{type(self).__name__} cannot read scores of kind '{kind}'. It reads "
                f"{' and '.join(sorted(repr(str(known)) for known in self.accepts))}. Choose another "
                "rule, or a model with such scores."
            )


class LabelThresholdRule(DecisionRule):
    """The base class of rules with one threshold per label: the labels whose score reaches their threshold."""

    thresholds_: Floats
    """In the units of the scores."""
    learned: ClassVar[Mapping[str, Stored]] = {"thresholds_": reals("labels")}

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """Score ≥ the label's threshold."""
        return np.asarray(scores >= self.thresholds_)

    def draw_towards(self, known: Floats, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Draw each threshold towards the median of the known ones, see `drawn_to_known`."""
        from manylabel.models.label_thresholds import drawn_to_known  # predicting starts faster without it

        self.thresholds_ = drawn_to_known(self.thresholds_, known, scores, Y)

    def shown_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats:
        """Each label's threshold in the units people read."""
        return display(self.thresholds_, kind)

    def score_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats:
        """Each label's threshold in the units of the scores."""
        return self.thresholds_

    def exported(self, n_labels: int, kind: ScoreKind) -> Form:
        """Each label's threshold."""
        from manylabel.models.exported import threshold_form  # predicting starts faster without it

        return threshold_form(self.thresholds_, n_labels)


def floor(kind: ScoreKind) -> float:
    """The score of an impossible label."""
    return 0.0 if kind is ScoreKind.POSTERIOR else -math.inf


def possible(scores: Floats, kind: ScoreKind) -> Bools:
    """Which labels are possible at all."""
    return np.asarray(scores > floor(kind))


# ---- documents in which no term is known ----------------------------------------------------------------------------


def labels_empty_documents(model: MultiLabelModel, rule: DecisionRule | None) -> bool:
    """Whether documents without a known term get labels: if absent terms are evidence to the model, or if the rule
    has a guarantee, which counts every document.
    """
    return model.reads_absence or (rule is not None and rule.held_out_share > 0)


def decidable_scores(scores: Floats, empty: Bools, model: MultiLabelModel, rule: DecisionRule) -> Floats:
    """The scores, with every label impossible for empty documents, as `unlabelled_if_empty` decides them."""
    if not empty.any() or labels_empty_documents(model, rule):
        return scores
    decidable = scores.copy()
    decidable[empty] = floor(model.score_kind)
    return decidable


def unlabelled_if_empty(predicted: Csr, X: Csr, model: MultiLabelModel, rule: DecisionRule | None) -> Csr:
    """The predicted label sets, without those of documents in which no term is known.

    The scores of such a document say only how frequent the labels are. It keeps its labels where
    `labels_empty_documents`.
    """
    lengths = np.diff(X.indptr)
    if lengths.all() or labels_empty_documents(model, rule):
        return predicted
    kept = np.repeat(lengths > 0, np.diff(predicted.indptr))
    sizes = np.where(lengths > 0, np.diff(predicted.indptr), 0)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(predicted.indptr.dtype)
    return Csr((predicted.data[kept], predicted.indices[kept], indptr), shape=predicted.shape)
