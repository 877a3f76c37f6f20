"""The sparse models equal the formulas of A-3 and A-6 written out densely, document by document and word by word."""

import numpy as np
import pytest

from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.multinomial_nb import MultinomialNaiveBayes


def _corpus(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n, n_terms, n_labels = rng.integers(4, 40), rng.integers(2, 60), rng.integers(1, 9)
    X = rng.poisson(rng.choice([0.1, 0.5, 2.0]), (n, n_terms)).astype(float)
    if seed % 3 == 0:
        X *= rng.random((n, n_terms))
    return X, (rng.random((n, n_labels)) < rng.random(n_labels) * 0.8).astype(int)


def _discounted(counts: np.ndarray, unigram: np.ndarray, b: float) -> np.ndarray:
    """p(w|c) = max(0, (N_cw − b)/N_c+) + p(w) M_c, M_c the mass taken; p(w) where the class has no word."""
    total = counts.sum()
    if total == 0:
        return unigram
    return np.maximum(0.0, counts - b) / total + unigram * np.minimum(b, counts).sum() / total


def _unigram(X: np.ndarray, Y: np.ndarray, replicated: bool, with_unlabelled: bool) -> np.ndarray:
    counts = np.zeros(X.shape[1])
    for x, labels in zip(X, Y, strict=True):
        if labels.any():
            counts += x * (labels.sum() if replicated else 1)
        elif with_unlabelled:
            counts += x
    return counts / max(counts.sum(), 1e-300)


@pytest.mark.parametrize("seed", range(30))
def test_multinomial(seed: int) -> None:
    """A-3 with A-2."""
    X, Y = _corpus(seed)
    b = (0.3, 0.55, 0.999, 1.0)[seed % 4]
    unigram, documents = ("replicated", "documents")[seed % 2], ("labelled", "all")[seed // 2 % 2]
    model = MultinomialNaiveBayes(b=b, unigram=unigram, unigram_docs=documents).fit(X, Y)  # type: ignore[arg-type]
    p = _unigram(X, Y, unigram == "replicated", documents == "all")
    known = p > 0
    joint = model.log_joint(X)
    for label in range(Y.shape[1]):
        own = X[Y[:, label] == 1]
        if not len(own):
            assert np.isneginf(joint[:, label]).all()
            continue
        probabilities = _discounted(own.sum(axis=0), p, b)
        assert probabilities.sum() == pytest.approx(1.0)
        for x, found in zip(X, joint[:, label], strict=True):
            wanted = np.log(len(own) / Y.sum()) + sum(x[w] * np.log(probabilities[w]) for w in np.flatnonzero(known))
            assert found == pytest.approx(wanted, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("unlabelled", ["smoothing", "negative", "ignore"])
@pytest.mark.parametrize("seed", range(30))
def test_binary(seed: int, unlabelled: str) -> None:
    """A-6; b = 1, fractional counts, dominant labels (whole columns) and rare ones (the series) among them."""
    X, Y = _corpus(seed)
    b = (0.3, 0.55, 0.999, 1.0)[seed % 4]
    unigram = ("replicated", "documents")[seed % 2]
    scores = BinaryNaiveBayes(b=b, unigram=unigram, unlabelled=unlabelled).fit(X, Y).scores(X)  # type: ignore[arg-type]
    p = _unigram(X, Y, unigram == "replicated", unlabelled != "ignore")
    known = p > 0
    # of a single label, the documents without it are the negatives there are
    negatives_too = unlabelled == "negative" or (unlabelled == "smoothing" and Y.shape[1] == 1)
    used = np.ones(len(X), dtype=bool) if negatives_too else Y.any(axis=1)
    for label in range(Y.shape[1]):
        yes, no = X[used & (Y[:, label] == 1)], X[used & (Y[:, label] == 0)]
        if not len(yes) or not len(no):
            assert (scores[:, label] == (np.inf if len(yes) else -np.inf)).all()
            continue
        sides = [_discounted(side.sum(axis=0), p, b)[known] for side in (yes, no)]
        wanted = np.log(len(yes) / len(no)) + X[:, known] @ (np.log(sides[0]) - np.log(sides[1]))
        np.testing.assert_allclose(scores[:, label], wanted, rtol=1e-10, atol=1e-10)


def test_binary_on_a_large_vocabulary() -> None:
    """A-6: many labels of a few words each, where the series carries nearly every weight."""
    rng = np.random.default_rng(5)
    X = rng.poisson(0.02, (300, 2000)).astype(float)
    Y = (rng.random((300, 40)) < 0.05).astype(int)
    model = BinaryNaiveBayes(b=0.6, unlabelled="negative").fit(X, Y)
    assert model.difference_.nnz <= model.label_terms_.nnz < 0.5 * 2000 * 40  # type: ignore[attr-defined] # no whole columns
    p = X.sum(axis=0) / X.sum()
    known, scores = p > 0, model.scores(X)
    for label in range(40):
        yes, no = X[Y[:, label] == 1], X[Y[:, label] == 0]
        sides = [_discounted(side.sum(axis=0), p, 0.6)[known] for side in (yes, no)]
        wanted = np.log(len(yes) / len(no)) + X[:, known] @ (np.log(sides[0]) - np.log(sides[1]))
        np.testing.assert_allclose(scores[:, label], wanted, rtol=1e-10, atol=1e-10)
