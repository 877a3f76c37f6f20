"""One-vs-one (B-8): votes, ties, documents left out, the virtual label; numbers one can do by hand."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from manylabel.estimator import Csr
from manylabel.models.linear_svm import LinearSVM
from manylabel.strategies.one_vs_one import OneVsOne, duel_rows, duels_of


def fitted_with(values: list[list[float]], n_labels: int, calibrated: bool = False) -> Any:
    """A model of fixed pair classifiers: decision values are read from the columns of X as they stand."""
    n_pairs = n_labels * (n_labels - 1) // 2
    X = np.eye(max(n_pairs, n_labels))
    model = OneVsOne(LinearSVM(), calibrated=calibrated).fit(X, np.eye(len(X), n_labels, dtype=int))
    model.all_pairs_.weights_ = np.eye(len(X), n_pairs)
    model.all_pairs_.intercept_ = np.zeros(n_pairs)
    return model, np.array(values)


def test_b8_five_labels_have_ten_pairs() -> None:
    model = OneVsOne(LinearSVM()).fit(np.eye(5), np.arange(5))
    assert len(model.pairs_) == 10
    assert model.pairs_.tolist() == [[i, j] for i in range(5) for j in range(i + 1, 5)]


def test_b8_votes_of_three_labels() -> None:
    """Winners (0,1) → 1, (0,2) → 0, (1,2) → 1: votes (1, 2, 0). A positive value is a win of the second of a pair."""
    model, values = fitted_with([[0.5, -0.5, -0.5]], 3)
    votes, sums = model.votes(Csr(values))
    assert votes.tolist() == [[1, 2, 0]]
    assert sums.tolist() == [[-0.5 + 0.5, 0.5 + 0.5, -0.5 - 0.5]]
    scores = model.scores(values)
    np.testing.assert_allclose(scores, [[1 / 2, (2 + 1 / 6) / 2, (0 - 1 / 6) / 2]])
    assert model.predict(values).tolist() == [[0, 1, 0]]


def test_b8_ties_go_by_summed_decision_values_then_by_index() -> None:
    """A circle: 0 beats 1, 1 beats 2, 2 beats 0, one win each; first label 2 wins by more, then nobody does."""
    model, values = fitted_with([[-1.0, 3.0, -1.0], [-1.0, 1.0, -1.0], [0.0, 0.0, 0.0]], 3)
    votes, sums = model.votes(Csr(values))
    assert votes[:2].tolist() == [[1, 1, 1], [1, 1, 1]]
    assert sums[:2].tolist() == [[-2, 0, 2], [0, 0, 0]]
    assert votes[2].tolist() == [2, 1, 0], "a pair without a winner goes to the lower index"
    assert model.predict(values).argmax(axis=1).tolist() == [2, 0, 0]


def test_b8_documents_with_both_labels_or_neither_are_left_out_of_a_pair() -> None:
    Y = Csr([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    duels = duels_of(Y)
    assert duels.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    found = [(rows.tolist(), second.tolist()) for rows, second in (duel_rows(duels, pair) for pair in range(3))]
    assert found == [
        ([0, 2], [False, True]),
        ([0, 1, 3], [False, False, True]),
        ([1, 2, 3], [False, False, True]),
    ]


def test_a_label_without_a_document_of_its_own_loses_without_a_fight() -> None:
    """Label 1 never stands without label 0; label 2 has no document at all."""
    X, Y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1]])
    model = OneVsOne(LinearSVM()).fit(X, Y)
    assert model.pairs_.tolist() == [[0, 3], [1, 3]]
    assert model.walkovers_.tolist() == [[1, 1], [0, -1], [0, 0], [0, 0]]
    scores = model.scores(X)
    assert np.isneginf(scores[:, 2]).all()
    assert not model.predict(X)[:, 2].any()


def test_the_virtual_label_stands_between_given_and_not_given() -> None:
    """Votes (1, 2, 0) and one-vs-rest values (−1, 2, −1): label 1 beats the virtual one, which beats 0 and 2.

    v = (1, 3, 0), v_0 = 2; z = (0 − 1, 1 + 2, −1 − 1), z_0 = 0; three opponents each.
    """
    model, values = fitted_with([[0.5, -0.5, -0.5]], 3, calibrated=True)
    rest = model.rest_.model_
    rest.weights_, rest.intercept_ = np.zeros((3, 3)), np.array([-1.0, 2.0, -1.0])
    expected = [1 - 1 / 6 - 2, 3 + 3 / 12 - 2, 0 - 2 / 9 - 2]
    np.testing.assert_allclose(model.scores(values), [np.array(expected) / 3])
    assert model.natural_decision(model.scores(values)).tolist() == [[False, True, False]]


def test_evidence_adds_up_to_the_mean_decision_value() -> None:
    rng = np.random.default_rng(5)
    X, Y = rng.random((30, 6)), (rng.random((30, 4)) < 0.4).astype(int)
    for calibrated in (False, True):
        model = OneVsOne(LinearSVM(bias="none"), calibrated=calibrated).fit(X, Y)
        _, sums = model.votes(Csr(X[:1]))
        if calibrated:
            sums = sums + model.rest_.scores(X[:1])
        opponents = 4 if calibrated else 3
        table = model.evidence(X[:1])
        np.testing.assert_allclose(np.asarray(table.sum(axis=1)).ravel(), sums[0] / opponents, atol=1e-6)
        np.testing.assert_allclose(model.evidence(X[:1], [2]).toarray(), table.toarray()[[2]])


@pytest.mark.parametrize("calibrated", [False, True])
def test_the_number_of_threads_does_not_matter(calibrated: bool) -> None:
    rng = np.random.default_rng(6)
    X = sparse.random_array((60, 20), density=0.3, random_state=rng, format="csr")
    Y = Csr((rng.random((60, 5)) < 0.3).astype(int))
    one, two = (OneVsOne(LinearSVM(), calibrated, n_jobs=n).fit(X, Y).scores(X) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
