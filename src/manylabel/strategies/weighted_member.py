"""A model with its own weighting, so that members of an ensemble can share the same counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.features.weighting import Weighting
from manylabel.models import label_axis
from manylabel.models.base import WORKING_MEMORY, DocumentScorer, MultiLabelModel
from manylabel.models.evidence import NeighbourVotes, ScoreParts
from manylabel.models.exported import ExportedScores, scores_of
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import AnyOf, Constraint, OneOf, Satisfies
from manylabel.stored import Maybe, Part, Stored


class WeightedMember(MultiLabelModel):
    """A model that reads weighted counts: `weighting` is applied before the model.

    Without a weighting it is the model itself. Document frequencies are learned in `fit`, from the documents the model
    learns from, and so anew in every fold.

    >>> from manylabel.models.linear_svm import LinearSVM
    >>> X, Y = Csr([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]]), Csr([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> member = WeightedMember(LinearSVM(), Weighting(tf="log", idf="smooth", norm="l2")).fit(X, Y)
    >>> member.predict(X).toarray().tolist()
    [[1, 0], [0, 1], [1, 1], [0, 0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": Satisfies("a model with fit and scores", lambda value: isinstance(value, MultiLabelModel)),
        "weighting": AnyOf(OneOf(None), Satisfies("a Weighting", lambda value: isinstance(value, Weighting))),
    }
    model_: MultiLabelModel
    weighting_: Weighting | None

    learned: ClassVar[Mapping[str, Stored]] = {
        "weighting_": Maybe(Part(Weighting, terms="terms")),
        "model_": Part(MultiLabelModel, "labels", "terms"),
    }

    def __init__(self, model: MultiLabelModel, weighting: Weighting | None = None) -> None:
        self.model = model
        self.weighting = weighting

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """The kind of the model's scores."""
        return self.model.score_kind

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model or the weighting needs non-negative input."""
        return self.model.needs_counts or (self.weighting is not None and self.weighting.needs_counts)

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The facts the model wants; those about counts only where it is given counts."""
        return self.model.wants - ({"counts_of_counts"} if self.weighting is not None else set())

    def fit(self, X: object, Y: object, **options: Any) -> Self:
        """Learn the weighting, then the model; `options` go to its `fit`."""
        features, targets = self.check_training(X, Y)
        self.weighting_ = None if self.weighting is None else unfitted_copy(self.weighting).fit(features)
        # The model sees Y in the form it was given, so that it answers in that form.
        given = Y if targets.form == "single" else targets.Y
        self.model_ = unfitted_copy(self.model).fit(self._weighed(features), given, **options)
        return self

    def fit_keeping(self, X: Csr, Y: Csr, **facts: Any) -> Csr | None:
        """Learn the weighting, then the model; return the model's solution."""
        features, targets = self.check_training(X, Y)
        self.weighting_ = None if self.weighting is None else unfitted_copy(self.weighting).fit(features)
        self.model_ = unfitted_copy(self.model)
        return self.model_.fit_keeping(self._weighed(features), targets.Y, **facts)

    @property
    def weighs_documents(self) -> bool:  # type: ignore[override]
        """Whether the model weighs documents."""
        return self.model.weighs_documents

    def fit_weighted(self, X: object, Y: object, weights: npt.ArrayLike) -> Self:
        """Learn the weighting of terms, in which every document counts once, then the model with `weights`."""
        features, targets = self.check_training(X, Y)
        self.weighting_ = None if self.weighting is None else unfitted_copy(self.weighting).fit(features)
        given = Y if targets.form == "single" else targets.Y
        self.model_ = unfitted_copy(self.model).fit_weighted(self._weighed(features), given, weights)
        return self

    @property
    def independent_labels(self) -> bool:  # type: ignore[override]
        """Whether each label is a problem of its own in the model."""
        return self.model.independent_labels

    def of_labels(self, columns: Ints) -> MultiLabelModel:
        """The model of some labels, with the same weighting."""
        return label_axis.of_labels(self, columns)

    def beside(self, other: MultiLabelModel) -> MultiLabelModel:
        """The labels of both models where they weigh terms alike."""
        alike = isinstance(other, WeightedMember) and self._weighs_as(other)
        return label_axis.beside(self, other) if alike else super().beside(other)

    def refit(self, X: Csr, Y: Csr, columns: Ints, **facts: Any) -> MultiLabelModel:
        """The model fitted to other documents, which are weighed as before."""
        made = unfitted_copy(self)
        features, targets = made.check_training(X, Y)
        made.weighting_ = self.weighting_
        made.model_ = self.model_.refit(made._weighed(features), targets.Y, columns, **self.model_.wanted(facts))
        return made

    def _weighs_as(self, other: WeightedMember) -> bool:
        one, two = self.weighting_, other.weighting_
        return one is two or (one is not None and two is not None and np.array_equal(one.idf_, two.idf_))

    def _weighed(self, X: Csr) -> Csr:
        if self.weighting_ is None:
            return X
        weighed = self.weighting_.transform(X)
        if self.model.needs_counts and weighed.nnz and weighed.data.min() < 0:
            # 1 + ln x of a fractional count below 1/e; a model of counts can make nothing of it.
            np.maximum(weighed.data, 0, out=weighed.data)
        return weighed

    def score_batch(self, X: Csr) -> Floats:
        """The model's scores of the weighted documents."""
        return self.model_.score_batch(self._weighed(X))

    def document_scorer(self) -> DocumentScorer | None:
        """The model's function that scores one document, applied to weighted terms; None if it has none."""
        score, weighting = self.model_.document_scorer(), self.weighting_
        if score is None or weighting is None or self.model.needs_counts:
            return score if weighting is None else None

        def scored(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            return score(terms, weighting.weigh_one(terms, values))

        return scored

    @property
    def is_exportable(self) -> bool:
        """Whether the model's scores can be exported."""
        return self.model.is_exportable

    def exported_scores(self) -> ExportedScores:
        """The model's scores, with the weighting in front of them."""
        found = scores_of(self.model_)
        return replace(found, blocks=tuple(replace(block, weighting=self.weighting_) for block in found.blocks))

    def natural_decision(self, scores: Floats) -> Bools:
        """The model's natural decision."""
        return self.model_.natural_decision(scores)

    def predict(self, X: object, *, working_memory: int = WORKING_MEMORY) -> Any:
        """The labels that the model predicts by its own rule."""
        answer = self.model_.predict(self._weighed(self.features(X)), working_memory=working_memory)
        return self.in_fitted_form([Csr(answer)]) if self.label_form_ == "dense" else answer

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document, weighted, adds to the model's scores, labels × terms."""
        return self.model_.evidence(self._weighed(self.features(x)), labels)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of the model's scores of the weighed document."""
        return self.model_.score_parts(self._weighed(self.features(x)), labels)

    def neighbour_votes(self, x: object) -> NeighbourVotes | None:
        """The training documents that vote on the weighed document, if the model has neighbours."""
        return self.model_.neighbour_votes(self._weighed(self.features(x)))

    @property
    def member_name(self) -> str:
        """The name of the model."""
        return self.model.member_name
