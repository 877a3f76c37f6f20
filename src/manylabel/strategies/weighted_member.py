"""A model with its own weighting, so that members of an ensemble can share the same counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.features.vector_view import LENGTH
from manylabel.features.weighting import Weighting
from manylabel.models import label_axis
from manylabel.models.base import WORKING_MEMORY, DocumentScorer, MultiLabelModel
from manylabel.models.evidence import NeighbourVotes, ScoreParts
from manylabel.models.exported import ExportedScores, scores_of
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import AnyOf, Constraint, Number, OneOf, Satisfies
from manylabel.stored import Maybe, Part, Sizes, Stored


class WeightedMember(MultiLabelModel):
    """A model that reads weighted counts: `weighting` is applied before the model.

    Without a weighting it is the model itself. Document frequencies are learned in `fit`, from the documents the model
    learns from, and so anew in every fold.

    The last `vectors` columns of X are no terms but a dense vector (`VectorView`), which is not weighted. `reads` says
    what the model learns from: "terms", "vectors" (then of length 1), or "both" side by side. A model of counts reads
    the terms.

    >>> from manylabel.models.linear_svm import LinearSVM
    >>> X, Y = Csr([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]]), Csr([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> member = WeightedMember(LinearSVM(), Weighting(tf="log", idf="smooth", norm="l2")).fit(X, Y)
    >>> member.predict(X).toarray().tolist()
    [[1, 0], [0, 1], [1, 1], [0, 0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": Satisfies("a model with fit and scores", lambda value: isinstance(value, MultiLabelModel)),
        "weighting": AnyOf(OneOf(None), Satisfies("a Weighting", lambda value: isinstance(value, Weighting))),
        "vectors": Number(low=0, whole=True),
        "reads": OneOf("terms", "vectors", "both"),
    }
    model_: MultiLabelModel
    weighting_: Weighting | None

    learned: ClassVar[Mapping[str, Stored]] = {
        "weighting_": Maybe(Part(Weighting, terms="weighted terms")),
        "model_": Part(MultiLabelModel, "labels", "columns read"),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` unless the weighting and the model read the columns that the settings name."""
        sizes = super().check_learned(state)
        n_columns = sizes["terms"]
        read = len(range(n_columns)[self._columns(n_columns)])
        if sizes.get("columns read", read) != read or sizes.get("weighted terms", n_columns - self.vectors) != (
            n_columns - self.vectors
        ):
            raise ValueError("WeightedMember reads other columns than there are")
        return {name: sizes[name] for name in ("labels", "terms") if name in sizes}

    def __init__(
        self,
        model: MultiLabelModel,
        weighting: Weighting | None = None,
        vectors: int = 0,
        reads: Literal["terms", "vectors", "both"] = "both",
    ) -> None:
        self.model = model
        self.weighting = weighting
        self.vectors = vectors
        self.reads: Literal["terms", "vectors", "both"] = reads

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """The kind of the model's scores."""
        return self.model.score_kind

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model or the weighting needs non-negative input; not of vectors, which neither reads."""
        return not self.vectors and (
            self.model.needs_counts or (self.weighting is not None and self.weighting.needs_counts)
        )

    @property
    def reads_vectors(self) -> bool:
        """Whether the model learns from vectors."""
        return self.vectors > 0 and self.reads != "terms" and not self.model.needs_counts

    @property
    def scale(self) -> float:
        """What the weighted terms are multiplied by."""
        return 1.0

    def _columns(self, n_columns: int) -> slice:
        """The columns of X that the model reads."""
        n_terms = n_columns - self.vectors
        if not self.reads_vectors:
            return slice(0, n_terms)
        return slice(n_terms if self.reads == "vectors" else 0, n_columns)

    def _fit_weighting(self, X: Csr) -> None:
        weighs = self.weighting is not None and (self.reads != "vectors" or not self.reads_vectors)
        terms = Csr(X[:, : X.shape[1] - self.vectors]) if self.vectors else X
        self.weighting_ = unfitted_copy(self.weighting).fit(terms) if weighs and self.weighting is not None else None

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The facts the model wants; those about counts only where it is given counts."""
        return self.model.wants - ({"counts_of_counts"} if self.weighting is not None else set())

    def fit(self, X: object, Y: object, **options: Any) -> Self:
        """Learn the weighting, then the model; `options` go to its `fit`."""
        features, targets = self.check_training(X, Y)
        self._fit_weighting(features)
        # The model sees Y in the form it was given, so that it answers in that form.
        given = Y if targets.form == "single" else targets.Y
        self.model_ = unfitted_copy(self.model).fit(self._weighed(features), given, **options)
        return self

    def fit_keeping(self, X: Csr, Y: Csr, **facts: Any) -> Csr | None:
        """Learn the weighting, then the model; return the model's solution."""
        features, targets = self.check_training(X, Y)
        self._fit_weighting(features)
        self.model_ = unfitted_copy(self.model)
        return self.model_.fit_keeping(self._weighed(features), targets.Y, **facts)

    @property
    def weighs_documents(self) -> bool:  # type: ignore[override]
        """Whether the model weighs documents."""
        return self.model.weighs_documents

    def fit_weighted(self, X: object, Y: object, weights: npt.ArrayLike) -> Self:
        """Learn the weighting of terms, in which every document counts once, then the model with `weights`."""
        features, targets = self.check_training(X, Y)
        self._fit_weighting(features)
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
        made._take_weighting(self)
        made.model_ = self.model_.refit(made._weighed(features), targets.Y, columns, **self.model_.wanted(facts))
        return made

    def _take_weighting(self, other: WeightedMember) -> None:
        self.weighting_ = other.weighting_

    def _weighs_as(self, other: WeightedMember) -> bool:
        one, two = self.weighting_, other.weighting_
        return one is two or (one is not None and two is not None and np.array_equal(one.idf_, two.idf_))

    def _weighed(self, X: Csr) -> Csr:
        """The columns that the model reads, with the terms weighted."""
        if not self.vectors:
            return self._weighted_terms(X)
        n_terms = X.shape[1] - self.vectors
        if self.reads_vectors and self.reads == "vectors":
            return Csr(X[:, n_terms:] / LENGTH)
        terms = self._weighted_terms(Csr(X[:, :n_terms]))
        return Csr(sparse.hstack([terms, X[:, n_terms:]], format="csr")) if self.reads_vectors else terms

    def _weighted_terms(self, X: Csr) -> Csr:
        if self.weighting_ is None:
            return X
        weighed = self.weighting_.transform(X)
        if self.model.needs_counts and weighed.nnz and weighed.data.min() < 0:
            # 1 + ln x of a fractional count below 1/e; a model of counts can make nothing of it.
            np.maximum(weighed.data, 0, out=weighed.data)
        return weighed

    def _placed(self, table: Csr) -> Csr:
        """A table of the columns that the model reads as one of all columns of X."""
        first = self._columns(self.n_features_in_).start
        return Csr((table.data, table.indices + first, table.indptr), shape=(table.shape[0], self.n_features_in_))

    def score_batch(self, X: Csr) -> Floats:
        """The model's scores of the weighted documents."""
        return self.model_.score_batch(self._weighed(X))

    def document_scorer(self) -> DocumentScorer | None:
        """The model's function that scores one document, applied to weighted terms; None if it has none."""
        score, weighting = self.model_.document_scorer(), self.weighting_
        if score is None or (weighting is not None and self.model.needs_counts):
            return None
        columns, n_terms = self._columns(self.n_features_in_), self.n_features_in_ - self.vectors

        def scored(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            behind = int(terms.searchsorted(n_terms)) if self.vectors else len(terms)
            if columns.start:
                return score(terms[behind:] - np.int32(columns.start), values[behind:] / LENGTH)
            weighted = values[:behind] if weighting is None else weighting.weigh_one(terms[:behind], values[:behind])
            if columns.stop == n_terms:
                return score(terms[:behind], weighted)
            return score(terms, np.concatenate([weighted, values[behind:]]))

        return scored if weighting is not None or self.vectors else score

    @property
    def is_exportable(self) -> bool:
        """Whether the model's scores can be exported; not beside vectors, which other engines do not compute."""
        return (self.model_ if self.is_fitted else self.model).is_exportable and not self.vectors

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
        return self._placed(self.model_.evidence(self._weighed(self.features(x)), labels))

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of the model's scores of the weighed document."""
        found = self.model_.score_parts(self._weighed(self.features(x)), labels)
        return replace(found, terms=self._placed(found.terms))

    def neighbour_votes(self, x: object) -> NeighbourVotes | None:
        """The training documents that vote on the weighed document, if the model has neighbours."""
        found = self.model_.neighbour_votes(self._weighed(self.features(x)))
        return None if found is None else replace(found, terms=self._placed(found.terms))

    @property
    def member_name(self) -> str:
        """The name of the model."""
        return self.model.member_name


def reads_vectors(model: MultiLabelModel) -> bool:
    """Whether a model reads the vectors behind the terms: False where all its members leave them out."""
    members = [one for one in model.walk() if isinstance(one, WeightedMember)]
    return not members or any(member.reads_vectors for member in members)


def holds_vectors(model: MultiLabelModel) -> bool:
    """Whether a model is given X with vectors behind the terms, read or not."""
    members = [one for one in model.walk() if isinstance(one, WeightedMember)]
    return not members or any(member.vectors for member in members)
