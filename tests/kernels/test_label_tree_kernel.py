"""The beam search through label trees: the compiled kernel equals its plain twin and finds what the paths say."""

import numpy as np
import pytest
from scipy import sparse

from manylabel.estimator import Csr
from manylabel.kernels import compiled_module, label_tree_reference, label_trees
from manylabel.strategies import LabelTree

SEARCH = label_trees.Search(beam=5, combine="sigmoid", path=0.2, n_jobs=1)
COMBINATIONS = ["sigmoid", "squared-hinge", "cubed-hinge"]


@pytest.fixture(scope="module")
def documents() -> tuple[Csr, Csr]:
    """120 documents of 90 terms and 40 labels, two of which nobody has."""
    random = np.random.default_rng(5)
    Y = (random.random((120, 40)) < 0.08).astype(float)
    Y[:, [7, 31]] = 0
    X = random.random((120, 90)) * (random.random((120, 90)) < 0.1)
    X[:, :40] += Y * random.random((120, 40))
    X[3] = 0
    return Csr(sparse.csr_array(X)), Csr(sparse.csr_array(Y))


@pytest.mark.parametrize("combine", COMBINATIONS)
@pytest.mark.parametrize("trees", [1, 2])
def test_the_twins_agree_to_the_bit(documents: tuple[Csr, Csr], combine: str, trees: int) -> None:
    kernel = compiled_module("label_tree")
    if kernel is None:
        pytest.skip("nothing was compiled")
    X, Y = documents
    model = LabelTree(arity=3, leaf_size=4, beam=2, candidates=6, trees=trees, combine=combine).fit(X, Y)
    found = {}
    for name, twin in (("compiled", kernel), ("plain", label_tree_reference)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(label_trees, "_kernel", twin)
            found[name] = model.score_candidates(X)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found["compiled"], part), getattr(found["plain"], part))


def test_a_beam_of_everything_finds_what_the_paths_say(documents: tuple[Csr, Csr]) -> None:
    X, Y = documents
    model = LabelTree(arity=3, leaf_size=4, beam=40, candidates=40, trees=2).fit(X, Y)
    expected = model.path_scores(X, np.arange(40))
    np.testing.assert_allclose(model.scores(X), expected, rtol=1e-9)
    assert np.isneginf(expected[:, [7, 31]]).all()
    assert np.isfinite(np.delete(expected, [7, 31], axis=1)).all()


@pytest.mark.parametrize("kernel", ["compiled", "plain"])
def test_terms_out_of_bounds_are_refused(
    documents: tuple[Csr, Csr], kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y = documents
    index = LabelTree(arity=3, leaf_size=4).fit(X, Y).index
    twin = compiled_module("label_tree") if kernel == "compiled" else label_tree_reference
    if twin is None:
        pytest.skip("nothing was compiled")
    monkeypatch.setattr(label_trees, "_kernel", twin)
    wider = Csr((np.ones(2), np.array([0, 90]), np.array([0, 1, 2])), shape=(2, 91))
    with pytest.raises(IndexError, match="term of document 1"):
        index.found(wider, 5, SEARCH)
    labels, _, counts = index.found(Csr((0, 90)), 5, SEARCH)
    assert labels.shape == (0, 5)
    assert counts.shape == (0,)
