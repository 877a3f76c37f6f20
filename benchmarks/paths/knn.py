"""The 30 nearest training documents of every test document by cosine."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.paths.contract import OURS, Agreement, Answer, Candidate, Goal, HotPath, Job

K = 30
CHECKED = 300
DIFFERENT = 2e-6  # some of them add in single precision
GROWTH_QUERIES = 500


def _data(inputs: Inputs) -> tuple[Any, Any]:
    """Stored documents and queries; in the growth runs the number of queries stays the same."""
    queries = inputs.matrix("X_test")
    return inputs.matrix("X_train"), queries[: inputs.facts.get("queries", queries.shape[0])]


def manylabel(inputs: Inputs, threads: int) -> Job:
    """An inverted index and one pass a query."""
    from manylabel.kernels.nearest import nearest, nearest_index

    X, Q = _data(inputs)

    def run() -> Any:
        return nearest(nearest_index(X), Q, K, n_jobs=threads)

    return Job(run, lambda found: {"ids": found.ids, "similarities": found.similarities})


def scikit_learn(inputs: Inputs, threads: int) -> Job:
    """`NearestNeighbors`, brute force: the only algorithm it has for sparse cosine."""
    from sklearn.neighbors import NearestNeighbors

    X, Q = _data(inputs)

    def run() -> Any:
        search = NearestNeighbors(n_neighbors=K, metric="cosine", algorithm="brute", n_jobs=threads)
        return search.fit(X).kneighbors(Q)

    return Job(run, lambda found: {"ids": found[1], "similarities": 1 - found[0]})


def sparse_dot_topn(inputs: Inputs, threads: int) -> Job:
    """The 30 largest entries of each row of Q Xᵀ."""
    from sparse_dot_topn import sp_matmul_topn

    X, Q = _data(inputs)

    def run() -> Any:
        return sp_matmul_topn(Q, X.T.tocsr(), top_n=K, sort=True, n_threads=threads)

    def answer(product: Any) -> Answer:
        ids, similarities = np.full((Q.shape[0], K), -1), np.zeros((Q.shape[0], K))
        for row in range(Q.shape[0]):
            a, b = product.indptr[row], product.indptr[row + 1]
            ids[row, : b - a], similarities[row, : b - a] = product.indices[a:b], product.data[a:b]
        return {"ids": ids, "similarities": similarities}

    return Job(run, answer)


def agree(ours: Answer, theirs: Answer, inputs: Inputs) -> Agreement:
    """Whether the similarities agree rank by rank, and our neighbours really have the similarities we say.

    Equal similarities may be ordered either way, so neighbours are not compared by number.
    """
    mine = -np.sort(-np.maximum(ours["similarities"].astype(np.float64), 0), axis=1)
    other = -np.sort(-np.maximum(theirs["similarities"].astype(np.float64), 0), axis=1)
    between = float(np.abs(mine - other).max())
    X, Q = _data(inputs)
    ids = ours["ids"][:CHECKED]
    rows = np.repeat(np.arange(len(ids)), ids.shape[1])
    computed = np.asarray(X[np.maximum(ids.ravel(), 0)].multiply(Q[rows]).sum(axis=1)).reshape(ids.shape)
    within = float(np.abs(np.where(ids >= 0, computed, 0) - ours["similarities"][:CHECKED]).max())
    return Agreement(
        between < DIFFERENT and within < DIFFERENT, f"similarities differ by {max(between, within):.0e} at most"
    )


PATH = HotPath(
    "knn",
    f"{K} nearest neighbours, index and search",
    (
        Candidate(OURS, "manylabel", ("manylabel.kernels.nearest",), manylabel),
        Candidate("brute force", "scikit-learn", ("sklearn.neighbors",), scikit_learn, quick=(1,)),
        Candidate("sparse_dot_topn", "sparse_dot_topn", ("sparse_dot_topn",), sparse_dot_topn),
    ),
    agree,
    (Goal("brute force", 10, our_threads=2),),
    growth=("documents", "terms"),
)
