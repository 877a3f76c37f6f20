"""Thresholds of all labels at once: worked numbers, the twin, an exhaustive search, edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manylabel.decisions.threshold_search import pooled_threshold
from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.kernels import label_thresholds as driver
from manylabel.kernels import thresholds_reference as reference
from manylabel.kernels.label_thresholds import label_thresholds, thresholds_in_order

compiled = pytest.importorskip("manylabel.kernels.thresholds", reason="The kernels are not compiled.")
BOTH = pytest.mark.parametrize("kernel", [compiled, reference], ids=["compiled", "plain"])


def one_by_one(scores: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rules' search, label by label; its thresholds lie in a gap, the kernel's on the score above the gap."""
    thresholds, attained = np.full(truth.shape[1], np.nan), np.full(truth.shape[1], np.nan)
    for label in range(truth.shape[1]):
        found = pooled_threshold(scores[:, [label]], Csr(truth[:, [label]]), "micro-f1")
        if found is not None:
            above = scores[:, label] >= found.value
            thresholds[label], attained[label] = scores[above, label].min(), found.attained
    return thresholds, attained


@BOTH
def test_by_hand(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A-7 for one label: at .7 two of three predicted are right, F1 = 2·2/(3 + 2); at .9 one of one, 2·1/(1 + 2)."""
    monkeypatch.setattr(driver, "_kernel", kernel)
    scores = np.array([[0.9], [0.8], [0.7], [0.1]])
    thresholds, attained = label_thresholds(scores, [[1], [0], [1], [0]])
    assert thresholds.tolist() == [0.7]
    assert attained.tolist() == [4 / 5]


@BOTH
def test_ties_go_to_the_smallest_threshold(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """At .9: 2·1/(1 + 2) = 2/3. At .3: 2·2/(4 + 2) = 2/3."""
    monkeypatch.setattr(driver, "_kernel", kernel)
    thresholds, attained = label_thresholds(np.array([[0.9], [0.5], [0.4], [0.3]]), [[1], [0], [0], [1]])
    assert thresholds.tolist() == [0.3]
    assert attained.tolist() == [2 / 3]


@BOTH
def test_scores_that_are_impossible_are_never_predicted(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two positives, one of them at −∞: the best is 2·1/(1 + 2); with all at −∞, or none, there is no threshold."""
    monkeypatch.setattr(driver, "_kernel", kernel)
    scores = np.array([[-np.inf, -np.inf, 0.1, np.inf], [0.5, 0.3, 0.2, 0.0]])
    thresholds, attained = label_thresholds(scores, [[1, 1, 0, 1], [1, 0, 0, 0]])
    assert thresholds.tolist()[0] == 0.5
    assert attained[0] == 2 / 3
    assert np.isnan(thresholds[1:3]).all()
    assert np.isnan(attained[1:3]).all()
    assert (thresholds[3], attained[3]) == (np.inf, 1.0)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_twins_the_rules_and_an_exhaustive_search_agree(seed: int, kind: Any, coarse: bool) -> None:
    rng = np.random.default_rng(seed)
    n, labels = int(rng.integers(0, 40)), int(rng.integers(1, 12))
    scores = (rng.integers(0, 4, (n, labels)) / 3 if coarse else rng.normal(size=(n, labels))).astype(kind)
    scores[rng.random((n, labels)) < 0.05] = -np.inf
    Y = Csr((rng.random((n, labels)) < rng.random(labels)).astype(np.int8))
    results = []
    for kernel, jobs in ((compiled, 1), (compiled, 3), (reference, 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver, "_kernel", kernel)
            patch.setattr(driver, "LABELS_A_BLOCK", 3)
            results.append(label_thresholds(scores, Y, n_jobs=jobs))
    results.append(one_by_one(scores.astype(np.float64), Y.toarray().astype(bool)))
    results.append(_exhaustive(scores, Y.toarray()))
    for thresholds, attained in results[1:]:
        assert np.array_equal(thresholds, results[0][0], equal_nan=True)
        assert np.array_equal(attained, results[0][1], equal_nan=True)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_thresholds_in_order_of_the_twins_agree(seed: int, kind: Any, coarse: bool) -> None:
    rng = np.random.default_rng(seed)
    n, labels = int(rng.integers(0, 40)), int(rng.integers(1, 12))
    scores = (rng.integers(0, 4, (n, labels)) / 3 if coarse else rng.normal(size=(n, labels))).astype(kind)
    scores[rng.random((n, labels)) < 0.05] = -np.inf
    Y, order = (rng.random((n, labels)) < rng.random(labels) / 2).astype(np.int8), rng.permutation(labels)
    results = []
    for kernel in (compiled, reference):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver, "_kernel", kernel)
            results.append(thresholds_in_order(scores, Y, order))
    assert np.array_equal(results[0], results[1], equal_nan=True)


def test_not_a_number_is_never_predicted() -> None:
    scores = np.array([[np.nan], [0.5], [0.2]])
    for truth, threshold, f1 in (([[0], [1], [0]], 0.5, 1.0), ([[1], [1], [0]], 0.5, 2 / 3)):
        thresholds, attained = label_thresholds(scores, truth)
        assert (thresholds[0], attained[0]) == (threshold, f1)


def test_many_labels_and_no_documents() -> None:
    scores = np.zeros((2, 70_001))
    Y = Csr((np.ones(1), np.array([70_000]), np.array([0, 1, 1])), shape=scores.shape)
    thresholds, attained = label_thresholds(scores, Y)
    assert np.isnan(thresholds[:-1]).all()
    assert (thresholds[-1], attained[-1]) == (0.0, 2 / 3)
    assert label_thresholds(np.zeros((0, 3)), np.zeros((0, 3)))[0].shape == (3,)
    assert label_thresholds(np.zeros((3, 0)), np.zeros((3, 0)))[0].shape == (0,)


def test_mistakes() -> None:
    with pytest.raises(DataError, match=r"\(2, 1\) and \(3, 1\)"):
        label_thresholds(np.zeros((2, 1)), np.zeros((3, 1)))
    for kernel in (compiled, reference):
        with pytest.raises(IndexError, match="Labels 0 to 2"):
            kernel.best_thresholds(
                np.zeros((1, 1)), np.array([0, 0]), np.zeros(0), np.array([0]), 0, 2, np.zeros(1), np.zeros(1)
            )
        for order in ([1], [-1], [0, 0]):
            with pytest.raises(IndexError, match="out of bounds"):
                kernel.thresholds_in_order(
                    np.zeros((1, 1)), np.array([0, 0]), np.zeros(0), np.array([0]), np.array(order), np.zeros(1)
                )


def _exhaustive(scores: Any, truth: Any) -> tuple[Any, Any]:
    """Try every score above −∞ as the cut, one by one."""
    thresholds, attained = np.full(scores.shape[1], np.nan), np.full(scores.shape[1], np.nan)
    for label in range(scores.shape[1]):
        column, true = scores[:, label], truth[:, label] == 1
        if not (true & (column > -np.inf)).any():
            continue
        for cut in sorted({float(score) for score in column if score > -np.inf}):
            given_ = (column >= cut) & (column > -np.inf)
            f1 = 2 * int((given_ & true).sum()) / (int(given_.sum()) + int(true.sum()))
            if not f1 <= attained[label]:
                thresholds[label], attained[label] = cut, f1
    return thresholds, attained
