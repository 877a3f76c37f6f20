"""One method for many labels in a process of its own: learn, predict, report; run by `benchmarks.trees`.

``python -m benchmarks.tree_worker NAME FOLDER``: reads the matrices of the folder, prints a line of JSON with CPU
seconds and peak memory, and keeps the five best labels of each test document. One thread. Everything that a library
prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.worker import cpu_seconds, forget_peak, memory

K = 5
Top = Any
"""The best labels of each test document, documents × K."""
Learner = Callable[[Any, Any], Callable[[Any], Top]]
"""X and Y → a function that returns the best labels of documents."""


def main() -> None:
    """Measure one candidate."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    reports = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    X, Y, X_test = (read(folder, part) for part in ("X_train", "Y_train", "X_test"))
    forget_peak()
    start = cpu_seconds()
    predict = CANDIDATES[name][1](X, Y)
    learned = cpu_seconds()
    predict(X_test[:50])  # whatever is prepared at the first call
    began = cpu_seconds()
    top = predict(X_test)
    ended = cpu_seconds()
    np.save(folder / f"top-{name}.npy", np.asarray(top))
    report = {
        "train": learned - start,
        "predict_ms": 1000 * (ended - began) / X_test.shape[0],
        "peak": memory("VmHWM"),
    }
    reports.write(json.dumps(report) + "\n")


def read(folder: Path, part: str) -> Any:
    """One of the matrices that `benchmarks.trees` has written."""
    matrix: Any = sparse.load_npz(folder / f"{part}.npz")
    return matrix.tocsr()


def best(dense: Any) -> Top:
    """The K best labels of each row of dense scores."""
    some = np.argpartition(-dense, K, axis=1)[:, :K]
    order = np.argsort(-np.take_along_axis(dense, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)


def best_stored(scores: Any) -> Top:
    """The K best labels of each row of sparse scores; −1 where there are fewer."""
    scores = scores.tocsr()
    top = np.full((scores.shape[0], K), -1)
    for row in range(scores.shape[0]):
        inside = slice(scores.indptr[row], scores.indptr[row + 1])
        order = np.argsort(-scores.data[inside], kind="stable")[:K]
        top[row, : len(order)] = scores.indices[inside][order]
    return top


def tree(**settings: Any) -> Learner:
    """Label trees of manylabel."""

    def learn(X: Any, Y: Any) -> Callable[[Any], Top]:
        from manylabel.strategies import LabelTree

        model = LabelTree(n_jobs=1, **settings).fit(X, Y)
        return lambda documents: best_stored(model.score_candidates(model.features(documents)))

    return learn


def flat(X: Any, Y: Any) -> Callable[[Any], Top]:
    """Linear SVMs of manylabel, one for each label."""
    from manylabel.models import LinearSVM

    model = LinearSVM(n_jobs=1, tol=0.1).fit(X, Y)

    def predict(documents: Any) -> Top:
        return np.vstack([best(scores) for _, scores in model.score_in_batches(model.features(documents), 1 << 28)])

    return predict


def pecos(chained: bool) -> Learner:
    """PECOS: XR-Linear with its defaults, or one-vs-rest."""

    def learn(X: Any, Y: Any) -> Callable[[Any], Top]:
        from pecos.xmc import Indexer, LabelEmbeddingFactory
        from pecos.xmc.xlinear.model import XLinearModel

        X, Y = X.astype(np.float32), Y.astype(np.float32)
        chain = None
        if chained:
            chain = Indexer.gen(LabelEmbeddingFactory.create(Y, X, method="pifa", threads=1), threads=1)
        model = XLinearModel.train(X, Y, C=chain, threads=1)
        return lambda documents: best_stored(
            model.predict(documents.astype(np.float32), only_topk=K, beam_size=10, threads=1)
        )

    return learn


def omikuji(X: Any, Y: Any) -> Callable[[Any], Top]:
    """Omikuji with its defaults: three Parabel trees."""
    import omikuji as library

    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        write_xmc(file, X, Y)
        model = library.Model.train_on_data(file.name, library.Model.default_hyper_param(), 1)

    def predict(documents: Any) -> Top:
        top = np.full((documents.shape[0], K), -1)
        for row in range(documents.shape[0]):
            inside = slice(documents.indptr[row], documents.indptr[row + 1])
            pairs = list(zip(documents.indices[inside].tolist(), documents.data[inside].tolist(), strict=True))
            found = [label for label, _ in model.predict(pairs, beam_size=10, top_k=K)]
            top[row, : len(found)] = found
        return top

    return predict


def write_xmc(file: Any, X: Any, Y: Any) -> None:
    """Write the format of the Extreme Classification Repository."""
    file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
    for row in range(X.shape[0]):
        labels = ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()))
        inside = slice(X.indptr[row], X.indptr[row + 1])
        cells = zip(X.indices[inside].tolist(), X.data[inside].tolist(), strict=True)
        file.write(labels + "".join(f" {term}:{value:.6g}" for term, value in cells) + "\n")
    file.flush()


def napkinxc(X: Any, Y: Any) -> Callable[[Any], Top]:
    """A probabilistic label tree of napkinXC with its defaults (binary balanced k-means, leaves of 100 labels)."""
    from napkinxc.models import PLT

    folder = tempfile.mkdtemp(prefix="napkinxc-")
    model = PLT(folder, threads=1)
    model.fit(X.astype(np.float32), [row.tolist() for row in np.split(Y.indices, Y.indptr[1:-1])])

    def predict(documents: Any) -> Top:
        found = model.predict(documents.astype(np.float32), top_k=K)
        return np.array([(row + [-1] * K)[:K] for row in found])

    weakref.finalize(predict, shutil.rmtree, folder)  # not before: napkinXC predicts from its files
    return predict


def libmultilabel(X: Any, Y: Any) -> Callable[[Any], Top]:
    """LibMultiLabel's tree with its defaults (100 clusters on each level)."""
    from libmultilabel import linear

    linear.linear.psutil.cpu_count = lambda logical=True: 1
    model = linear.train_tree(Y.astype(np.int64), X, options="-s 1 -e 0.1 -B 1", verbose=False)

    def predict(documents: Any) -> Top:
        size = max(1, (1 << 25) // Y.shape[1])
        starts = range(0, documents.shape[0], size)
        return np.vstack([best(linear.predict_values(model, documents[at : at + size])) for at in starts])

    return predict


CANDIDATES: dict[str, tuple[str, Learner]] = {
    "label-tree": ("manylabel", tree()),
    "label-tree-3": ("manylabel", tree(trees=3)),
    "flat": ("manylabel", flat),
    "PECOS-tree": ("PECOS", pecos(chained=True)),
    "PECOS-flat": ("PECOS", pecos(chained=False)),
    "omikuji": ("omikuji", omikuji),
    "napkinXC": ("napkinXC", napkinxc),
    "LibMultiLabel-tree": ("LibMultiLabel", libmultilabel),
}
"""By name: the peer whose environment it runs in, and what it does."""


if __name__ == "__main__":
    main()
