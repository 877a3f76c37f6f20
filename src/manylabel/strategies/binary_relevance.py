"""Each label on its own: one two-class problem per label, over any model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.kernels.threads import in_threads
from manylabel.models.base import MultiLabelModel
from manylabel.models.evidence import ScoreParts, asked_for, placed_parts
from manylabel.models.exported import ExportedScores, scores_of
from manylabel.models.score_kinds import Bools
from manylabel.parameters import AnyOf, Constraint, Number, OneOf
from manylabel.progress import stage
from manylabel.stored import Each, Maybe, Part, Sizes, Sometimes, Stored, wholes
from manylabel.strategies.two_class import (
    BASE_MODEL,
    TwoClassStrategy,
    carriers,
    fit_problem,
    problem_decisions,
    problem_parts,
    problem_scores,
)


class BinaryRelevance(TwoClassStrategy):
    """One two-class problem per label, learned independently of all others.

    A model of ours that already treats each label alone (`BinaryNaiveBayes`, `LinearSVM`, `ValueWeightedNaiveBayes`)
    is fitted once on all labels. Any other, and any classifier of scikit-learn with `decision_function` or
    `predict_proba`, is copied once per label, on one shared X and up to `n_jobs` threads (1; None or −1: one per core).
    Scores are log-odds where the model gives probabilities, margins otherwise. A label that every training document
    has, or none, is constant: ±∞ as log-odds, ±1 as a margin.

    Source: Manning, Raghavan & Schütze 2008, section 14.5; Lee 2018 takes it as the start of co-training.

    >>> from sklearn.naive_bayes import MultinomialNB
    >>> X = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]])
    >>> Y = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]])
    >>> model = BinaryRelevance(MultinomialNB()).fit(X, Y)
    >>> model.predict_proba(X).round(6).tolist()[0]
    [0.901112, 0.201995, 0.0]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": BASE_MODEL,
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
    }
    model_: MultiLabelModel | None = None
    """The one model of all labels, where the model treats each label alone."""
    models_: list[Any]
    """Otherwise, the models of the labels that are not constant."""
    learned_labels_: Ints
    """The label of each of them."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "model_": Sometimes(Maybe(Part(MultiLabelModel, "labels", "terms"))),
        "models_": Sometimes(Each(Part(MultiLabelModel, 1, "terms"), "learned")),
        "learned_labels_": Sometimes(wholes("learned", below="labels"), "models_"),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` where there is neither the model of all labels nor a model per label."""
        if state.get("model_") is None and "models_" not in state:
            raise ValueError(f"{type(self).__name__} has no models")
        return super().check_learned(state)

    def __init__(self, model: Any, n_jobs: int | None = 1) -> None:
        self.model = model
        self.n_jobs = n_jobs

    def fit(self, X: object, Y: object, **options: Any) -> Self:
        """Learn each label; `options` go to the model's `fit`."""
        features, targets = self.check_training(X, Y)
        model = self.base_model
        if model.independent_labels:
            self.model_ = unfitted_copy(model).fit(features, targets.Y, **options)
            return self
        by_label = sparse.csc_array(targets.Y)
        self.learned_labels_ = np.flatnonzero(~self.note_constant_labels(targets.Y))
        with stage("Learning labels", len(self.learned_labels_)) as advance:

            def learn_label(label: int) -> MultiLabelModel:
                fitted = fit_problem(model, features, carriers(by_label, label), **options)
                advance(1)
                return fitted

            self.models_ = in_threads(learn_label, self.learned_labels_.tolist(), self.n_jobs)
        return self

    def score_batch(self, X: Csr) -> Floats:
        """The score of every label by its own model."""
        if self.model_ is not None:
            return self.model_.score_batch(X)
        scores = self.constant_scores(X.shape[0])
        if X.shape[0] == 0:
            return scores
        found = in_threads(lambda fitted: problem_scores(fitted, X), self.models_, self.n_jobs)
        for label, column in zip(self.learned_labels_.tolist(), found, strict=True):
            scores[:, label] = column
        return scores

    @property
    def is_exportable(self) -> bool:
        """Whether one model of all labels is learned and its scores can be exported."""
        return self.base_model.is_exportable and self.base_model.independent_labels

    def exported_scores(self) -> ExportedScores:
        """The scores of the one model of all labels."""
        assert self.model_ is not None
        return scores_of(self.model_)

    def natural_decision(self, scores: Floats) -> Bools:
        """The labels that their own models predict without a learned decision rule."""
        if self.model_ is not None:
            return self.model_.natural_decision(scores)
        chosen = np.tile(self.always_, (scores.shape[0], 1))
        for label, fitted in zip(self.learned_labels_.tolist(), self.models_, strict=True):
            chosen[:, label] = problem_decisions(fitted, scores[:, label])
        return chosen

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds to the scores of some labels (default: all), labels × terms.

        Each label's model computes it; constant labels have no evidence. For naive Bayes and linear models it adds up,
        with the score of an empty document, to the score.
        """
        return self.score_parts(x, labels).terms

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's scores, each label's by its own model; those of constant labels are constant."""
        document, wanted = asked_for(self, x, labels)
        if self.model_ is not None:
            return self.model_.score_parts(document, wanted)
        models = dict(zip(self.learned_labels_.tolist(), self.models_, strict=True))
        places = np.flatnonzero(np.isin(wanted, self.learned_labels_))
        rows = [problem_parts(models[label], document) for label in wanted[places].tolist()]
        return placed_parts(rows, places, self.constant_scores(1)[0, wanted], document.shape[1])
