"""Classifier chains: each label is learned from the terms and the labels before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.data.splits import iterative_stratification
from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.base import MultiLabelModel
from manylabel.models.evidence import ScoreParts, asked_for, placed_parts
from manylabel.models.score_kinds import Bools
from manylabel.parameters import Constraint, Number, OneOf
from manylabel.progress import track
from manylabel.stored import Each, Part, Sizes, Stored, wholes
from manylabel.strategies.co_training_views import make_view
from manylabel.strategies.label_order import ORDER, label_order
from manylabel.strategies.two_class import (
    BASE_MODEL,
    TwoClassStrategy,
    carriers,
    fit_problem,
    for_rows,
    problem_decisions,
    problem_parts,
    problem_scores,
)

Split = tuple[Ints, Ints]


class ClassifierChain(TwoClassStrategy):
    """A chain π of two-class problems: label π_j is learned from x and the labels π_1 … π_{j−1} as further columns.

    ŷ_{π_j} = h_j(x, ŷ_{π_1}, …, ŷ_{π_{j−1}})

    Source: Read, Pfahringer, Holmes & Frank 2011; compared in Lee 2018 over value-weighted naive Bayes. In prediction
    the label columns hold what the chain has predicted so far. In training they hold the true labels
    (``labels="true"``, as published), or the predictions of models that did not see the document
    (``labels="out-of-fold"``, `folds` folds stratified by label): then training and prediction look alike.

    `order` is ``"random"`` (by `seed`), ``"given"``, ``"frequency"``, ``"dependency"`` or a list of label numbers; see
    `manylabel.strategies.label_order`. A label column holds `label_scale` where the document has the label. `model` is
    any model of ours or a classifier of scikit-learn; a value-weighted model gives label columns two bins of their own.
    Scores are of the model's kind, one column per label, in label order whatever the chain's order. A label that every
    training document has, or none, is constant and no column for the others.

    >>> from sklearn.naive_bayes import BernoulliNB
    >>> X = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0]])
    >>> Y = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [1, 0]])
    >>> chain = ClassifierChain(BernoulliNB(), order=[1, 0]).fit(X, Y)
    >>> chain.order_.tolist(), chain.links_[1].classifier_.feature_count_.tolist()
    ([1, 0], [[0.0, 2.0, 0.0], [2.0, 0.0, 2.0]])
    >>> chain.predict(X).tolist()
    [[1, 1], [1, 1], [0, 0], [0, 0], [1, 0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": BASE_MODEL,
        "order": ORDER,
        "labels": OneOf("true", "out-of-fold"),
        "folds": Number(low=2, whole=True),
        "label_scale": Number(low=0, open_low=True),
        "seed": Number(low=0, whole=True),
    }
    order_: Ints
    """All labels in the order of the chain."""
    links_: list[Any]
    """The fitted models of the labels that are not constant, in the order of the chain; one for all of them where the
    model can hide labels."""
    linked_labels_: Ints
    """The labels that are not constant, in the order of the chain."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "order_": wholes("labels", below="labels"),
        "linked_labels_": wholes(None, below="labels"),
        "links_": Each(Part(MultiLabelModel), None),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` unless each link reads the terms and the labels before it."""
        sizes, links, n_linked = super().check_learned(state), state["links_"], len(state["linked_labels_"])
        widths = [sizes["terms"] + place for place in range(n_linked)]
        if links and links[0].hides_labels:
            widths = [sizes["terms"] + n_linked]
        if [link.n_features_in_ for link in links] != widths or (len(links) < n_linked != links[0].n_labels_):
            raise ValueError("ClassifierChain.links_ do not follow the order of the labels")
        return sizes

    def __init__(
        self,
        model: Any,
        order: Literal["random", "given", "frequency", "dependency"] | Sequence[int] = "random",
        labels: Literal["true", "out-of-fold"] = "true",
        folds: int = 5,
        label_scale: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.order = order
        self.labels = labels
        self.folds = folds
        self.label_scale = label_scale
        self.seed = seed

    def fit(self, X: object, Y: object, **options: Any) -> Self:
        """Learn the links; `options` go to the model's `fit`."""
        features, targets = self.check_training(X, Y)
        self.order_ = label_order(self.order, targets.Y, self.seed)
        constant = self.note_constant_labels(targets.Y)
        self.linked_labels_ = self.order_[~constant[self.order_]]
        in_order = Csr(targets.Y[:, self.linked_labels_])
        shown = in_order
        if self.labels == "out-of-fold":
            splits = stratified_folds(targets.Y, self.folds, self.seed)
            shown = self._predicted_out_of_fold(features, in_order, splits, options) if splits else shown
        self.links_ = self._learn_links(features, shown, in_order, options)
        return self

    def _learn_links(self, X: Csr, shown: Csr, Y: Csr, options: Mapping[str, Any]) -> list[MultiLabelModel]:
        """The fitted links, all in one model where the model can hide the labels that come later."""
        model, n_links = self.base_model, Y.shape[1]
        if model.hides_labels and n_links:
            everything = Csr(sparse.hstack([X, shown.astype(np.float64)], format="csr"))
            return [model.hiding_labels(n_links, "later").fit(everything, Y, **options)]
        links, by_label, by_column = [], sparse.csc_array(Y), sparse.csc_array(shown)
        for place in track("Learning the chain", range(n_links)):
            links.append(fit_problem(model, X, carriers(by_label, place), place, **options))
            if place + 1 < n_links:
                X = with_label_column(X, carriers(by_column, place), self.label_scale)
        return links

    def _predicted_out_of_fold(self, X: Csr, Y: Csr, splits: list[Split], options: Mapping[str, Any]) -> Csr:
        """Labels along the chain, predicted by models that did not see the document; the last is not needed."""
        by_label, predicted = sparse.csc_array(Y), []
        for place in track("Labelling documents out of fold", range(Y.shape[1] - 1)):
            known = carriers(by_label, place)
            predicted.append(_decided_out_of_fold(self.base_model, X, known, place, splits, options))
            X = with_label_column(X, predicted[-1], self.label_scale)
        columns = [Csr(column[:, None].astype(np.int8)) for column in predicted]
        return Csr(sparse.hstack([*columns, Y[:, len(predicted) :]], format="csr"))

    def score_batch(self, X: Csr) -> Floats:
        """The scores along the chain, each link reading what the links before it decided; columns in label order."""
        scores = self.constant_scores(X.shape[0])
        if not X.shape[0] or not self.links_:
            return scores
        if self.links_[0].hides_labels:
            scores[:, self.linked_labels_] = self._score_in_one_pass(X)
            return scores
        for place, (label, link) in enumerate(zip(self.linked_labels_.tolist(), self.links_, strict=True)):
            scores[:, label] = problem_scores(link, X)
            if place + 1 < len(self.links_):
                X = with_label_column(X, problem_decisions(link, scores[:, label]), self.label_scale)
        return scores

    def _score_in_one_pass(self, X: Csr) -> Floats:
        """The scores of all links: first the terms' part of all at once, then along the chain from the empty set."""
        n_documents, n_links = X.shape[0], len(self.linked_labels_)
        view = make_view(self.links_, X, n_links, 1.0, None)
        nothing = np.zeros((n_documents, n_links), dtype=np.bool_)
        return view.one_by_one(nothing, np.arange(n_documents), np.arange(n_links))

    def natural_decision(self, scores: Floats) -> Bools:
        """The labels that each link predicts, as the links after it read them."""
        chosen = np.tile(self.always_, (scores.shape[0], 1))
        if self.links_ and self.links_[0].hides_labels:
            chosen[:, self.linked_labels_] = problem_decisions(self.links_[0], scores[:, self.linked_labels_])
            return chosen
        for label, link in zip(self.linked_labels_.tolist(), self.links_, strict=True):
            chosen[:, label] = problem_decisions(link, scores[:, label])
        return chosen

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds to the scores of some labels (default: all), labels × terms.

        Each label's link computes it, the labels before it being those the chain predicts. The rest of a score is the
        prior and what these labels add. A constant label has no evidence.
        """
        return self.score_parts(x, labels).terms

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's scores: those of each link, and the evidence of the labels predicted before."""
        document, wanted = asked_for(self, x, labels)
        places = np.flatnonzero(np.isin(wanted, self.linked_labels_))
        number = np.zeros(self.n_labels_, dtype=np.int64)
        number[self.linked_labels_] = np.arange(len(self.linked_labels_))
        rows = self._link_parts(document, number[wanted[places]]) if len(places) else []
        told = [row.with_label_columns(document.shape[1], self.linked_labels_, self.n_labels_) for row in rows]
        return placed_parts(told, places, self.constant_scores(1)[0, wanted], document.shape[1])

    def _link_parts(self, document: Csr, links: Ints) -> list[ScoreParts]:
        """The parts of the scores of some links, the columns behind the terms being labels."""
        predicted = self.natural_decision(self.score_batch(document))[:, self.linked_labels_]
        if self.links_[0].hides_labels:
            return [self.links_[0].score_parts(_beside(document, predicted, 1.0), links)]
        return [
            problem_parts(self.links_[link], _beside(document, predicted[:, :link], self.label_scale))
            for link in links.tolist()
        ]


def _beside(X: Csr, labels: Bools, scale: float) -> Csr:
    """X with one further column per label, which holds `scale` where the document has the label."""
    return Csr(sparse.hstack([X, Csr(labels * scale)], format="csr"))


def with_label_column(X: Csr, has_label: Bools, scale: float = 1.0) -> Csr:
    """X with one more column that holds `scale` in the rows of documents with the label.

    >>> with_label_column(Csr([[1.0, 0.0], [0.0, 2.0]]), np.array([False, True]), 3.0).toarray().tolist()
    [[1.0, 0.0, 0.0], [0.0, 2.0, 3.0]]
    """
    ends = X.indptr[1:][has_label]
    indices = np.insert(X.indices, ends, X.shape[1])
    data = np.insert(X.data, ends, scale)
    indptr = X.indptr + np.concatenate([[0], np.cumsum(has_label)]).astype(X.indptr.dtype)
    return Csr((data, indices, indptr), shape=(X.shape[0], X.shape[1] + 1))


def stratified_folds(Y: Csr, folds: int, seed: int) -> list[Split]:
    """Folds stratified by label, at most one per document; none for a single document."""
    n_folds = min(folds, Y.shape[0])
    return iterative_stratification(Y, n_folds, seed) if n_folds > 1 else []


def _decided_out_of_fold(
    model: MultiLabelModel, X: Csr, has_label: Bools, place: int, splits: list[Split], options: Mapping[str, Any]
) -> Bools:
    """Whether a model that did not see the document predicts the label for it, per document."""
    decided = np.zeros(X.shape[0], dtype=np.bool_)
    for train, test in splits:
        known = has_label[train]
        if known.all() or not known.any():
            decided[test] = known.all()
            continue
        fitted = fit_problem(model, Csr(X[train]), known, place, **for_rows(options, train))
        decided[test] = problem_decisions(fitted, problem_scores(fitted, Csr(X[test])))
    return decided
