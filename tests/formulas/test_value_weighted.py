"""Value weights and value-weighted naive Bayes: E-4, E-5 and E-7."""

import math

import numpy as np
import pytest
from sklearn.base import clone

from manylabel.exceptions import DataError, ParameterError
from manylabel.features.information_weights import (
    kl_value_weights,
    normalise,
    two_class_weights,
)
from manylabel.models.score_kinds import ScoreKind
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes

THREE_BINS = np.array([[30, 30], [8, 12], [2, 18]])
TOY = np.array([[1, 0], [2, 0], [0, 1], [0, 2], [1, 1], [0, 0]])
TARGET = np.array([1, 1, 0, 0, 1, 0])
REFERENCE = {"event": "categorical", "norm": "global", "refine": "none", "n_bins": 3}


@pytest.mark.parametrize(
    ("weight", "m", "expected"),
    [
        ("kl", 0.0, [0.248208, 0, 2.751792]),
        ("kl", 1.0, [0.267477, 0, 2.732523]),
        ("kl_split", 0.0, [0.663889, 0, 2.336111]),
        ("kl_split", 1.0, [0.707135, 0, 2.292865]),
        ("p_kl", 0.0, [0.638904, 0, 2.361096]),
        ("p_kl", 1.0, [0.680997, 0, 2.319003]),
    ],
)
def test_weights(weight: str, m: float, expected: list[float]) -> None:
    """E-5: bins × classes [[30, 30], [8, 12], [2, 18]], mean 1."""
    found = kl_value_weights(THREE_BINS, weight, m)  # type: ignore[arg-type]
    np.testing.assert_allclose(normalise(found[np.newaxis])[0], expected, atol=5e-7)
    np.testing.assert_allclose(normalise(found[np.newaxis], "feature")[0], expected, atol=5e-7)


def test_divergences() -> None:
    """E-5: KL (.020411, 0, .226289) for m = 0 and (.019752, 0, .201782) for m = 1; prior (.4, .6)."""
    np.testing.assert_allclose(kl_value_weights(THREE_BINS, "kl", 0.0), [0.020411, 0, 0.226289], atol=5e-7)
    np.testing.assert_allclose(kl_value_weights(THREE_BINS, "kl", 1.0), [0.019752, 0, 0.201782], atol=5e-7)
    by_hand = 0.5 * math.log(0.5 / 0.4) + 0.5 * math.log(0.5 / 0.6)
    assert kl_value_weights(THREE_BINS, "kl", 0.0)[0] == pytest.approx(by_hand)
    binary = two_class_weights(THREE_BINS[:, 0], THREE_BINS.sum(axis=1), 40, 100, "kl", 1.0)
    np.testing.assert_allclose(binary, kl_value_weights(THREE_BINS, "kl", 1.0), rtol=1e-12)


def test_an_empty_bin_has_no_weight() -> None:
    """E-5: adding one to P(c|a) would give an empty bin .143841 for the prior (.75, .25); the m-estimate gives 0."""
    uniform = 0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25)
    assert uniform == pytest.approx(0.143841, abs=5e-7)
    found = kl_value_weights([[60, 5], [15, 20], [0, 0]], "kl", 1.0)
    assert found[2] == 0.0
    assert (found[:2] > 0).all()


def test_edge_cases_of_weights() -> None:
    """E-5: P(a) = 1 → 0; all 0 → all 1; a class without documents is left out."""
    assert kl_value_weights([[6, 4], [0, 0]], "kl_split").tolist() == [0.0, 0.0]
    assert normalise([[0.0, 0.0]]).tolist() == [[1.0, 1.0]]
    assert normalise([[0.0, 0.0]], "none").tolist() == [[1.0, 1.0]]
    with_unseen = np.column_stack([THREE_BINS, [0, 0, 0]])
    np.testing.assert_allclose(kl_value_weights(with_unseen), kl_value_weights(THREE_BINS))
    occupied = np.array([[True, False], [True, True]])
    assert normalise([[1.0, 0.0], [2.0, 3.0]], "global", occupied).tolist() == [[0.5, 0.0], [1.0, 1.5]]
    by_feature = normalise([[1.0, 0.0], [2.0, 3.0]], "feature", occupied)
    np.testing.assert_allclose(by_feature, [[1.0, 0.0], [0.8, 1.2]])
    with pytest.raises(ParameterError, match="weight must be one of"):
        kl_value_weights(THREE_BINS, "klsplit")  # type: ignore[arg-type]


def test_toy_classifier() -> None:
    """E-4, E-5: weights and P(y = 1) of the six documents, B = 3, categorical, kl_split, m = 1, global."""
    model = ValueWeightedNaiveBayes(**REFERENCE, target="classes").fit(TOY, TARGET)  # type: ignore[arg-type]
    weights = [3.152078, 1.524891, 0.504180, 0.314672, 0, 0.504180]
    np.testing.assert_allclose(model.value_weights_, weights, atol=5e-7)
    expected = [0.858496, 0.617053, 0.012497, 0.008844, 0.842276, 0.014173]
    np.testing.assert_allclose(model.predict_proba(TOY)[:, 1], expected, atol=5e-7)
    assert model.score_kind is ScoreKind.POSTERIOR


def test_toy_classifier_without_weights() -> None:
    """E-5: all weights 1 is categorical naive Bayes: .818182, .75, .2, .111111, .75, .272727."""
    model = ValueWeightedNaiveBayes(**{**REFERENCE, "weight": "none"}, target="classes").fit(TOY, TARGET)  # type: ignore[arg-type]
    found = model.predict_proba(TOY)[:, 1]
    np.testing.assert_allclose(found, [0.818182, 0.75, 0.2, 0.111111, 0.75, 0.272727], atol=5e-7)
    # (1, 0): P(1|1) = 3/6, P(0|1) = 3/6, P(1|0) = 1/6, P(0|0) = 2/6
    assert found[0] == pytest.approx(9 / 11)


def test_toy_label_against_the_rest() -> None:
    """E-7: a label against the rest is the two-class problem of E-5."""
    model = ValueWeightedNaiveBayes(**REFERENCE).fit(TOY, TARGET[:, np.newaxis])  # type: ignore[arg-type]
    expected = [0.858496, 0.617053, 0.012497, 0.008844, 0.842276, 0.014173]
    np.testing.assert_allclose(model.predict_proba(TOY)[:, 0], expected, atol=5e-7)
    assert model.score_kind is ScoreKind.LOG_ODDS
    np.testing.assert_array_equal(model.predict(TOY)[:, 0], [1, 1, 0, 0, 1, 0])


def test_exponent_and_multinomial() -> None:
    """E-4: w_ij log P(w_i|c) of present words, and f_i times that; P(w_i|c) = (F_ic + 1)/(F_c + V)."""
    settings = {"norm": "none", "n_bins": 3, "refine": "none", "frequency": "value", "target": "classes"}
    # class 1 has words (4, 1), class 0 (0, 3); V = 2; P(word 0|1) = 5/7, P(word 0|0) = 1/5; prior 4/8 each
    ratio = np.log(np.array([5 / 7, 2 / 7])) - np.log(np.array([1 / 5, 4 / 5]))
    # word 0 in bin 2 (value 2) in one document of class 1: KL with posterior (1 + .5)/(1 + 1)
    kl = 0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5)
    weight = kl / -math.log(1 / 6)
    exponent = ValueWeightedNaiveBayes("exponent", **settings).fit(TOY, TARGET)  # type: ignore[arg-type]
    joint = exponent.log_joint([[2, 0]])[0]
    assert joint[1] - joint[0] == pytest.approx(weight * ratio[0])
    multinomial = ValueWeightedNaiveBayes("multinomial", **settings).fit(TOY, TARGET)  # type: ignore[arg-type]
    joint = multinomial.log_joint([[2, 0]])[0]
    assert joint[1] - joint[0] == pytest.approx(2 * weight * ratio[0])
    np.testing.assert_allclose(exponent.predict_proba([[0, 0]]), [[0.5, 0.5]])  # absent words say nothing


def test_empty_document_is_evidence_of_absence() -> None:
    """Section 12: the categorical reading scores an empty document by the absence of every word."""
    model = ValueWeightedNaiveBayes(**REFERENCE, target="classes").fit(TOY, TARGET)  # type: ignore[arg-type]
    assert model.predict_proba([[0, 0]])[0, 1] == pytest.approx(0.014173, abs=5e-7)


def test_words_training_never_saw_do_not_matter() -> None:
    """Section 0: a column without training values changes nothing, in training or afterwards."""
    wider = np.column_stack([TOY, np.zeros(6)])
    for event in ("exponent", "categorical", "multinomial"):
        for weight in ("kl_split", "none"):
            settings = {"weight": weight, "norm": "none", "refine": "none", "n_bins": 3}
            model = ValueWeightedNaiveBayes(event, **settings).fit(TOY, TARGET)  # type: ignore[arg-type]
            other = ValueWeightedNaiveBayes(event, **settings).fit(wider, TARGET)  # type: ignore[arg-type]
            np.testing.assert_array_equal(other.scores([[1, 2, 9]]), model.scores([[1, 2]]))


def test_labels_are_independent() -> None:
    """E-7: one classifier per label: all together give the same scores as each alone."""
    Y = np.column_stack([TARGET, [1, 0, 0, 1, 0, 1], [0, 0, 1, 0, 0, 0]])
    for settings in ({}, REFERENCE, {"refine_cells": "seen"}, {"norm": "feature", "refine": "none"}):
        together = ValueWeightedNaiveBayes(**settings).fit(TOY, Y).scores(TOY)  # type: ignore[arg-type]
        for label in range(3):
            alone = ValueWeightedNaiveBayes(**settings).fit(TOY, Y[:, [label]]).scores(TOY)  # type: ignore[arg-type]
            np.testing.assert_allclose(together[:, [label]], alone, rtol=1e-9, atol=1e-12)


def test_constant_labels() -> None:
    """E-7: a label nobody has is never given, one everybody has always."""
    Y = np.column_stack([TARGET, np.zeros(6, dtype=int), np.ones(6, dtype=int)])
    for settings in ({}, REFERENCE):
        shown = ValueWeightedNaiveBayes(**settings).fit(TOY, Y).predict_proba(TOY)  # type: ignore[arg-type]
        assert shown[:, 1].tolist() == [0.0] * 6
        assert shown[:, 2].tolist() == [1.0] * 6


def test_a_tie_is_no_label() -> None:
    """E-7, section 12: all scores equal → class 0."""
    model = ValueWeightedNaiveBayes(**REFERENCE).fit([[1], [1], [0], [0]], [[1], [0], [1], [0]])  # type: ignore[arg-type]
    assert model.scores([[1]]) == pytest.approx(0.0, abs=1e-15)  # a sum of rounded logarithms, not always exactly 0
    assert model.predict([[1]]).tolist() == [[0]]


def test_default_normalisation() -> None:
    """E-0: none for two classes, global for more."""
    y = np.array([0, 1, 2, 0, 1, 2])
    for target, labels, norm in (("labels", y, "none"), ("classes", y, "global"), ("classes", y % 2, "none")):
        given = ValueWeightedNaiveBayes(norm=norm, target=target).fit(TOY, labels)  # type: ignore[arg-type]
        auto = ValueWeightedNaiveBayes(target=target).fit(TOY, labels)  # type: ignore[arg-type]
        np.testing.assert_array_equal(auto.scores(TOY), given.scores(TOY))


def test_priors() -> None:
    """E-4: (N_c + 1)/(N + |C|), or N_c/N; 2 of 3 documents: 3/5 or 2/3."""
    X, y = np.array([[1, 0], [0, 1], [1, 1]]), ["a", "b", "a"]
    for prior, expected in (("add-one", 3 / 5), ("documents", 2 / 3)):
        for target in ("classes", "labels"):
            model = ValueWeightedNaiveBayes(prior=prior, target=target).fit(X, y)  # type: ignore[arg-type]
            assert model.predict_proba([[0, 0]])[0, 0] == pytest.approx(expected)


def test_indicator_columns() -> None:
    """E-8, E-9: two-valued features with absence, B = 2, in every reading; without words the score is E-9's."""
    labels = np.array([[1, 1], [1, 1], [1, 1], [0, 0], [0, 0], [0, 0], [1, 0], [0, 1]])
    model = ValueWeightedNaiveBayes("exponent", "kl", refine="none", binary_columns=2, skip_own=True)
    model.fit(labels, labels)
    weight = 0.082283  # of each value, see E-11
    yes, no = math.log((3 + 1) / (4 + 2)), math.log((1 + 1) / (4 + 2))
    found = model.scores([[1, 0], [0, 1]])
    # label 0 sees only label 1: present in 3 of its 4 documents and in 1 of the other 4
    np.testing.assert_allclose(found[:, 0], [weight * (no - yes), weight * (yes - no)], atol=1e-6)
    np.testing.assert_allclose(found[:, 1], [weight * (yes - no), weight * (no - yes)], atol=1e-6)


def test_words_beside_indicators() -> None:
    """E-10: the score is the words' part plus the indicators' part with one prior."""
    rng = np.random.default_rng(0)
    words, Y = rng.poisson(1.0, (30, 5)), (rng.random((30, 3)) < 0.5).astype(int)
    settings = {"event": "categorical", "norm": "global", "refine": "none"}
    own = {"binary_columns": 3, "skip_own": True}
    both = ValueWeightedNaiveBayes(**settings, **own).fit(np.hstack([words, Y]), Y)  # type: ignore[arg-type]
    of_words = ValueWeightedNaiveBayes(**settings).fit(words, Y).scores(words)  # type: ignore[arg-type]
    of_labels = ValueWeightedNaiveBayes(**settings, **own).fit(Y, Y).scores(Y)  # type: ignore[arg-type]
    prior = np.log(Y.sum(axis=0) + 1) - np.log(30 - Y.sum(axis=0) + 1)
    np.testing.assert_allclose(both.scores(np.hstack([words, Y])), of_words + of_labels - prior, rtol=1e-9)


def test_wrong_columns() -> None:
    """Errors are sentences."""
    with pytest.raises(ParameterError, match="binary_columns is 3, but X has only 2 columns"):
        ValueWeightedNaiveBayes(binary_columns=3).fit(TOY, TARGET)
    with pytest.raises(ParameterError, match="skip_own needs target='labels' and one indicator column for each of the"):
        ValueWeightedNaiveBayes(binary_columns=1, skip_own=True).fit(TOY, TARGET)
    with pytest.raises(ParameterError, match="Did you mean 'kl_split'"):
        ValueWeightedNaiveBayes(weight="klsplit").fit(TOY, TARGET)  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [{}, REFERENCE, {"target": "classes"}, {"refine_cells": "seen"}])
def test_evidence_adds_up(settings: dict[str, object]) -> None:
    """Intercept plus the evidence of the present words is the score."""
    model = ValueWeightedNaiveBayes(**settings).fit(TOY, TARGET)  # type: ignore[arg-type]
    for document in TOY[4:5], np.array([[0, 2]]):
        found = model.evidence(document)
        assert found.shape == (2, 2)
        assert not found.toarray()[:, document[0] == 0].any()
        np.testing.assert_allclose(model.intercept_ + found.sum(axis=1), model.log_joint(document)[0])
    np.testing.assert_array_equal(model.evidence(TOY[:1], [1]).toarray(), model.evidence(TOY[:1]).toarray()[[1]])


@pytest.mark.parametrize("event", ["exponent", "categorical", "multinomial"])
@pytest.mark.parametrize("settings", [{}, {"refine": "none", "norm": "global"}, {"target": "classes"}])
def test_the_short_way_of_one_document(event: str, settings: dict[str, object]) -> None:
    """One document scored by its own rows has the scores it has among others."""
    model = ValueWeightedNaiveBayes(event, **settings).fit(TOY, TARGET)  # type: ignore[arg-type]
    score = model.document_scorer()
    for document in np.vstack([TOY, [[7, 3]]]):
        terms = np.flatnonzero(document).astype(np.int32)
        found = score(terms, document[terms].astype(float))
        np.testing.assert_allclose(found, model.scores(document[np.newaxis])[0], rtol=1e-12, atol=1e-14)


def test_learning_in_pieces_needs_kept_counts() -> None:
    """Without refinement: bins move with the second piece (hi 2 to 9), and the counts move with them."""
    X, Y = np.array([[1, 0], [2, 1], [9, 0], [0, 1]]), np.array([[1], [0], [1], [0]])
    plain = ValueWeightedNaiveBayes(refine="none", n_bins=3)
    pieces = clone(plain).partial_fit(X[:2], Y[:2])
    assert pieces.high_.tolist() == [2, 1]
    pieces.partial_fit(X[2:], Y[2:])
    np.testing.assert_array_equal(pieces.scores(X), clone(plain).fit(X, Y).scores(X))
    assert not hasattr(ValueWeightedNaiveBayes(), "partial_fit")
    with pytest.raises(DataError, match="keep_counts=True"):
        clone(plain).fit(X, Y).partial_fit(X, Y)
    with pytest.raises(DataError, match="keep_counts=True"):
        clone(plain).fit(X, Y).merge(clone(plain).fit(X, Y))


def test_stored_weights_of_cells_that_no_term_has_are_refused() -> None:
    model = ValueWeightedNaiveBayes().fit(np.array([[1, 0], [0, 2], [1, 1]]), np.array([[1, 0], [0, 1], [1, 1]]))
    state = dict(model.learned_state())
    model.check_learned(state)
    state["cells_"] = np.minimum(state["cells_"], 0)
    with pytest.raises(ValueError, match="cells that no term has"):
        model.check_learned(state)
