"""The negatives nearest to a label: the ones worth telling it apart from."""

from __future__ import annotations

import numpy as np

from manylabel.estimator import Csr, Ints
from manylabel.kernels.label_tables import documents_by_label
from manylabel.kernels.nearest import nearest, nearest_index
from manylabel.kernels.threads import in_threads


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
        # The label's own documents are among the nearest, so as many more are looked for.
        found = nearest(index, centroids[[label]], size + len(own), n_jobs=1)
        ranked = found.ids[0, : found.counts[0]].astype(np.int64)
        return np.sort(ranked[~np.isin(ranked, own)][:size])

    zones = in_threads(zone, range(Y.shape[1]), n_jobs)
    sizes = [len(found) for found in zones]
    documents = np.concatenate([np.zeros(0, dtype=np.int64), *zones])
    by_label = Csr((np.ones(len(documents), dtype=np.int8), documents, np.cumsum([0, *sizes])), Y.shape[::-1])
    return Csr(by_label.T.tocsr())
