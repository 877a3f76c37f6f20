"""Co-training: terms and labels as two views of a document that correct each other until its label set is stable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.base import WORKING_MEMORY, MultiLabelModel, row_batches
from manylabel.models.evidence import ScoreParts, asked_for, placed_parts
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf
from manylabel.progress import track
from manylabel.stored import Each, Part, Sizes, Sometimes, Stored, reals, wholes
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.classifier_chain import stratified_folds
from manylabel.strategies.co_training_views import (
    Outcome,
    Rules,
    View,
    fit_view,
    make_view,
    take_turns,
    ties_at_zero,
    view_parts,
)
from manylabel.strategies.label_order import ORDER, label_order
from manylabel.strategies.two_class import BASE_MODEL, TwoClassStrategy, as_model, for_rows


@dataclass(frozen=True, slots=True)
class CoTrainingReport:
    """The number of rounds per document, and how the document stopped.

    >>> report = CoTrainingReport(iterations=np.array([1, 1, 2, 4]), periods=np.array([1, 1, 1, 2]))
    >>> report.summary()["iterations_median"], report.summary()["cycle_share"], report.summary()["cycle_periods"]
    (1.5, 0.25, {2: 1})
    """

    iterations: Ints
    """Rounds until the document's label set had been seen before; 0 where there was nothing to alternate."""
    periods: Ints
    """1: the label set was stable; 2 and more: it came back after so many rounds; 0: it was still new in the last."""

    def summary(self) -> dict[str, Any]:
        """The report as plain data: median and 95 % point of the rounds, the share of cycles and their periods."""
        n_documents = len(self.iterations)
        cycling = self.periods > 1
        moving = (self.periods == 0) & (self.iterations > 0)
        periods, times = np.unique(self.periods[cycling], return_counts=True)
        median, late = np.percentile(self.iterations, [50, 95]) if n_documents else (0.0, 0.0)
        return {
            "documents": n_documents,
            "iterations_median": float(median),
            "iterations_95": float(late),
            "cycle_share": float(cycling.mean()) if n_documents else 0.0,
            "cycle_periods": dict(zip(periods.tolist(), times.tolist(), strict=True)),
            "unsettled_share": float(moving.mean()) if n_documents else 0.0,
        }


class CoTraining(TwoClassStrategy):
    """Modified co-training: two views of a document take turns at its label set, starting from binary relevance.

    start   each label from the terms alone (binary relevance)
    DC      each label from all other labels (dependency classifier)
    FC      each label from the terms and all other labels (feature classifier)

    lv ← start;  repeat: dc ← DC(lv), fc ← FC(terms, dc);  until fc was seen before, or `max_rounds` rounds;  predict fc

    Source: Lee 2018, on building base classifiers, over value-weighted naive Bayes. No unlabelled documents are
    used: the views are learned once, and alternate when a document is to be labelled. The paper's formulas are lost;
    its reading is ``use_dc=True, fc="separate", labels="true", update="synchronous"``. The defaults are what works on
    data: a feature classifier learned jointly on terms and labels, the labels in training being those that
    binary relevance predicts for documents it did not see, updated one after the other, without the
    dependency classifier (`use_dc`).

    fc        ``"joint"``: one model of terms and labels. ``"separate"``: the score of DC plus that of the terms, the
              prior counted once, log P(c) + Σ labels + Σ terms.
    labels    label columns in training: ``"true"`` ones trust labels more than predicted ones deserve;
              ``"out-of-fold"`` ones (`folds` folds) are as faulty as those met in prediction.
    update    ``"synchronous"``: all labels of a view at once, from one state; a pair of labels that depend on each
              other may swap for ever. ``"sequential"``: one after the other in the order `sweep`, see
              `manylabel.strategies.label_order`.
    order     ``"DC-FC"`` or ``"FC-DC"``; the last one predicts.
    on_cycle  where a label set comes back after several rounds, predict the ``"last"`` one or the ``"best"``,
              for which the feature classifier's scores are farthest from 0 in sum.

    `model` is the model of the terms and of the feature classifier, `label_model` that of DC (None: the same): any
    model of ours, or a classifier of scikit-learn, as the paper suggests for future work. `label_scale` is as in
    `ClassifierChain`. A label is predicted where its score is above 0. Scores are those of the last view: log-odds, or
    margins. With one label, or all but one constant, this is binary relevance.

    >>> from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes
    >>> X = np.array([[1], [1], [0], [0], [0], [1], [1], [0]])
    >>> Y = np.array([[1, 1], [1, 1], [1, 1], [0, 0], [0, 0], [0, 0], [1, 0], [0, 1]])
    >>> base = ValueWeightedNaiveBayes("categorical", "kl", norm="none", n_bins=2, refine="none")
    >>> model = CoTraining(base, fc="separate", use_dc=True, labels="true", update="synchronous").fit(X, Y)
    >>> predicted, report = model.predict_with_report(np.array([[1]]))
    >>> predicted.tolist(), report.iterations.tolist()
    ([[1, 0]], [1])
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": BASE_MODEL,
        "label_model": AnyOf(OneOf(None), BASE_MODEL),
        "fc": OneOf("joint", "separate"),
        "use_dc": FLAG,
        "order": OneOf("DC-FC", "FC-DC"),
        "update": OneOf("sequential", "synchronous"),
        "sweep": ORDER,
        "labels": OneOf("out-of-fold", "true"),
        "folds": Number(low=2, whole=True),
        "max_rounds": Number(low=1, whole=True),
        "on_cycle": OneOf("last", "best"),
        "label_scale": Number(low=0, open_low=True),
        "seed": Number(low=0, whole=True),
    }
    start_: BinaryRelevance
    """Each label from the terms alone. Like all that follows, it has only the labels that are not constant; without
    any, there is none."""
    fc_: list[MultiLabelModel]
    """The feature classifier, as `fit_view` returns it; empty for ``fc="separate"`` and with fewer than two labels."""
    dc_: list[MultiLabelModel]
    """The dependency classifier, where it is used and there are two labels or more."""
    sweep_: Ints
    prior_: Floats
    """Prior log-odds of the labels, which terms and labels both contain; subtracted once where the two are added."""
    learned_labels_: Ints
    """The labels that are neither on all training documents nor on none."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "learned_labels_": wholes("learned", below="labels"),
        "sweep_": wholes("learned", below="learned"),
        "start_": Sometimes(Part(BinaryRelevance, "learned", "terms")),
        "prior_": reals("learned"),
        "fc_": Each(Part(MultiLabelModel), None),
        "dc_": Each(Part(MultiLabelModel), None),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` where labels were learned and their start or views are missing."""
        sizes = super().check_learned(state)
        if sizes["learned"] and "start_" not in state:
            raise ValueError("CoTraining.start_ is missing")
        if sizes["learned"] > 1 and not (state["fc_"] if self.fc == "joint" else state["dc_"]):
            raise ValueError("CoTraining has no feature classifier")
        return sizes

    def __init__(
        self,
        model: Any,
        label_model: Any = None,
        fc: Literal["joint", "separate"] = "joint",
        use_dc: bool = False,
        order: Literal["DC-FC", "FC-DC"] = "DC-FC",
        update: Literal["sequential", "synchronous"] = "sequential",
        sweep: Literal["random", "given", "frequency", "dependency"] | Sequence[int] = "frequency",
        labels: Literal["out-of-fold", "true"] = "out-of-fold",
        folds: int = 5,
        max_rounds: int = 20,
        on_cycle: Literal["last", "best"] = "last",
        label_scale: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.label_model = label_model
        self.fc = fc
        self.use_dc = use_dc
        self.order = order
        self.update: Literal["sequential", "synchronous"] = update
        self.sweep = sweep
        self.labels = labels
        self.folds = folds
        self.max_rounds = max_rounds
        self.on_cycle = on_cycle
        self.label_scale = label_scale
        self.seed = seed

    # --- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object, **options: Any) -> Self:
        """Learn the start and both views; `options` go to the `fit` of the model of the terms."""
        features, targets = self.check_training(X, Y)
        self.learned_labels_ = np.flatnonzero(~self.note_constant_labels(targets.Y))
        self.sweep_ = _renumbered(label_order(self.sweep, targets.Y, self.seed), self.learned_labels_)
        learned = Csr(targets.Y[:, self.learned_labels_])
        self.prior_, self.fc_, self.dc_ = self._prior(learned), [], []
        if len(self.learned_labels_):
            self.start_ = BinaryRelevance(self.model).fit(features, learned, **options)
        if len(self.learned_labels_) > 1:
            self._learn_views(features, learned, options)
        return self

    def _learn_views(self, X: Csr, Y: Csr, options: Mapping[str, Any]) -> None:
        shown = Y if self.labels == "true" else self._predicted_out_of_fold(X, Y, options)
        if self.fc == "joint":
            self.fc_ = fit_view(self.base_model, X, shown, Y, self.label_scale, **options)
        if self.use_dc or self.fc == "separate":
            self.dc_ = fit_view(self._label_model, None, shown, Y, self.label_scale)

    @property
    def _label_model(self) -> MultiLabelModel:
        return self.base_model if self.label_model is None else as_model(self.label_model)

    def _prior(self, Y: Csr) -> Floats:
        """The model's log-odds of the labels before a document is read; 0 for margins."""
        if self.score_kind is ScoreKind.MARGIN:
            return np.zeros(Y.shape[1])
        return self.base_model.prior_log_odds(np.bincount(Y.indices, minlength=Y.shape[1]), Y.shape[0])

    def _predicted_out_of_fold(self, X: Csr, Y: Csr, options: Mapping[str, Any]) -> Csr:
        """The labels that binary relevance predicts for documents it did not see, documents × labels."""
        splits = stratified_folds(Y, self.folds, self.seed)
        if not splits:
            return Y
        batches, rows = [], []
        for train, test in track("Labelling documents out of fold", splits):
            start = BinaryRelevance(self.model).fit(Csr(X[train]), Csr(Y[train]), **for_rows(options, train))
            batches += [Csr(ties_at_zero(scores) > 0) for _, scores in start.score_in_batches(Csr(X[test]))]
            rows.append(test)
        predicted = Csr(sparse.vstack(batches, format="csr").astype(np.int8))
        return Csr(predicted[np.argsort(np.concatenate(rows))])

    # --- predicting -------------------------------------------------------------------------------------------

    def score_batch(self, X: Csr) -> Floats:
        """The scores of the last view, in the state in which the document stopped."""
        return self._all_labels(self._alternate(X).scores)

    def natural_decision(self, scores: Floats) -> Bools:
        """Labels whose score is above 0: of two equally probable values, the absence."""
        return np.asarray(scores > 0)

    def remarks(self, X: Csr) -> dict[str, Any]:
        """The rounds and cycles of the documents as a summary."""
        return self.predict_with_report(X)[1].summary()

    def predict_with_report(self, X: object, *, working_memory: int = WORKING_MEMORY) -> tuple[Any, CoTrainingReport]:
        """What `predict` returns, and the rounds and cycles of each document."""
        features = self.features(X)
        empty = np.zeros(0, dtype=np.int64)
        chosen: list[Csr] = []
        best, iterations, periods = [empty], [empty], [empty]
        for rows in row_batches(features.shape[0], self.n_labels_, working_memory):
            outcome = self._alternate(Csr(features[rows]))
            scores = self._all_labels(outcome.scores)
            chosen.append(Csr(self.natural_decision(scores).astype(np.int8)))
            best.append(scores.argmax(axis=1))
            iterations.append(outcome.iterations)
            periods.append(outcome.periods)
        report = CoTrainingReport(np.concatenate(iterations), np.concatenate(periods))
        if self.label_form_ == "single":
            return self.classes_[np.concatenate(best)], report
        return self.in_fitted_form(chosen), report

    def _alternate(self, X: Csr) -> Outcome:
        """Let the views take turns over a batch of documents; scores of the labels that are not constant."""
        nothing = np.zeros(X.shape[0], dtype=np.int64)
        if not len(self.learned_labels_) or not X.shape[0]:
            return Outcome(np.zeros((X.shape[0], len(self.learned_labels_))), nothing, nothing)
        start = ties_at_zero(self.start_.score_batch(X))
        if len(self.learned_labels_) == 1:
            return Outcome(start, nothing, nothing)
        views = self._views(X, start)
        judge = 1 if self.use_dc and self.order == "DC-FC" else 0
        rules = Rules(self.update, self.max_rounds, self.on_cycle == "best", self.sweep_, judge)
        return take_turns(start > 0, views, rules)

    def _views(self, X: Csr, start: Floats) -> list[View]:
        n_labels = len(self.learned_labels_)
        if self.fc == "joint":
            features = make_view(self.fc_, X, n_labels, self.label_scale, None)
        else:
            features = make_view(self.dc_, None, n_labels, self.label_scale, start - self.prior_)
        if not self.use_dc:
            return [features]
        labels = make_view(self.dc_, None, n_labels, self.label_scale, None)
        return [labels, features] if self.order == "DC-FC" else [features, labels]

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds to the feature classifier's scores of some labels, labels × terms.

        The other labels are the predicted ones. The rest of a score is the prior and what these labels add; with
        ``fc="separate"`` the evidence is that of binary relevance. Constant labels have no evidence.
        """
        return self.score_parts(x, labels).terms

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of the feature classifier's scores of one document, given the labels it read in the last round.

        They are the scores where the label set settled and the feature classifier comes last.
        """
        document, wanted = asked_for(self, x, labels)
        places = np.flatnonzero(np.isin(wanted, self.learned_labels_))
        learned = np.searchsorted(self.learned_labels_, wanted[places])
        rows: list[ScoreParts] = []
        if len(places) and len(self.learned_labels_) > 1:
            outcome = self._alternate(document)
            states = self._states_read(document, outcome.state)
            is_score = outcome.periods[0] == 1 and (self.order == "DC-FC" or not self.use_dc)
            quantity = "score" if is_score else "score of the feature classifier"
            rows = [self._label_parts(document, states[[label]], label, quantity) for label in learned.tolist()]
        elif len(places):
            rows = [self.start_.score_parts(document, learned)]
        return placed_parts(rows, places, self.constant_scores(1)[0, wanted], document.shape[1])

    def _states_read(self, document: Csr, final: Bools) -> Bools:
        """Per learned label, the label set that the feature classifier read when it last scored it, labels × labels."""
        before, rows = final, np.arange(1)
        if self.use_dc and self.order == "DC-FC":
            view = self._views(document, ties_at_zero(self.start_.score_batch(document)))[0]
            together = self.update == "synchronous"
            scores = view.all_at_once(final, rows) if together else view.one_by_one(final.copy(), rows, self.sweep_)
            before = scores > 0
        if self.update == "synchronous":
            return np.tile(before, (final.shape[1], 1))
        turn = np.argsort(self.sweep_)
        return np.asarray(np.where(turn[np.newaxis] < turn[:, np.newaxis], final, before))

    def _label_parts(self, document: Csr, state: Bools, label: int, quantity: str) -> ScoreParts:
        """The parts of the feature classifier's score of one learned label, the other labels being `state`."""
        joint = self.fc == "joint"
        models, terms = (self.fc_, document) if joint else (self.dc_, None)
        found = self._among_all(view_parts(models, terms, state, label, self.label_scale))
        if joint:
            return replace(found, quantity=quantity)
        texts, prior = self.start_.score_parts(document, [label]), self.prior_[label]
        total, intercept = texts.total + found.total - prior, texts.intercept + found.intercept - prior
        return ScoreParts(texts.terms, total, intercept, found.labels, quantity)

    def _among_all(self, found: ScoreParts) -> ScoreParts:
        """The parts, with the evidence of the learned labels in the columns of all labels."""
        assert found.labels is not None
        among = found.labels.tocoo()
        shape = (found.terms.shape[0], self.n_labels_)
        told = sparse.coo_array((among.data, (among.row, self.learned_labels_[among.col])), shape=shape)
        return replace(found, labels=Csr(told.tocsr()))

    def _all_labels(self, learned: Floats) -> Floats:
        scores = self.constant_scores(learned.shape[0])
        scores[:, self.learned_labels_] = learned
        return scores


def _renumbered(order: Ints, kept: Ints) -> Ints:
    """An order of all labels reduced to some of them, renumbered from 0."""
    place = np.full(len(order), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    return place[order][place[order] >= 0]
