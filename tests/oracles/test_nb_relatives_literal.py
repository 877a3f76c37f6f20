"""Value-weighted naive Bayes, sparse and grouped, against its formula written out in loops: E-3 to E-5, E-8 to E-10."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from manylabel.features.discretize import bin_numbers
from manylabel.features.information_weights import kl_value_weights, normalise
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes


@dataclass
class Literal:
    """One problem of as many classes as Y has columns; dense, slow, and as the formulas are printed."""

    event: str
    weight: Any
    m: float
    norm: Any
    scope: str
    frequency: str
    n_bins: int = 4
    binary_columns: int = 0
    norm_joint: bool = False

    def log_joint(self, X: np.ndarray, Y: np.ndarray, X_test: np.ndarray, own: int = -1) -> np.ndarray:
        rows, of_class = np.nonzero(Y)
        X = X[rows]
        n_classes, n_columns = Y.shape[1], X.shape[1]
        is_word = np.arange(n_columns) < n_columns - self.binary_columns
        seen = (X > 0).any(axis=0)
        bins, test_bins = self.bins(X, X_test, is_word, seen)
        N_c = np.bincount(of_class, minlength=n_classes).astype(float)
        F = np.where(is_word, bins if self.frequency == "bin" else X, 0.0)
        F_ic = np.array([F[of_class == c].sum(axis=0) for c in range(n_classes)]).T
        words = np.log(F_ic + 1) - np.log(F_ic.sum(axis=0) + (is_word & seen).sum())
        W, used = np.zeros((n_columns, self.n_bins)), np.zeros((n_columns, self.n_bins), dtype=bool)
        log_p = np.zeros((n_columns, self.n_bins, n_classes))
        for i in np.flatnonzero(seen & (np.arange(n_columns) != own)):
            B = self.n_bins if is_word[i] else 2
            n = np.array([[((bins[:, i] == j) & (of_class == c)).sum() for c in range(n_classes)] for j in range(B)])
            categorical = self.event == "categorical" or not is_word[i]
            W[i, :B] = kl_value_weights(n, self.weight, self.m, N_c)
            used[i, :B] = (n.sum(axis=1) > 0) | (self.weight == "none")
            log_p[i, :B] = np.log((n + 1) / (N_c + B)) if categorical else words[i]
            used[i, 0] &= categorical
        W = self.normalised(np.where(used, W, 0.0), used, is_word)
        scores = np.tile(np.log((N_c + 1) / (N_c.sum() + n_classes)), (len(X_test), 1))
        for d, i in itertools.product(range(len(X_test)), range(n_columns)):  # type: ignore[assignment]
            j, f = test_bins[d, i], 1.0
            if self.event == "multinomial" and is_word[i] and j > 0:
                f = float(j) if self.frequency == "bin" else X_test[d, i]
            scores[d] += W[i, j] * f * log_p[i, j]
        return scores

    def bins(self, X: np.ndarray, X_test: np.ndarray, is_word: np.ndarray, seen: np.ndarray) -> tuple[Any, Any]:
        low = np.array([column[column > 0].min(initial=np.inf) for column in X.T])
        high = X.max(axis=0)
        if self.scope == "global":
            low[is_word], high[is_word] = low[is_word].min(), high[is_word].max()
        low[~is_word] = high[~is_word] = 1
        low[np.isinf(low)] = 0
        return bin_numbers(X, low, high, self.n_bins), bin_numbers(X_test, low, high, self.n_bins)

    def normalised(self, W: np.ndarray, used: np.ndarray, is_word: np.ndarray) -> np.ndarray:
        if self.weight == "none":
            return W
        if not W.any():
            return used.astype(float)
        if self.norm == "feature":
            return np.where(used, normalise(W, "feature", used), 0.0)
        if self.norm == "global":
            for part in [np.ones_like(is_word)] if self.norm_joint else [is_word, ~is_word]:
                if W[part].any():
                    W[part] = np.where(used[part], normalise(W[part], "global", used[part]), 0.0)
        return W


def corpus(rng: np.random.Generator, binary_columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts and fractions, a word nobody uses now and then, test values outside the training range."""
    X = rng.poisson(1.0, (14, 6)) * rng.choice([1, 1, 0.5, 2], (14, 6))
    X[:, rng.integers(6)] *= rng.integers(2)
    Y = (rng.random((14, 3)) < 0.4).astype(int)
    Y[0], Y[1] = 1, 0
    X = np.hstack([X, rng.random((14, binary_columns)) < 0.5])
    X_test = np.vstack([X, rng.poisson(2.0, (6, X.shape[1]))])
    X_test[:, 6:] = X_test[:, 6:] > 0
    return X, Y, X_test


READINGS = list(
    itertools.product(
        ["exponent", "categorical", "multinomial"],
        ["kl_split", "kl", "p_kl", "none"],
        ["global", "feature", "none"],
        ["feature", "global"],
        ["bin", "value"],
    )
)


@pytest.mark.parametrize("binary_columns", [0, 2])
@pytest.mark.parametrize("event", ["exponent", "categorical", "multinomial"])
def test_classes_and_labels(event: str, binary_columns: int) -> None:
    rng = np.random.default_rng(binary_columns)
    for reading in (reading for reading in READINGS if reading[0] == event):
        _, weight, norm, scope, frequency = reading
        m = float(rng.choice([1.0, 0.0, 2.5]))
        X, Y, X_test = corpus(rng, binary_columns)
        literal = Literal(event, weight, m, norm, scope, frequency, 4, binary_columns)
        settings: Any = {**vars(literal), "refine": "none"}
        of_classes = ValueWeightedNaiveBayes(**settings, target="classes").fit(X, Y).log_joint(X_test)
        np.testing.assert_allclose(of_classes, literal.log_joint(X, Y, X_test), atol=1e-9)
        of_labels = ValueWeightedNaiveBayes(**settings).fit(X, Y).scores(X_test)
        for label in range(3):
            two = literal.log_joint(X, np.column_stack([1 - Y[:, label], Y[:, label]]), X_test)
            np.testing.assert_allclose(of_labels[:, label], two[:, 1] - two[:, 0], atol=1e-9)


@pytest.mark.parametrize("norm_joint", [False, True])
@pytest.mark.parametrize("norm", ["global", "feature", "none"])
def test_labels_as_features_of_each_other(norm: str, norm_joint: bool) -> None:
    """The last columns are the labels, and none looks at its own."""
    rng = np.random.default_rng(3)
    for event in ("exponent", "categorical", "multinomial"):
        X, Y, X_test = corpus(rng, 3)
        literal = Literal(event, "kl_split", 1.0, norm, "feature", "bin", 4, 3, norm_joint)
        settings: Any = {**vars(literal), "refine": "none"}
        found = ValueWeightedNaiveBayes(**settings, skip_own=True).fit(X, Y).scores(X_test)
        for label in range(3):
            two = np.column_stack([1 - Y[:, label], Y[:, label]])
            expected = literal.log_joint(X, two, X_test, own=6 + label)
            np.testing.assert_allclose(found[:, label], expected[:, 1] - expected[:, 0], atol=1e-9)
