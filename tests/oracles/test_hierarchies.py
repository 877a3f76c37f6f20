"""Sibling problems learned in pieces are those of one fit with exclusions; metrics agree with a slow twin."""

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.metrics import compute_hierarchical_metrics
from manylabel.metrics.ancestors import closed
from manylabel.models.linear_svm import LinearSVM
from manylabel.strategies.hierarchical import SiblingModel

PARENTS = np.array([-1, 0, 0, -1, 3, 3, 4])


def _data(seed: int) -> tuple[Csr, Csr]:
    random = np.random.default_rng(seed)
    X = Csr(random.poisson(0.5, (60, 20)) * random.random((60, 20)))
    return X, closed(Csr((random.random((60, 7)) < 0.2).astype(np.int8)), PARENTS)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_one_fit_with_exclusions(loss: str) -> None:
    """Leaving out the documents that are not under a node's parent is the same as never showing them."""
    X, Y = _data(1)
    outside = np.zeros((60, 7), dtype=np.int8)
    for node, parent in enumerate(PARENTS):
        if parent >= 0:
            outside[:, node] = Y.toarray()[:, parent] == 0
    settings = {"loss": loss, "tol": 1e-6, "max_iter": 5000}
    whole = LinearSVM(**settings).fit(X, Y, excluded=Csr(outside))
    pieces = SiblingModel(LinearSVM(**settings)).fit(X, Y, parents=PARENTS)
    np.testing.assert_allclose(pieces.scores(X), whole.scores(X), atol=2e-4)


@pytest.mark.parametrize("seed", range(3))
def test_hierarchical_measures_of_sets(seed: int) -> None:
    """The same numbers from Python sets, ancestors collected one by one."""
    random = np.random.default_rng(seed)
    T, S = (random.random((2, 40, 5)) < 0.3).astype(int)  # nodes 5 and 6 are groups, no labels

    def with_ancestors(row: np.ndarray) -> set[int]:
        found: set[int] = set()
        for node in np.flatnonzero(row).tolist():
            while node >= 0:
                found.add(node)
                node = int(parents[node])
        return found

    parents = np.array([5, 0, 0, 6, 3, -1, 5])
    pairs = [(with_ancestors(t), with_ancestors(s)) for t, s in zip(T, S, strict=True)]
    right = sum(len(t & s) for t, s in pairs)
    precision = right / sum(len(s) for _, s in pairs)
    recall = right / sum(len(t) for t, _ in pairs)
    per_document = [1.0 if not t | s else 2 * len(t & s) / (len(t) + len(s)) for t, s in pairs]
    found = compute_hierarchical_metrics(T, S, parents)
    assert found["hierarchical-precision"] == pytest.approx(precision)
    assert found["hierarchical-recall"] == pytest.approx(recall)
    assert found["hierarchical-f1"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert found["hierarchical-sample-f1"] == pytest.approx(np.mean(per_document))
