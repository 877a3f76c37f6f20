"""Feature weights and feature-weighted multinomial naive Bayes: E-1 and E-2."""

import math

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError
from manylabel.features.information_weights import (
    kl_terms,
    kl_value_weights,
    mean_one,
    mutual_information,
    normalise,
    presence_weights,
    two_class_weights,
    weigh_divergence,
)
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.weighted_nb import WeightedNaiveBayes

LECTURE = np.array([[2, 1, 0, 0, 0, 0], [2, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1]])
CHINA = np.array(["yes", "yes", "yes", "no"])
QUERY = np.array([[3, 0, 0, 0, 1, 1]])
TWO_FEATURES = np.array([[[30, 30], [8, 12], [2, 18]], [[20, 30], [15, 20], [5, 10]]])
BITS = math.log(2)


def test_information_gain() -> None:
    """E-2: presence over three classes [[10, 2, 3], [10, 28, 47]] → .140110 bits."""
    assert mutual_information([[10, 2, 3], [10, 28, 47]]) / BITS == pytest.approx(0.140110, abs=5e-7)
    sparse = presence_weights(Csr(np.array([[10], [2], [3]])), [20, 30, 50], normalise=False)
    assert sparse[0] / BITS == pytest.approx(0.140110, abs=5e-7)


def test_average_divergence_is_mutual_information() -> None:
    """E-2: Σ_j P(a_j) KL(C|a_j), .082961 and .002901 bits (E-5's features)."""
    for counts, bits in zip(TWO_FEATURES, (0.082961, 0.002901), strict=True):
        shares = counts.sum(axis=1) / counts.sum()
        assert mutual_information(counts) / BITS == pytest.approx(bits, abs=5e-7)
        assert shares @ kl_value_weights(counts, "kl", m=0.0) == pytest.approx(float(mutual_information(counts)))


def test_a_feature_of_one_value_has_no_weight() -> None:
    """E-2: split information 0 → weight 0; where all are 0, all weights are 1."""
    assert mean_one([0.0, 0.0, 0.0]).tolist() == [1.0, 1.0, 1.0]
    everywhere = presence_weights(Csr(np.array([[3, 3], [1, 0]])), [3, 1], "kl")
    assert everywhere.tolist() == [0.0, 2.0]


def test_presence_weights_from_sparse_tables() -> None:
    """E-2: the sparse sum over seen classes is the sum over all."""
    df = np.array([[5, 0, 1, 0], [0, 2, 1, 0], [1, 0, 1, 0]])
    N_c = np.array([7, 4, 3])
    tables = np.stack([df, N_c[:, np.newaxis] - df]).transpose(2, 0, 1)
    found = presence_weights(Csr(df), N_c, normalise=False)
    np.testing.assert_allclose(found, mutual_information(tables), atol=1e-12)
    share = df.sum(axis=0)[:3] / N_c.sum()
    split = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    np.testing.assert_allclose(presence_weights(Csr(df), N_c, "kl", normalise=False)[:3], found[:3] / split)
    assert presence_weights(Csr(df), N_c)[:3].mean() == pytest.approx(1.0)  # over the words that occur


def test_value_weights_by_default() -> None:
    """E-5: KL (.019752, 0, .201782) with m = 1, divided by −ln .6 = .510826 and −ln .2 = 1.609438."""
    expected = [0.019752 / 0.510826, 0.0, 0.201782 / 1.609438]
    assert kl_value_weights(TWO_FEATURES[0]) == pytest.approx(expected, abs=2e-6)
    assert two_class_weights([30, 8, 2], [60, 20, 20], 40, 100) == pytest.approx(expected, abs=2e-6)
    assert kl_value_weights(TWO_FEATURES[0], "none").tolist() == [1.0, 1.0, 1.0]
    assert two_class_weights([1, 2], [[3], [4], [5]], 1, 10, "none").tolist() == [[1, 1]] * 3


def test_value_weights_of_given_class_totals() -> None:
    """E-5: 3 of 10 documents have the value, 2 of the 4 of class 0: q = (2/3, 1/3), P(c) = (.4, .6)."""
    divergence = 2 / 3 * math.log(2 / 3 / 0.4) + 1 / 3 * math.log(1 / 3 / 0.6)
    for weight, factor in (("kl", 1.0), ("p_kl", 0.3), ("kl_split", -1 / math.log(0.3))):
        found = kl_value_weights([[2, 1]], weight, 0.0, [4, 6])  # type: ignore[arg-type]
        assert found == pytest.approx([factor * divergence])


def test_weights_of_divergences() -> None:
    """E-5: a value of no or of every document has none; what is left of rounding is 0."""
    assert weigh_divergence([0.5, 0.5, 0.5, 1e-13, 2e-13], [0, 1, 4, 1, 1], 4, "kl").tolist() == [0, 0.5, 0, 0, 2e-13]
    assert weigh_divergence(0.5, 1, 4, "p_kl") == 0.125
    with pytest.raises(ParameterError) as error:
        weigh_divergence(0.5, 1, 4, "kl2")  # type: ignore[arg-type]
    assert str(error.value) == "weight must be one of 'kl_split', 'kl', 'p_kl', 'none', not 'kl2'."


def test_one_term_of_a_divergence() -> None:
    """E-5: q = (n + m P)/(n_a + m) = (1 + 2 · ½)/(2 + 2) = ½, so q ln q/P = 0; (3 + 1)/(4 + 2) ln (4/6)/(1/2)."""
    assert kl_terms([1, 3, 0, 2], [2, 4, 4, 2], [0.5, 0.5, 0.5, 0.0], 2.0) == pytest.approx(
        [0.0, 4 / 6 * math.log(4 / 3), 1 / 6 * math.log(1 / 3), 0.0]
    )
    assert kl_terms(0, 0, 0.5, 0.0) == 0  # no documents, nothing added


def test_normalised_value_weights() -> None:
    """E-5: mean 1 over all values, over those of each feature, or over those that occur."""
    weights = [[1.0, 3.0], [0.0, 0.0]]
    assert normalise(weights).tolist() == [[1.0, 3.0], [0.0, 0.0]]
    assert normalise([[2.0, 6.0]]).tolist() == [[0.5, 1.5]]
    assert normalise(weights, "feature").tolist() == [[0.5, 1.5], [0.0, 0.0]]
    assert normalise([[2.0, 6.0]], "none").tolist() == [[2.0, 6.0]]
    assert normalise([[2.0, 6.0]], "global", [[True, False]]).tolist() == [[1.0, 3.0]]
    assert normalise([[0.0, 6.0]], "global", [[True, False]]).tolist() == [[1.0, 1.0]]
    given = np.array([[2.0, 6.0]])
    assert normalise(given, "none") is not given


def test_terms_without_documents_have_neutral_weights() -> None:
    assert presence_weights(Csr((2, 3)), [0, 0]).tolist() == [1, 1, 1]
    assert presence_weights(Csr(np.array([[3, 1]])), [4], "none").tolist() == [1, 1]
    assert mean_one([]).tolist() == []
    assert mutual_information([[1, 3], [3, 9]]) == 0.0  # independent; rounding is cleared
    assert mutual_information([[0, 0], [0, 0]]) == 0.0


def test_weights_of_one_are_multinomial() -> None:
    """E-2, B-3: ω = 1 is multinomial naive Bayes, .68975861."""
    model = WeightedNaiveBayes(weight="none").fit(LECTURE, CHINA)
    assert model.predict_proba(QUERY)[0, 1] == pytest.approx(0.68975861, abs=5e-9)
    plain = MultinomialNaiveBayes(smoothing="laplace").fit(LECTURE, CHINA)
    np.testing.assert_allclose(model.log_joint(LECTURE), plain.log_joint(LECTURE), rtol=1e-13)


def test_weighted_posterior() -> None:
    """E-2: log P(c) + Σ ω_i f_i log P(w_i|c); Chinese occurs everywhere, so ω = 0."""
    model = WeightedNaiveBayes().fit(LECTURE, CHINA)
    omega = model.term_weights_
    assert omega[0] == 0.0
    assert omega.mean() == pytest.approx(1.0)
    assert omega[1] == pytest.approx(omega[3])
    ratio = mutual_information([[1, 0], [2, 1]]) / mutual_information([[0, 1], [3, 0]])
    assert omega[1] / omega[4] == pytest.approx(float(ratio))
    log_odds = math.log(3) + 2 * omega[4] * (math.log(1 / 14) - math.log(2 / 9))
    assert model.predict_proba(QUERY)[0, 1] == pytest.approx(1 / (1 + math.exp(-log_odds)))
    found = model.evidence(QUERY)
    np.testing.assert_allclose(model.intercept_ + found.sum(axis=1), model.log_joint(QUERY)[0])


def test_priors() -> None:
    """E-1: P(c) = N_c/N or (N_c + 1)/(N + |C|): 3/4 or 4/6 for an empty document."""
    empty = np.zeros((1, 6))
    assert WeightedNaiveBayes().fit(LECTURE, CHINA).predict_proba(empty)[0, 1] == pytest.approx(3 / 4)
    added = WeightedNaiveBayes(prior="add-one").fit(LECTURE, CHINA)
    assert added.predict_proba(empty)[0, 1] == pytest.approx(4 / 6)


def test_batches_and_merging() -> None:
    """Occurrences and document frequencies add up, and the weights are a formula of them."""
    Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    whole = WeightedNaiveBayes().fit(LECTURE, Y)
    batches = WeightedNaiveBayes().partial_fit(LECTURE[:1], Y[:1]).partial_fit(LECTURE[1:], Y[1:])
    merged = WeightedNaiveBayes().fit(LECTURE[2:], Y[2:]).merge(WeightedNaiveBayes().fit(LECTURE[:2], Y[:2]))
    for other in (batches, merged):
        np.testing.assert_array_equal(other.scores(QUERY), whole.scores(QUERY))
        np.testing.assert_array_equal(other.term_weights_, whole.term_weights_)
