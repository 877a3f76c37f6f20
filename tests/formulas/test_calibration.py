"""Calibrated probabilities by hand: Platt's logistic curve, the isotonic one, and how rare labels lean on the rest."""

import math

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from manylabel.decisions.calibration import Calibration, rising_curve
from manylabel.decisions.temperature import Temperature
from manylabel.estimator import Csr
from manylabel.exceptions import DecisionError, ParameterError


def test_platt_of_two_documents() -> None:
    """One positive at 1, one negative at −1: the targets 2/3 and 1/3 are met exactly by a = log 2, b = 0."""
    calibration = Calibration(shrinkage=0).fit(np.array([[1.0], [-1.0]]), Csr([[1], [0]]))
    assert calibration.slopes_ == pytest.approx([math.log(2)])
    assert calibration.intercepts_ == pytest.approx([0], abs=1e-9)
    assert calibration.transform(np.array([[1.0], [-1.0], [0.0]])).ravel() == pytest.approx([2 / 3, 1 / 3, 1 / 2])


def test_platt_targets_of_unequal_classes() -> None:
    """Two positives at 5, one negative at 3: targets (2 + 1)/(2 + 2) and 1/(1 + 2), so P(5) = 3/4 and P(3) = 1/3."""
    calibration = Calibration(shrinkage=0).fit(np.array([[5.0], [5.0], [3.0]]), Csr([[1], [1], [0]]))
    assert calibration.transform(np.array([[5.0], [3.0]])).ravel() == pytest.approx([3 / 4, 1 / 3])
    assert calibration.slopes_ == pytest.approx([(math.log(3) - math.log(1 / 2)) / 2])


@pytest.mark.parametrize("curve", ["logistic", "isotonic"])
def test_labels_that_no_document_has(curve: str) -> None:
    """1/(N + 2) whatever the score; 0 where the label is impossible."""
    scores = np.array([[1.0, 4.0], [-1.0, 2.0], [0.5, 1.0]])
    calibration = Calibration(curve).fit(scores, Csr([[1, 0], [0, 0], [1, 0]]))  # type: ignore[arg-type]
    found = calibration.transform(np.array([[0.0, 9.0], [0.0, -9.0], [0.0, -math.inf]]))
    assert found[:, 1] == pytest.approx([1 / 5, 1 / 5, 0])


@pytest.mark.parametrize("shrinkage", [0, 1])
def test_a_label_of_every_document(shrinkage: float) -> None:
    """(N + 1)/(N + 2)."""
    calibration = Calibration(shrinkage=shrinkage).fit(np.array([[1.0], [2.0]]), Csr([[1], [1]]))
    assert calibration.transform(np.array([[1.0], [math.inf]])).ravel() == pytest.approx([3 / 4, 3 / 4])


def test_a_higher_score_is_never_less_probable() -> None:
    """Positive below negative: the best slope ≥ 0 is 0, and P the mean of the targets 2/3 and 1/3."""
    calibration = Calibration(shrinkage=0).fit(np.array([[-1.0], [1.0]]), Csr([[1], [0]]))
    assert calibration.slopes_.tolist() == [0]
    assert calibration.transform(np.array([[-5.0], [5.0]])).ravel() == pytest.approx([0.5, 0.5])


def test_equal_scores() -> None:
    """Nothing tells positives from negatives: P(0.3) = (2/3 + 3 · 1/5)/4, the mean of the targets."""
    calibration = Calibration(shrinkage=0).fit(np.full((4, 1), 0.3), Csr([[1], [0], [0], [0]]))
    assert calibration.transform(np.full((1, 1), 0.3))[0, 0] == pytest.approx((2 / 3 + 3 / 5) / 4)


def test_scores_a_fold_could_not_give_are_left_out() -> None:
    """−∞: the rest of the documents decide, as if they were all there are."""
    scores, truth = np.array([[1.0], [-1.0], [-math.inf], [-math.inf]]), Csr([[1], [0], [1], [0]])
    calibration = Calibration(shrinkage=0).fit(scores, truth)
    assert calibration.slopes_ == pytest.approx([math.log(2)])
    rising = Calibration("isotonic", shrinkage=0).fit(scores, truth)
    assert rising.transform(np.array([[1.0], [-1.0]])).ravel() == pytest.approx([2 / 3, 1 / 3])


def test_much_shrinkage_gives_the_pooled_curve() -> None:
    """With a million pooled positives added, each label has the curve of both labels' scores in one column."""
    scores = np.array([[1.0, 0.2], [0.5, -1.0], [-1.0, -0.5], [-2.0, 0.7]])
    truth = np.array([[1, 0], [0, 1], [0, 0], [1, 1]])
    pooled = Calibration(shrinkage=0).fit(scores.reshape(-1, 1), Csr(truth.reshape(-1, 1)))
    drawn = Calibration(shrinkage=1e6).fit(scores, Csr(truth))
    assert drawn.slopes_ == pytest.approx(np.repeat(pooled.slopes_, 2), abs=1e-4)
    assert drawn.intercepts_ == pytest.approx(np.repeat(pooled.intercepts_, 2), abs=1e-4)


def test_isotonic_by_hand() -> None:
    """Scores 1 2 2 3, truth 0 1 0 1: targets 3/4 and 1/4, the tie at 2 shares (3/4 + 1/4)/2; straight lines between."""
    places, heights = rising_curve(np.array([2.0, 1.0, 3.0, 2.0]), np.array([True, False, True, False]))
    assert places.tolist() == [1, 2, 3]
    assert heights.tolist() == [1 / 4, 1 / 2, 3 / 4]
    calibration = Calibration("isotonic", shrinkage=0)
    calibration.fit(np.array([[2.0], [1.0], [3.0], [2.0]]), Csr([[1], [0], [1], [0]]))
    found = calibration.transform(np.array([[0.0], [1.5], [3.0], [math.inf]]))
    assert found.ravel() == pytest.approx([1 / 4, 3 / 8, 3 / 4, 3 / 4])


def test_isotonic_level_stretches_keep_their_ends() -> None:
    """Truth 0 1 1 0 0 1 at 0..5: the middle four pool to the level 1/2, kept by its two corners."""
    places, heights = rising_curve(np.arange(6.0), np.array([False, True, True, False, False, True]))
    assert places.tolist() == [0, 1, 4, 5]
    assert heights == pytest.approx([1 / 5, 1 / 2, 1 / 2, 4 / 5])


def test_isotonic_average_with_the_pool() -> None:
    """With n = 1 positive and m = 3: (1 · own + 3 · pooled)/4.

    Own curve of each label: 1/3 at 0 and 2/3 at 1. Pooled, two of each: 1/4 at 0 and 3/4 at 1.
    """
    calibration = Calibration("isotonic", shrinkage=3).fit(np.array([[0.0, 0.0], [1.0, 1.0]]), Csr([[0, 0], [1, 1]]))
    expected = [(1 / 3 + 3 / 4) / 4, (2 / 3 + 9 / 4) / 4]
    found = calibration.transform(np.array([[0.0, 1.0]]))
    assert found.ravel() == pytest.approx(expected)
    assert calibration.log_odds(np.array([[0.0, 1.0]]))[0, 1] == pytest.approx(
        math.log(expected[1] / (1 - expected[1]))
    )


def test_extreme_scores() -> None:
    """Newton's method survives scores of 1e9 and separated classes; probabilities stay within (0, 1)."""
    scores = np.array([[1e9], [2e9], [-1e9], [-3e9]])
    for curve in ("logistic", "isotonic"):
        found = Calibration(curve).fit(scores, Csr([[1], [1], [0], [0]])).transform(scores).ravel()  # type: ignore[arg-type]
        assert (found[:2] > 0.6).all()
        assert (found[2:] < 0.4).all()
        assert ((found > 0) & (found < 1)).all()


NOT = -math.inf


@pytest.mark.parametrize(
    ("scores", "labels", "share"),
    [
        ([[1, 0], [0, 1], [1, 0], [1, 0]], [0, 1, 0, 1], 2 / 3),  # 4 p = 3 · 5/6 + 1/6
        ([[1, 0, NOT], [0, 1, NOT], [1, 0, NOT], [1, 0, NOT]], [0, 1, 0, 1], 31 / 48),  # of 1/6, half is lost
        ([[1, 0, NOT], [0, 1, NOT], [1, 0, NOT], [1, 0, NOT], [0, 0, NOT]], [0, 1, 0, 1, 2], 31 / 48),
        ([[1, 0, NOT], [0, 1, NOT], [1, 0, NOT], [1, 0, NOT], [0, 0, -NOT]], [0, 1, 0, 1, 2], 31 / 48),
        ([[1, 0, NOT], [0, 1, NOT], [1, 0, NOT], [1, 0, NOT], [0, -NOT, 1]], [0, 1, 0, 1, 2], 31 / 48),
    ],
)
def test_temperature_of_four_documents(scores: list[list[float]], labels: list[int], share: float) -> None:
    """Three of four documents have the label that scores 1 higher, each counted 5/6 true; 1/6 goes to the other labels.

    With p the probability of the higher score, Σ log Σ_j exp(a f_j) has the derivative 4 p. An impossible label takes
    its part of the 1/6 without a score; documents of impossible or certain labels are left out.
    """
    values = np.array(scores, dtype=float)
    temperature = Temperature().fit(values, Csr(np.eye(values.shape[1], dtype=int)[labels]))
    assert temperature.transform(values[:1])[0, :2] == pytest.approx([share, 1 - share])
    assert temperature.exported() == {"curve": "softmax", "factor": temperature.factor_}


def test_temperature_of_scores_without_information() -> None:
    """Both labels have the same scores, so that the best factor is 0; the least one tried is 1e-3 by their spread."""
    assert Temperature().fit(np.array([[1.0, 0.0]] * 2), Csr([[1, 0], [0, 1]])).factor_ == pytest.approx(1e-3 / 0.5)
    assert Temperature().fit(np.zeros((2, 2)), Csr([[1, 0], [0, 1]])).factor_ == pytest.approx(1e-3)


def test_temperature_of_certain_and_impossible_labels() -> None:
    temperature = Temperature().fit(np.zeros((0, 2)), Csr((0, 2)))
    assert temperature.factor_ == 1
    scores = np.array([[-NOT, 3, 0], [-NOT, -NOT, 0], [NOT, NOT, NOT], [NOT, 2, 2]])
    assert temperature.transform(scores).tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 0], [0, 0.5, 0.5]]
    assert temperature.transform(np.array([[1.0, 0.0]])).ravel() == pytest.approx(
        [math.e / (1 + math.e), 1 / (1 + math.e)]
    )


ONE_TO_THREE = np.array([[1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [3.0, 1.0]])
RISING = Csr([[0, 0], [1, 0], [0, 1], [1, 1]])


def test_the_score_at_which_a_probability_is_reached() -> None:
    """Label 0 rises from 1/4 at 1 to 1/2 at 2 and 3/4 at 3, label 1 from 1/4 at 0 to 3/4 at 1; always −∞, never +∞."""
    calibration = Calibration("isotonic", shrinkage=0).fit(ONE_TO_THREE, RISING)
    for probabilities, expected in (
        ([0.5, 0.5], [2.0, 0.5]),
        ([0.375, 0.625], [1.5, 0.75]),
        ([0.2, 0.8], [-math.inf, math.inf]),
        ([0.25, 0.75], [-math.inf, 1.0]),
        ([math.nan, 0.5], [math.nan, 0.5]),
    ):
        np.testing.assert_allclose(calibration.inverse(np.array(probabilities)), expected)
    logistic = Calibration().restore({"slopes_": np.array([2.0, 0.0, 0.0]), "intercepts_": np.array([1.0, 0.0, 0.0])})
    np.testing.assert_allclose(
        logistic.inverse(np.array([0.8, 0.5, 0.6])), [(math.log(4) - 1) / 2, -math.inf, math.inf]
    )
    np.testing.assert_allclose(logistic.inverse(np.array([0.0, math.nan, 1.0])), [-math.inf, math.nan, math.inf])


@pytest.mark.parametrize("curve", ["logistic", "isotonic"])
def test_curves_of_some_labels_and_of_two_calibrations(curve: str) -> None:
    whole = Calibration(curve, shrinkage=1).fit(ONE_TO_THREE, RISING)  # type: ignore[arg-type]
    expected = whole.transform(ONE_TO_THREE)
    for columns in ([1, 0], [1], [0]):
        some = whole.of_labels(np.array(columns))
        np.testing.assert_array_equal(some.transform(ONE_TO_THREE[:, columns]), expected[:, columns])
        assert (some.curve, some.shrinkage) == (curve, 1)
    both = whole.of_labels(np.array([1])).beside(whole.of_labels(np.array([1, 0])))
    np.testing.assert_array_equal(both.transform(ONE_TO_THREE[:, [1, 1, 0]]), expected[:, [1, 1, 0]])
    exported = whole.exported()
    assert (exported is None) == (curve == "isotonic")
    if exported is not None:
        assert exported == {"curve": "logistic", "slopes": whole.slopes_, "intercepts": whole.intercepts_}


def test_log_odds_have_bounds() -> None:
    calibration = Calibration().restore({"slopes_": np.array([1e3, 0.0]), "intercepts_": np.array([0.0, 2.0])})
    scores = np.array([[1e3, math.inf], [-1e3, -5.0], [-math.inf, -math.inf], [0.5, 1e308]])
    assert calibration.log_odds(scores).tolist() == [[700, 2], [-700, 2], [-math.inf, -math.inf], [500, 2]]


def test_wrong_input() -> None:
    with pytest.raises(DecisionError) as error:
        Calibration().fit(np.zeros((2, 2)), Csr((2, 3)))
    assert str(error.value) == "Calibration: scores are 2 × 2 but Y is 2 × 3. Both must be documents × labels."
    with pytest.raises(DecisionError) as error:
        Calibration().fit(np.array([[1.0], [0.0]]), Csr([[1], [0]])).transform(np.zeros(2))
    assert str(error.value) == "Calibration learned 1 label, so that scores must be documents × 1, not 2."
    with pytest.raises(DecisionError, match="documents × 1, not 2 × 3"):
        Calibration().fit(np.array([[1.0], [0.0]]), Csr([[1], [0]])).transform(np.zeros((2, 3)))
    with pytest.raises(ParameterError, match="'logistic', 'isotonic'"):
        Calibration("logistics").fit(np.zeros((1, 1)), Csr([[1]]))  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        Calibration().transform(np.zeros((1, 1)))
