"""The methods of Godbole & Sarawagi 2004 on examples one can do by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from manylabel.decisions.natural import Natural
from manylabel.estimator import Csr
from manylabel.evaluation.paired_tests import t_test
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.score_kinds import ScoreKind
from manylabel.models.tuned_svm import TunedSVM, usual_cost
from manylabel.models.tuning import forced_labels
from manylabel.strategies.band_svm import BandSVM, band_negatives, in_band
from manylabel.strategies.conf_mat import ConfMat, confused, confusion_percent, negatives_of_confused, related_labels
from manylabel.strategies.svm_hf import SVMHF, block_scales, haar_basis, heterogeneous

HARD = {"loss": "hinge", "C": 1e4, "bias": "free", "tol": 1e-9, "max_iter": 100_000}
LINE, FIRST = np.array([[3.0], [2.0], [0.0]]), np.array([[1], [0], [0]])

# --- F-1 ------------------------------------------------------------------------------------------------------


def test_positive_scores_or_the_best() -> None:
    """F-1: { k : score > 0 }; none: the least negative; exactly 0 counts as negative; ties: the lowest index."""
    scores = np.array([[0.3, -0.2, 0.1], [-0.5, -0.1, -0.9], [-1.0, 0.0, 0.0]])
    expected = [[1, 0, 1], [0, 1, 0], [0, 1, 0]]
    assert forced_labels(scores).toarray().tolist() == expected
    assert Natural(fallback="argmax").decide(scores, ScoreKind.MARGIN).toarray().tolist() == expected
    unforced = Natural().decide(scores, ScoreKind.MARGIN).toarray()
    assert unforced.tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 0]]


# --- F-2 ------------------------------------------------------------------------------------------------------

TEXT = Csr(np.array([[0.6, 0.8], [1.0, 0.0]]))
LABELS = forced_labels(np.array([[0.3, -0.2, -1.1], [-0.5, -0.1, -0.9]]))


def plain(Z: Csr) -> np.ndarray:
    """The vectors with one column per label, as the paper writes them."""
    dense = Z.toarray()
    return np.hstack([dense[:, :2], dense[:, 2:] @ haar_basis(3).toarray().T])


def test_labels_become_signs() -> None:
    """F-2: scores (.3, −.2, −1.1) → (+, −, −); (−.5, −.1, −.9) has none positive → (−, +, −)."""
    assert LABELS.toarray().tolist() == [[1, 0, 0], [0, 1, 0]]


def test_words_and_labels_in_one_vector() -> None:
    """F-2: f = .7, L = 3: √.7 (.6, .8) and √.1 (1, −1, −1)."""
    z = plain(heterogeneous(TEXT, LABELS, 0.7))[0]
    np.testing.assert_allclose(z, [0.501996, 0.669328, 0.316228, -0.316228, -0.316228], atol=5e-7)


@pytest.mark.parametrize(
    ("scaling", "kernel"), [("kernel", 0.7 * 0.6 + 0.3 * (-1 / 3)), ("literal", 0.268421), ("literal_unit", 0.455172)]
)
def test_the_three_readings_of_the_scaling(scaling: str, kernel: float) -> None:
    """F-2: K of both documents: .32, .268421, .455172; every vector of length 1."""
    Z = heterogeneous(TEXT, LABELS, 0.7, scaling)  # type: ignore[arg-type]
    gram = (Z @ Z.T).toarray()
    np.testing.assert_allclose(gram, [[1, kernel], [kernel, 1]], atol=5e-7)


def test_the_readings_are_the_kernel_at_another_f() -> None:
    """F-2: literal_unit at .7 is the kernel at .49/(.49 + .09) = .844828; literal with L = 135 at .49/(.49 + 12.15)."""
    unit, kernel = (heterogeneous(TEXT, LABELS, f, s) for f, s in ((0.7, "literal_unit"), (0.49 / 0.58, "kernel")))  # type: ignore[arg-type]
    np.testing.assert_allclose(unit.toarray(), kernel.toarray(), atol=1e-12)
    words, _ = block_scales(np.ones(1), 135, 0.7, "literal", "keep")
    assert words[0] ** 2 == pytest.approx(0.0388, abs=5e-5)


def test_a_document_without_words() -> None:
    """F-2: kernel scaling leaves length √(1 − f); `unit` makes it 1."""
    empty, label = Csr((1, 2)), Csr(np.array([[0, 0, 1]]))
    for zero_text, length in (("keep", 0.3), ("unit", 1.0)):
        Z = heterogeneous(empty, label, 0.7, "kernel", zero_text)  # type: ignore[arg-type]
        assert Z.power(2).sum() == pytest.approx(length)
    assert heterogeneous(empty, label, 1.0, "kernel", "unit").nnz == 0


def test_text_alone_is_the_plain_svm() -> None:
    """F-2: f = 1 equals F-1."""
    rng = np.random.default_rng(0)
    X, Y = rng.random((30, 6)), (rng.random((30, 3)) < 0.4).astype(int)
    exact = {"tol": 1e-8, "max_iter": 10_000}
    both = SVMHF(LinearSVM(**exact), f=1.0).fit(X, Y)
    np.testing.assert_allclose(both.scores(X), LinearSVM(**exact).fit(X, Y).scores(X), atol=1e-6)


def test_who_supports_whom() -> None:
    """F-2: labels 0 and 1 always come together and never with 2: they support each other, and 2 speaks against both."""
    rng = np.random.default_rng(1)
    pair = rng.random(60) < 0.5
    X = np.column_stack([pair + 0.3 * rng.random(60), ~pair + 0.3 * rng.random(60)])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = SVMHF(LinearSVM(), f=0.5).fit(X, np.column_stack([pair, pair, ~pair]).astype(int))
    signs = np.sign(model.label_coefficients()).astype(int).tolist()
    assert signs == [[1, 1, -1], [1, 1, -1], [-1, -1, 1]]


# --- F-3 ------------------------------------------------------------------------------------------------------

SCORES = np.array([-1.0, -8.0, 1.2])  # of w = (3, 4), b = −1 at (0, 0), (−1, −1), (.6, .1)
NEGATIVE = np.ones(3, dtype=bool)


@pytest.mark.parametrize(
    ("metric", "band", "removed"),
    [
        ("geometric", 0.25, [True, False, True]),
        ("functional", 0.25, [False] * 3),
        ("functional", 1.0, [True, False, False]),
    ],
)
def test_negatives_in_the_band(metric: str, band: float, removed: list[bool]) -> None:
    """F-3: ‖w‖ = 5: geometric distances .2, 1.6, .24."""
    assert (
        in_band(SCORES / (5 if metric == "geometric" else 1), NEGATIVE, band, "both", "distance", 1).tolist() == removed
    )
    svm = LinearSVM().restore({"weights_": np.array([[3.0], [4.0]]), "intercept_": np.array([-1.0]), "n_labels_": 1})
    X, Y = Csr(np.array([[0, 0], [-1, -1], [0.6, 0.1]])), Csr((3, 1), dtype=np.int8)
    found = band_negatives(svm, X, Y, np.array([band]), metric, "both", "distance", 1)  # type: ignore[arg-type]
    assert found.toarray()[:, 0].astype(bool).tolist() == removed


def test_the_far_wrong_side_goes_with_one_side() -> None:
    """F-3: `one` removes every negative beyond −band: .24 stays in |.| ≤ .22, but not in ≥ −.22."""
    distances = SCORES / 5
    assert in_band(distances, NEGATIVE, 0.22, "both", "distance", 1).tolist() == [True, False, False]
    assert in_band(distances, NEGATIVE, 0.22, "one", "distance", 1).tolist() == [True, False, True]


def test_positives_stay_and_some_negatives_do() -> None:
    """F-3: a band of 100 would remove all: the farthest `min_neg` stay. Positives are never removed."""
    assert in_band(SCORES, np.array([True, True, False]), 100, "both", "distance", 1).tolist() == [True, False, False]
    assert in_band(SCORES, NEGATIVE, 100, "both", "distance", 2).tolist() == [True, False, False]
    assert in_band(SCORES, NEGATIVE, 100, "one", "distance", 1).tolist() == [True, False, True]
    assert in_band(SCORES, NEGATIVE, 100, "both", "distance", 9).tolist() == [False] * 3


@pytest.mark.parametrize(("share", "removed"), [(0.0, 0), (0.3, 0), (0.34, 1), (0.67, 2), (1.0, 2)])
def test_a_quantile_removes_a_share(share: float, removed: int) -> None:
    """F-3: ⌊share · 3⌋ of the three negatives, nearest first; one stays."""
    assert in_band(SCORES, NEGATIVE, share, "both", "quantile", 1).sum() == removed


def test_removing_the_near_negative_moves_the_boundary() -> None:
    """F-3: positives {3}, negatives {2, 0}, band .6: w = 2, b = −5 → without 2: w = 2/3, b = −1."""
    model = BandSVM(LinearSVM(**HARD), band=0.6).fit(LINE, FIRST)  # type: ignore[arg-type]
    np.testing.assert_allclose(model.model_.coef_, [[2 / 3]], rtol=1e-5)
    np.testing.assert_allclose(model.scores([[1.5], [3.0], [0.0]]), [[0], [1], [-1]], atol=1e-4)
    assert model.removed_.tolist() == [1]
    untouched = BandSVM(LinearSVM(**HARD), band=0.0).fit(LINE, FIRST)  # type: ignore[arg-type]
    np.testing.assert_allclose(untouched.scores([[2.5], [3.0], [2.0]]), [[0], [1], [-1]], atol=1e-4)


def test_a_constant_svm_is_left_alone() -> None:
    """F-3: a label without documents has w = 0 and no band."""
    model = BandSVM(LinearSVM(), band=5.0).fit(LINE, np.array([[0], [0], [0]]))
    assert model.removed_.tolist() == [0]
    assert model.scores(LINE).tolist() == [[-1.0]] * 3


# --- F-4 ------------------------------------------------------------------------------------------------------

TRUE = Csr(np.array([[1, 0, 0]] * 3 + [[1, 1, 0]] + [[0, 1, 0]] * 2 + [[0, 0, 1]] * 2))
TOP = Csr(np.eye(3, dtype=np.int8)[[0, 1, 1, 1, 1, 0, 2, 0]])
TRAINING = Csr(np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]]))


def test_confusions_in_percent() -> None:
    """F-4: two of four documents of label 0 are taken for 1 (the third is a 1 too), and so on."""
    M = confusion_percent(TRUE, TOP).toarray()
    np.testing.assert_allclose(M, [[0, 50, 0], [100 / 3, 0, 0], [50, 0, 0]])


def test_confusions_of_label_sets() -> None:
    """F-4, `multi`: every wrongly predicted label counts: {0} predicted as {0, 1, 2} counts for both; a label without
    documents has row 0.
    """
    M = confusion_percent(Csr(np.array([[1, 0, 0]])), Csr(np.array([[1, 1, 1]])))
    assert M.toarray().tolist() == [[0, 100, 100], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("beta", "label", "kept"), [(30, 0, [1, 0, 1, 0, 1]), (60, 0, [1] * 5), (30, 2, [0, 1, 0, 1, 1])]
)
def test_documents_of_confused_labels_are_left_out(beta: float, label: int, kept: list[int]) -> None:
    """F-4: β 30 keeps (T, F, T, F, T) for label 0 and (F, T, F, T, T) for label 2; β 60 keeps all."""
    near = confused(confusion_percent(TRUE, TOP), beta, None)
    assert (1 - negatives_of_confused(TRAINING, near).toarray()[:, label]).tolist() == kept


def test_confusions_can_be_forced() -> None:
    """F-4: the user's matrix counts whatever M is, and its diagonal does not."""
    near = confused(Csr((3, 3)), 100, Csr(np.array([[5, 1, 0], [0, 0, 0], [0, 0, 0]])))
    assert near.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_a_label_keeps_some_negatives() -> None:
    """F-4: label 0 confused with all the others would have no negative left: it is trained on all of them."""
    near = Csr(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]]))
    assert negatives_of_confused(TRAINING, near).nnz == 0


def test_the_hierarchy_forces_confusions() -> None:
    """F-4: 1 and 2 lie under 0: parent and child are near, siblings too where asked for."""
    parents, related = [-1, 0, 0], [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert related_labels(parents, "parents").toarray().tolist() == related
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 3, (30, 5)).astype(float), (rng.random((30, 3)) < 0.4).astype(int)
    model = ConfMat(LinearSVM(), beta=100, hierarchy="parents").fit(X, Y, parents=parents)
    expected = negatives_of_confused(Csr(Y), Csr(np.array(related)))
    assert model.removed_.tolist() == expected.sum(axis=0).tolist()
    assert ConfMat(LinearSVM(), beta=100).fit(X, Y, parents=parents).removed_.tolist() == [0, 0, 0]


def test_siblings_may_lie_under_a_group_that_is_no_label() -> None:
    """F-4: labels 0 and 1 lie under node 3, which stands behind the three labels and is none itself."""
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 3, (30, 5)).astype(float), (rng.random((30, 3)) < 0.4).astype(int)
    model = ConfMat(LinearSVM(), beta=100, hierarchy="siblings").fit(X, Y, parents=[3, 3, -1, -1])
    near = Csr(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    assert model.removed_.tolist() == negatives_of_confused(Csr(Y), near).sum(axis=0).tolist()


# --- B-7, C-6: C and J tuned per label ------------------------------------------------------------------------


def test_usual_cost() -> None:
    """B-7: SVM-light's default C is 1/mean(x·x): (25 + 0)/2 = 12.5."""
    assert usual_cost(Csr(np.array([[3.0, 4.0], [0.0, 0.0]]))) == pytest.approx(1 / 12.5)


def test_rare_labels_take_the_common_pair() -> None:
    """C-6: label 1 has two documents, fewer than the five asked for: it takes the pair best over all labels."""
    rng = np.random.default_rng(0)
    Y = np.column_stack([rng.random(80) < 0.4, np.arange(80) < 2, rng.random(80) < 0.2]).astype(int)
    X = np.hstack([Y + 0.7 * rng.random((80, 3)), rng.random((80, 4))])
    model = TunedSVM(LinearSVM()).fit(X, Y)
    j, c = np.unravel_index(model.tried_.argmax(), model.tried_.shape)
    assert model.tried_.shape == (3, 4)
    assert model.J_[1] == (1.0, 2.0, 5.0)[j]
    assert model.C_[1] == pytest.approx((0.1, 0.3, 1.0, 3.0)[c] * usual_cost(Csr(X)))


# --- F-5 ------------------------------------------------------------------------------------------------------


def test_directional_t_over_ten_runs() -> None:
    """F-5: means 2 apart, s² = 1 and 3: t = 2/√((1 + 3)/10) = 3.162278, df 18, one-sided 5 % beyond 1.734."""
    shape = np.tile([1.0, -1.0], 5) * math.sqrt(9 / 10)  # ten numbers of mean 0 and s² = 1
    found = t_test(82 + shape, 80 + shape * math.sqrt(3))
    assert (found.df, round(found.critical, 3)) == (18, 1.734)
    assert found.t == pytest.approx(2 / math.sqrt(0.4))
    assert found.significant
    assert not t_test(80 + shape, 82 + shape).significant


def test_paired_t() -> None:
    """F-5: differences 1, 2, 3: mean 2, s = 1, t = 2√3, df 2; ten runs have df 9."""
    found = t_test([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], paired=True)
    assert found.t == pytest.approx(2 * math.sqrt(3))
    assert found.df == 2
    assert t_test(np.arange(10.0), np.ones(10), paired=True).df == 9


@pytest.mark.parametrize("paired", [False, True])
def test_without_spread(paired: bool) -> None:
    """F-5: no variance: ∞ where the means differ, undefined where they do not."""
    up = t_test([0.1] * 10, [0.3] * 10, paired=paired)
    assert (up.t, up.p, up.significant) == (-math.inf, 1.0, False)
    assert t_test([0.3] * 10, [0.1] * 10, paired=paired).p == 0.0
    same = t_test([0.1] * 10, [0.1] * 10, paired=paired)
    assert math.isnan(same.t)
    assert math.isnan(same.p)
    assert not same.significant
