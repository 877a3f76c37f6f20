"""Rocchio: each label is a prototype, the mean of its documents; documents are scored by their nearness to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import ParameterError
from manylabel.kernels.label_tables import count_terms_by, documents_by_label
from manylabel.kernels.nearest import nearest, nearest_index
from manylabel.kernels.threads import in_threads
from manylabel.models.base import WORKING_MEMORY, DocumentScorer
from manylabel.models.count_model import CountModel, LabelTermCounts
from manylabel.models.evidence import ScoreParts, asked_for, linear_evidence
from manylabel.models.exported import ExportedScores
from manylabel.models.linear_scores import LinearScores, by_term, scaled_rows
from manylabel.models.neighbour_model import lengths, unit_vectors
from manylabel.models.score_kinds import Bools, ScoreKind, best_label
from manylabel.parameters import AnyOf, Constraint, Number, OneOf
from manylabel.stored import Stored, reals


class Rocchio(CountModel):
    """The similarity of a document to each label's prototype.

    p_l = β · mean of the documents with l − γ · mean of documents without l

    cosine      cos(p_l, q); 0 where the document or the prototype is zero
    euclidean   −‖p_l − q‖

    `distance` is one of these; β is `beta`, γ `gamma`. Documents are scaled to unit vectors (of tf-idf, in the
    catalogue); prototypes are not scaled. γ = 0 is the centroid. With γ > 0, `negatives` chooses which documents
    without the label count: ``"all"``, or the number of them that are most similar to the label's centroid, its *zone*.
    Distant documents carry little information about the label. Documents without any label are in no centroid, but are
    negatives of every label.

    Source: Manning, Raghavan & Schütze 2008, section 14.2; the negative part is Rocchio's relevance feedback (section
    9.1), the zones are those of Singhal, Mitra & Buckley 1997 (query zones), used for classification by Schapire,
    Singer & Singhal 1998.

    A label without documents scores −∞. `predict` returns the nearest label, or the most frequent one if the cosine
    with every label is 0. Centroids and negatives of the form ``"all"`` are formulas on sums of vectors: `partial_fit`
    and `merge` add them up.

    >>> X, Y = np.array([[0.6, 0.8], [1, 0], [0, 1]]), np.array([[1, 0], [1, 0], [0, 1]])
    >>> Rocchio().fit(X, Y).scores([[0.8, 0.6]]).round(5).tolist()
    [[0.98387, 0.6]]
    """

    score_kind = ScoreKind.SIMILARITY
    needs_counts: ClassVar[bool] = False
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "distance": OneOf("cosine", "euclidean"),
        "beta": Number(low=0, open_low=True),
        "gamma": Number(low=0),
        "negatives": AnyOf(OneOf("all"), Number(low=1, whole=True)),
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
    }

    label_documents_: Ints
    prototype_lengths_: Floats

    learned: ClassVar[Mapping[str, Stored]] = {
        "prototype_lengths_": reals("labels"),
    }

    def __init__(
        self,
        distance: Literal["cosine", "euclidean"] = "cosine",
        beta: float = 1.0,
        gamma: float = 0.0,
        negatives: Literal["all"] | int = "all",
        n_jobs: int | None = None,
    ) -> None:
        self.distance = distance
        self.beta = beta
        self.gamma = gamma
        self.negatives = negatives
        self.n_jobs = n_jobs

    # --- learning ---------------------------------------------------------------------------------------------

    @property
    def is_additive(self) -> bool:
        """Whether the prototypes are a formula on sums; zones are not, since each new document may move them."""
        return self.gamma == 0 or self.negatives == "all"

    def learn(self, X: Csr, Y: Csr) -> None:
        """Add up the vectors of each label; where negatives are zoned, find the zones and add up theirs too."""
        if self.is_additive:
            super().learn(X, Y)
            return
        X = unit_vectors(X)
        assert isinstance(self.negatives, int)
        sums, n_l = count_terms_by(Y, X, self.n_jobs), _counts(Y)
        zones = negative_zones(X, Y, sums, self.negatives, self.n_jobs)
        positive = scaled_rows(sums, self.beta / np.maximum(n_l, 1))
        negative = scaled_rows(count_terms_by(zones, X, self.n_jobs), self.gamma / np.maximum(_counts(zones), 1))
        prototypes = Csr(positive - negative)
        prototypes.sort_indices()
        self.label_documents_ = n_l
        linear = self._linear(prototypes, np.zeros((X.shape[1], 0)), np.zeros((0, len(n_l))), lengths(prototypes), n_l)
        self.restore(linear.as_learned())

    def count(self, X: Csr, Y: Csr) -> LabelTermCounts:
        """Sums of unit vectors by label."""
        return super().count(unit_vectors(X), Y)

    def formula(self, table: LabelTermCounts) -> LinearScores:
        """The prototypes a S_l − b T, from the label's sum S_l and the sum T of all documents.

        β S_l/n − γ (T − S_l)/(N − n) gives a = β/n + γ/(N − n) and b = γ/(N − n).
        """
        S, n = table.label_terms, table.label_documents
        T = table.labelled_terms + table.unlabelled_terms
        N = table.labelled_documents + table.unlabelled_documents
        b = np.where(n < N, self.gamma / np.maximum(N - n, 1), 0.0)
        a = self.beta / np.maximum(n, 1) + b
        positive = (a * lengths(S)) ** 2
        squares = positive - 2 * a * b * (S @ T) + b**2 * (T @ T)
        # A prototype that cancels out is zero; what rounding leaves of it must not be scaled up to a direction.
        squares = np.where(squares > 1e-13 * positive, squares, 0.0)
        background, loadings = np.zeros((len(T), 0)), np.zeros((0, len(n)))
        if self.gamma > 0:
            background, loadings = T[:, np.newaxis], -b[np.newaxis]
        return self._linear(scaled_rows(S, a), background, loadings, np.sqrt(squares), n)

    def _linear(self, part: Csr, background: Floats, loadings: Floats, length: Floats, n_l: Ints) -> LinearScores:
        """The products q · p_l, divided by ‖p_l‖ for the cosine, as a linear model."""
        self.prototype_lengths_ = length
        if self.distance == "cosine":
            scale = 1.0 / np.where(length > 0, length, 1.0)
            part, loadings = scaled_rows(part, scale), loadings * scale
        intercept = np.where(n_l > 0, 0.0, -np.inf)
        return LinearScores(intercept, background, loadings, by_term(part.data, part))

    @property
    def partial_fit(self) -> Callable[..., Self]:
        """``partial_fit(X, Y, classes=None)``: learn from more documents; only where `is_additive`."""
        if not self.is_additive:
            raise AttributeError("Rocchio with zoned negatives cannot learn in pieces: a new document moves the zones.")
        return super().partial_fit

    def merge(self, other: Self) -> Self:
        """A new model, the same as one fitted on the documents of both."""
        if not self.is_additive:
            raise ParameterError("Rocchio with zoned negatives cannot be merged. Fit it on all documents at once.")
        return super().merge(other)

    # --- scoring ----------------------------------------------------------------------------------------------

    def score_batch(self, X: Csr) -> Floats:
        """Cosines, or distances with a minus sign."""
        return self._nearness(self.linear(unit_vectors(X)), np.diff(X.indptr) > 0)

    def _nearness(self, products: Floats, has_words: Bools) -> Floats:
        """Scores from the products q · p_l (q · p_l/‖p_l‖ for the cosine) of documents of length 1 or 0."""
        if self.distance == "cosine":
            return products
        squares = has_words[:, np.newaxis] - 2 * products + self.prototype_lengths_**2
        return np.where(np.isneginf(products), -np.inf, -np.sqrt(np.maximum(squares, 0.0)))

    def document_scorer(self) -> DocumentScorer:
        """A scorer that reads the weights of the document's terms only."""
        linear = self.linear

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            length = float(np.sqrt(values @ values))
            unit = values / length if length > 0 else values
            nearness: Floats = self._nearness(linear.of_document(terms, unit)[np.newaxis], np.array([length > 0]))[0]
            return nearness

        return score

    @property
    def is_exportable(self) -> bool:
        """Whether the scores are cosines, which are linear in documents of length 1."""
        return self.distance == "cosine"

    def exported_scores(self) -> ExportedScores:
        """The cosines: the linear scores of documents of length 1."""
        found = super().exported_scores()
        # The natural decision has no form: the most frequent label where every cosine is 0.
        return replace(found, blocks=(replace(found.blocks[0], values="unit"),), natural={})

    def natural_decision(self, scores: Floats) -> Bools:
        """The nearest label; the most frequent one where the cosine with every label is 0."""
        chosen = best_label(scores)
        if self.distance == "cosine" and self.label_documents_.any():
            unknown = ((scores == 0) | np.isneginf(scores)).all(axis=1)
            chosen[unknown] = np.arange(self.n_labels_) == self.label_documents_.argmax()
        return chosen

    def predict(self, X: object, *, working_memory: int = WORKING_MEMORY) -> Any:
        """The nearest label of each document, in batches that keep within `working_memory` bytes."""
        features = self.features(X)
        if self.label_form_ != "single":
            return super().predict(features, working_memory=working_memory)
        batches = self.score_in_batches(features, working_memory)
        best = [self.natural_decision(scores).argmax(axis=1) for _, scores in batches]
        return self.classes_[np.concatenate([np.zeros(0, dtype=np.intp), *best])]

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term adds to q · p_l (for the cosine, to the score), labels × terms."""
        document, wanted = asked_for(self, x, labels)
        return linear_evidence(self.linear, unit_vectors(document), wanted)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's products with the prototypes; for the cosine they are the scores."""
        document, wanted = asked_for(self, x, labels)
        linear = self.linear
        return ScoreParts(
            self.evidence(document, wanted),
            linear(unit_vectors(document))[0, wanted],
            linear.intercept[wanted],
            quantity="score" if self.distance == "cosine" else "product with the prototype",
        )


def _counts(Y: Csr) -> Ints:
    return np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64)


def negative_zones(X: Csr, Y: Csr, centroids: Csr, size: int, n_jobs: int | None = None) -> Csr:
    """Documents × labels, 1 for the `size` documents without the label that are most similar to its centroid.

    Similarity is the inner product with the row of `centroids` (labels × terms, in any scale), ties by lowest document;
    documents that share no term with it are in no zone, and a label without documents has none. Source: Singhal, Mitra
    & Buckley 1997.

    >>> X = Csr(np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0]]))
    >>> Y = Csr(np.array([[1], [0], [0], [0]]))
    >>> negative_zones(X, Y, X[:1], 2).toarray().ravel().tolist()
    [0, 1, 1, 0]
    """
    index = nearest_index(X)
    starts, positives = documents_by_label(Y)

    def zone(label: int) -> Ints:
        own = positives[starts[label] : starts[label + 1]]
        if not len(own) or len(own) == X.shape[0]:
            return np.zeros(0, dtype=np.int64)
        # The label's own documents are among the nearest, so the search returns as many more.
        found = nearest(index, centroids[[label]], size + len(own), n_jobs=1)
        ranked = found.ids[0, : found.counts[0]].astype(np.int64)
        return np.sort(ranked[~np.isin(ranked, own)][:size])

    zones = in_threads(zone, range(Y.shape[1]), n_jobs)
    sizes = [len(found) for found in zones]
    documents = np.concatenate([np.zeros(0, dtype=np.int64), *zones])
    by_label = Csr((np.ones(len(documents), dtype=np.int8), documents, np.cumsum([0, *sizes])), Y.shape[::-1])
    return Csr(by_label.T.tocsr())
