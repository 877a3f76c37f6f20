"""C-6: the network of one hidden layer, its outputs and its objective."""

from typing import Any

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.models.network_training import Network
from manylabel.models.neural import NeuralNetwork, UnsettledNetworkWarning, softmax_log_odds
from manylabel.progress import reporting_to

X = np.array([[4.0, 0], [1, 0], [0, 1], [0, 3], [2, 2], [1, 1]])
Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1]])


def by_hand(activation: str) -> NeuralNetwork:
    """Two terms, a hidden unit of weights (1, −2) and intercept ½, two labels of weights (3, −1), intercepts (0, 1)."""
    model = NeuralNetwork(hidden=1, activation=activation)
    return model.restore(
        {
            "n_features_in_": 2,
            "n_labels_": 2,
            "classes_": np.arange(2),
            "label_form_": "dense",
            "hidden_weights_": np.array([[1.0], [-2.0]], dtype=np.float32),
            "hidden_intercept_": np.array([0.5], dtype=np.float32),
            "output_weights_": np.array([[3.0, -1.0]], dtype=np.float32),
            "output_intercept_": np.array([0.0, 1.0]),
            "losses_": np.zeros(0),
        }
    )


@pytest.mark.parametrize(("activation", "unit"), [("tanh", np.tanh(0.5)), ("logistic", 1 / (1 + np.exp(-0.5)))])
def test_outputs_by_hand(activation: str, unit: float) -> None:
    """C-6: x = (2, 1): the hidden unit sums 2 − 2 + ½; labels 3z and 1 − z."""
    model = by_hand(activation)
    np.testing.assert_allclose(model.scores([[2, 1]]), [[3 * unit, 1 - unit]])
    np.testing.assert_allclose(
        model.document_scorer()(np.array([0, 1], dtype=np.int32), np.array([2.0, 1.0])), [3 * unit, 1 - unit]
    )


def test_evidence_is_what_taking_a_word_out_costs() -> None:
    """C-6: without term 1 the unit sums 2½, without term 0 −1½."""
    found = by_hand("tanh").evidence([[2, 1]], [0]).toarray()[0]
    np.testing.assert_allclose(found, [3 * (np.tanh(0.5) + np.tanh(1.5)), 3 * (np.tanh(0.5) - np.tanh(2.5))])


def test_cross_entropy_summed_over_labels() -> None:
    """C-6: log-odds (3z, 1 − z) of a document with label 0 only: log(1 + e^−3z) + log(1 + e^(1−z))."""
    network = Network(
        np.array([[1.0], [-2.0]]), np.array([0.5]), np.array([[3.0, -1.0]]), np.array([0.0, 1.0]), np.zeros(0), True
    )
    z = np.tanh(0.5)
    expected = np.log1p(np.exp(-3 * z)) + np.log1p(np.exp(1 - z))
    found = NeuralNetwork()._loss(network, Csr(np.array([[2.0, 1.0]])), Csr(np.array([[1, 0]])))
    np.testing.assert_allclose(found, expected)


def test_softmax_as_log_odds() -> None:
    """Shares 1/8, 2/8, 5/8 are odds of 1 : 7, 2 : 6, 5 : 3; at 1000 : 0 nothing overflows or loses its digits."""
    np.testing.assert_allclose(softmax_log_odds(np.log([[1.0, 2, 5]])), np.log([[1 / 7, 2 / 6, 5 / 3]]))
    np.testing.assert_allclose(softmax_log_odds(np.array([[1000.0, 0, 0]])), [[1000 - np.log(2), -1000, -1000]])


def test_what_was_minimised() -> None:
    """C-6: where Σ entropy + λ Σ w² is least, zᵀ(P − Y) + 2λW = 0 for the output weights and Σ_n (P − Y) = 0."""
    decay = 0.3
    model = NeuralNetwork(hidden=3, decay=decay, max_epochs=600, tol=1e-7, patience=20).fit(X, Y)
    z, error = np.tanh(X @ model.hidden_weights_ + model.hidden_intercept_), model.predict_proba(X) - Y
    assert np.abs(model.output_weights_).max() > 1
    np.testing.assert_allclose(z.T @ error + 2 * decay * model.output_weights_, 0.0, atol=2e-3)
    np.testing.assert_allclose(error.sum(axis=0), 0.0, atol=2e-3)


def test_training_is_repeatable_and_learns() -> None:
    first, second = (NeuralNetwork(hidden=5, seed=3).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(first.scores(X), second.scores(X))
    np.testing.assert_array_equal(first.predict(X), Y)
    assert first.losses_[-1] < first.losses_[0]
    assert not np.array_equal(first.scores(X), NeuralNetwork(hidden=5, seed=4).fit(X, Y).scores(X))


def test_a_network_that_has_not_settled_says_so() -> None:
    with pytest.warns(UnsettledNetworkWarning, match="still falling after max_epochs=2"):
        NeuralNetwork(max_epochs=2).fit(X, Y)


# In rare runs NumPy reports an invalid value inside scikit-learn's training, probably by a floating-point flag that
# OpenBLAS left. A value that is not a number would fail the assertions.
@pytest.mark.filterwarnings("ignore:invalid value encountered in matmul:RuntimeWarning")
def test_single_label_probabilities_sum_to_one() -> None:
    for y in (["a", "a", "b", "b", "c", "c"], ["a", "a", "b", "b", "b", "a"]):
        model = NeuralNetwork(hidden=5).fit(X, y)
        odds = model.scores(X)
        np.testing.assert_allclose((1 / (1 + np.exp(-odds))).sum(axis=1), 1.0)
    assert NeuralNetwork().fit(X, ["a"] * 6).predict(X).tolist() == ["a"] * 6


def test_held_out_documents_and_pieces(monkeypatch: Any) -> None:
    """400 documents: 40 are held out; a small memory budget splits an epoch into pieces; progress is reported."""
    from manylabel.models import network_training

    rng = np.random.default_rng(0)
    labels = (rng.random((400, 2)) < 0.5).astype(int)
    words = labels @ np.array([[3, 0, 1], [0, 3, 1]]) + rng.poisson(1.0, (400, 3))
    seen: list[Any] = []

    class Sink:
        def started(self, what: str, total: int | None) -> None:
            seen.append((what, total))

        def advanced(self, what: str, by: int) -> None:
            seen.append(by)

        def finished(self, what: str) -> None:
            seen.append("done")

    monkeypatch.setattr(network_training, "WORKING_MEMORY", 1)
    with reporting_to(Sink()):
        model = NeuralNetwork(hidden=4).fit(words, labels)
    assert model.score(words, labels) > 0.8
    assert (seen[0], seen[-1]) == (("Training the network", 200), "done")
    assert len(model.losses_) < 200
