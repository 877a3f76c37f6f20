"""Models that store their training documents as unit vectors and compare new documents with the nearest ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints, rows_of_cells
from manylabel.kernels.nearest import Neighbours, nearest_index
from manylabel.models.base import MultiLabelModel
from manylabel.models.evidence import NeighbourVotes
from manylabel.parameters import AnyOf, Number, OneOf
from manylabel.stored import Matrix, Stored, wholes

K = Number(low=1, whole=True)
JOBS = AnyOf(OneOf(None, -1), Number(low=1, whole=True))


class Index(Protocol):
    """Training documents in which the nearest ones can be found."""

    def find(self, queries: Any, k: int, *, skip: npt.ArrayLike | None = None, n_jobs: int | None = None) -> Neighbours:
        """See `manylabel.kernels.nearest.nearest`."""


class NeighbourModel(MultiLabelModel):
    """Unit vectors of the training documents with their label sets, and the k nearest of them by cosine.

    Only documents of positive cosine are neighbours, so there may be fewer than k; ties go to the lowest document. The
    index over the stored vectors is not part of the model file: it is built in `fit`, or on first use after `restore`.
    """

    needs_counts: ClassVar[bool] = False
    k: int
    n_jobs: int | None

    documents_: Csr
    label_sets_: Csr
    label_documents_: Ints
    _index: Index | None = None

    learned: ClassVar[Mapping[str, Stored]] = {
        "documents_": Matrix("documents", "terms", ("f4", "f8")),
        "label_sets_": Matrix("documents", "labels", ("i1",)),
        "label_documents_": wholes("labels"),
    }

    def keep(self, X: Csr, Y: Csr) -> None:
        """Store the training documents and their label sets, and build the index."""
        self.documents_ = unit_vectors(X)
        self.keep_labels(Y)
        self._index = nearest_index(self.documents_)

    def keep_labels(self, Y: Csr) -> None:
        """Store the label sets of the training documents."""
        self.label_sets_ = Y
        self.label_documents_ = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64)

    def search_in(self, index: Index) -> None:
        """Find neighbours in an index of the training documents that is elsewhere."""
        self._index = index

    def restore(self, state: Mapping[str, Any]) -> Self:
        """Set the learned attributes to what `learned_state` returned; an index over other documents is dropped."""
        self._index = None
        return super().restore(state)

    @property
    def index(self) -> Index:
        """The stored documents by term."""
        if self._index is None:
            self._index = nearest_index(self.documents_)
        return self._index

    def neighbours(self, X: Csr, skip: npt.ArrayLike | None = None) -> Neighbours:
        """The k nearest training documents of each document, without the one training document in `skip` for each."""
        return self.index.find(unit_vectors(X), self.k, skip=skip, n_jobs=self.n_jobs)

    def votes_by_term(self, document: Csr, found: Neighbours, weights: Floats) -> tuple[Csr, Csr]:
        """The vote of each neighbour of a document, divided among terms (neighbours × terms), and their label sets.

        The similarity of neighbour j is Σ_t q_t v_jt, so its vote w_j is divided among the terms in the ratio q_t v_jt.
        """
        near = found.ids[0, : found.counts[0]]
        stored = self.documents_[near]
        query = unit_vectors(document).toarray().ravel()
        share = weights[: len(near)] / found.similarities[0, : len(near)]
        amounts = stored.data * query[stored.indices] * share[rows_of_cells(stored)]
        parts = Csr((amounts, stored.indices, stored.indptr), stored.shape)
        parts.eliminate_zeros()
        return parts, self.label_sets_[near].astype(np.float64)

    def votes_of(self, document: Csr, found: Neighbours, weights: Floats) -> NeighbourVotes:
        """The neighbours of a document with the given weights of their votes."""
        n = int(found.counts[0])
        parts, sets = self.votes_by_term(document, found, weights)
        near = found.similarities[0, :n].astype(np.float64)
        return NeighbourVotes(found.ids[0, :n], near, weights[:n], sets, parts)


def lengths(X: Csr) -> Floats:
    """The Euclidean length of each document, ‖x‖.

    >>> lengths(Csr(np.array([[3.0, 4.0], [0.0, 0.0]]))).tolist()
    [5.0, 0.0]
    """
    return np.sqrt(np.bincount(rows_of_cells(X), weights=X.data * X.data, minlength=X.shape[0]))


def unit_vectors(X: Csr) -> Csr:
    """Each document divided by its length; one without terms stays zero.

    >>> unit_vectors(Csr(np.array([[3.0, 4.0], [0.0, 0.0]]))).toarray().tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    found = lengths(X)
    scale = np.repeat(np.where(found > 0, found, 1.0), np.diff(X.indptr))
    return Csr((X.data / scale, X.indices, X.indptr), shape=X.shape)
