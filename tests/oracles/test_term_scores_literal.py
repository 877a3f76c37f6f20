"""The selection functions against a slow literal reading of their formulas, on random tables with empty cells."""

import math

import numpy as np
import pytest
from sklearn.feature_selection import chi2 as sklearn_chi2
from sklearn.metrics import mutual_info_score

from manylabel.features.contingency import Cells, contingency_tables
from manylabel.features.term_scores import DEFAULTS, FUNCTIONS, Options, global_scores, label_scores


def literal(name: str, n11: int, n10: int, n01: int, n00: int, options: Options) -> float:
    """One table, one number, in Python's own arithmetic with probabilities as in the printed table."""
    if name in ("mi", "or"):
        n11, n10, n01, n00 = (cell + options.eps for cell in (n11, n10, n01, n00))  # type: ignore[assignment]
    N = n11 + n10 + n01 + n00
    P = {(t, c): n / N for (t, c), n in zip([(1, 1), (1, 0), (0, 1), (0, 0)], (n11, n10, n01, n00), strict=True)}
    p_t = {1: P[1, 1] + P[1, 0], 0: P[0, 1] + P[0, 0]}
    p_c = {1: P[1, 1] + P[0, 1], 0: P[1, 0] + P[0, 0]}

    def log(x: float) -> float:
        return math.log(x, options.base)

    def conditional(t: int, c: int) -> float:
        return P[t, c] / p_c[c] if p_c[c] else 0.0

    if name == "df":
        return n11 + n10
    if name == "dia":
        return P[1, 1] / p_t[1] if n11 + n10 else 0.0
    if name == "ig":
        return max(0.0, sum(p * log(p / (p_t[t] * p_c[c])) for (t, c), p in P.items() if p))
    if name == "mi":
        if not p_t[1] or not p_c[1]:
            return 0.0
        return log(P[1, 1] / (p_t[1] * p_c[1])) if n11 else -math.inf
    if name in ("chi2", "ngl"):
        margins = p_t[1] * p_t[0] * p_c[1] * p_c[0]
        if not (n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00):
            return 0.0
        root = math.sqrt(N) * (P[1, 1] * P[0, 0] - P[1, 0] * P[0, 1]) / math.sqrt(margins)
        return root if name == "ngl" else root**2
    if name == "rs":
        return log((conditional(1, 1) + options.d) / (conditional(1, 0) + options.d))
    if name == "rs_printed":
        return log((conditional(1, 1) + options.d) / (conditional(0, 0) + options.d))
    if name == "or":
        above, below = n11 * n00, n10 * n01
        return above / below if below else (math.inf if above else 1.0)
    assert name == "gss"
    return P[1, 1] * P[0, 0] - P[1, 0] * P[0, 1]


@pytest.mark.parametrize("options", [DEFAULTS, Options(base=10.0, eps=0.5, d=1 / 6)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_on_random_tables(name: str, options: Options) -> None:
    random = np.random.default_rng(0)
    tables = random.integers(0, 40, (400, 4)) * (random.random((400, 4)) < 0.7)
    tables = tables[tables.sum(axis=1) > 0]
    assert {tuple(row) for row in (tables == 0).tolist()} >= {(True,) * i + (False,) * (4 - i) for i in range(4)}
    found = FUNCTIONS[name].compute(Cells.of(tables), options)
    expected = [literal(name, *row, options) for row in tables.tolist()]  # type: ignore[call-arg]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def corpus(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts and labels with a term of no document, one of all, a label of none and one of all."""
    random = np.random.default_rng(seed)
    X = random.poisson(0.4, (30, 12))
    Y = (random.random((30, 6)) < 0.3).astype(int)
    X[:, 0], X[:, 1], Y[:, 0], Y[:, 1] = 0, 1, 0, 1
    X[:, 2] = Y[:, 2]
    return X, Y


@pytest.mark.parametrize("name", FUNCTIONS)
def test_on_a_corpus(name: str) -> None:
    """Every label and term, then the three ways to put the labels together, with plain loops."""
    for seed in range(3):
        X, Y = corpus(seed)
        found = dict(label_scores(contingency_tables(X, Y), name))
        used = [c for c in range(Y.shape[1]) if Y[:, c].any()]
        assert list(found) == used
        rows = []
        for c in used:
            cells = [
                [int(((X[:, t] > 0) == present).__and__(Y[:, c] == label).sum()) for present, label in PAIRS]
                for t in range(X.shape[1])
            ]
            rows.append([literal(name, *cell, DEFAULTS) for cell in cells])  # type: ignore[call-arg]
            np.testing.assert_allclose(found[c], rows[-1], rtol=1e-10, atol=1e-12)
        shares = [Y[:, c].mean() for c in used]
        for how in ("sum", "weighted", "max"):
            expected = [together([row[t] for row in rows], shares, how) for t in range(X.shape[1])]
            np.testing.assert_allclose(
                global_scores(contingency_tables(X, Y), name, how), expected, rtol=1e-10, atol=1e-12
            )


PAIRS = [(True, 1), (True, 0), (False, 1), (False, 0)]


def together(scores: list[float], shares: list[float], how: str) -> float:
    if how == "max":
        return max(scores)
    kept = [(s, p if how == "weighted" else 1.0) for s, p in zip(scores, shares, strict=True) if s != -math.inf]
    return sum(s * p for s, p in kept) if kept else -math.inf


def test_chi_square_of_presence_agrees_with_scikit_learn() -> None:
    """scikit-learn sums over documents with the term alone; with a column for absence it is the 2 × 2 statistic."""
    X, Y = corpus(4)
    present = (X[:, 2:] > 0).astype(int)
    for label, scores in label_scores(contingency_tables(X[:, 2:], Y), "chi2"):
        if Y[:, label].all():
            continue
        both = [sklearn_chi2(X, Y[:, label])[0] for X in (present, 1 - present)]
        np.testing.assert_allclose(scores, np.sum(both, axis=0))


def test_information_gain_agrees_with_scikit_learn() -> None:
    X, Y = corpus(5)
    for label, scores in label_scores(contingency_tables(X, Y), "ig"):
        expected = [mutual_info_score(X[:, t] > 0, Y[:, label]) / math.log(2) for t in range(X.shape[1])]
        np.testing.assert_allclose(scores, expected, atol=1e-12)
