"""Models that keep their training documents and ask the nearest ones."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels.nearest import NearestIndex, Neighbours, nearest, nearest_index
from manylabel.models.base import MultiLabelModel
from manylabel.models.unit_vectors import unit_vectors
from manylabel.parameters import AnyOf, Number, OneOf

K = Number(low=1, whole=True)
JOBS = AnyOf(OneOf(None, -1), Number(low=1, whole=True))


class NeighbourModel(MultiLabelModel):
    """Unit vectors of the training documents with their label sets, and the k nearest of them by cosine.

    Only documents of positive cosine are neighbours, so there may be fewer than k; ties go to the lowest document. The
    index is made of the stored vectors, again after loading, and is no part of the model file.
    """

    needs_counts: ClassVar[bool] = False
    k: int
    n_jobs: int | None

    documents_: Csr
    label_sets_: Csr
    label_documents_: Ints

    def keep(self, X: Csr, Y: Csr) -> None:
        """Store the training documents."""
        self.documents_, self.label_sets_ = unit_vectors(X), Y
        self.label_documents_ = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64)
        self._index = (self.documents_, nearest_index(self.documents_))

    @property
    def index(self) -> NearestIndex:
        """The stored documents by term; made when it is first asked for after loading."""
        kept: tuple[Csr, NearestIndex] | None = getattr(self, "_index", None)
        if kept is None or kept[0] is not self.documents_:
            kept = self._index = (self.documents_, nearest_index(self.documents_))
        return kept[1]

    def neighbours(self, X: Csr, skip: npt.ArrayLike | None = None) -> Neighbours:
        """The k nearest training documents of each document, `skip` naming one to leave out for each."""
        return nearest(self.index, unit_vectors(X), self.k, skip=skip, n_jobs=self.n_jobs)

    def votes_by_word(self, document: Csr, weights: Floats) -> tuple[Csr, Csr]:
        """How each neighbour's vote comes from words: neighbours × terms, and the neighbours' label sets.

        Neighbour j is as near as Σ_t q_t v_jt says, so its vote w_j is divided among the words in the ratio q_t v_jt.
        """
        found = self.neighbours(document)
        near = found.ids[0, : found.counts[0]]
        stored = self.documents_[near]
        query = unit_vectors(document).toarray().ravel()
        share = weights[: len(near)] / found.similarities[0, : len(near)]
        rows = np.repeat(np.arange(len(near)), np.diff(stored.indptr))
        parts = Csr((stored.data * query[stored.indices] * share[rows], stored.indices, stored.indptr), stored.shape)
        parts.eliminate_zeros()
        return parts, self.label_sets_[near].astype(np.float64)
