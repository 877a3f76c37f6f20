"""Section 0: posteriors through log-sum-exp, and how scores are read."""

import math

import numpy as np
import pytest

from manylabel.exceptions import DecisionError, ManylabelWarning
from manylabel.models.score_kinds import ScoreKind, natural_decisions, posteriors, probabilities, sigmoid


def test_posteriors_of_very_small_joints() -> None:
    """Section 0: s = (−2000, −2001, −2003); e^0 + e^−1 + e^−3 = 1.41766651."""
    shares = posteriors(np.array([[-2000.0, -2001.0, -2003.0]]))
    np.testing.assert_allclose(shares, [[0.70538451, 0.25949646, 0.03511903]], atol=5e-9)


def test_impossible_document_gets_the_prior_and_a_warning() -> None:
    """Section 0: all s_c = −∞ returns the prior and sets a warning flag; other rows are untouched."""
    joint = np.array([[-math.inf, -math.inf], [0.0, 0.0]])
    with pytest.warns(ManylabelWarning, match="1 of 2 documents"):
        shares = posteriors(joint, np.array([0.25, 0.75]))
    np.testing.assert_array_equal(shares, [[0.25, 0.75], [0.5, 0.5]])


def test_impossible_class_has_posterior_zero() -> None:
    np.testing.assert_array_equal(posteriors(np.array([[0.0, -math.inf]])), [[1.0, 0.0]])


def test_sigmoid_is_clipped() -> None:
    """A-6: the score difference is clipped to ±700; only −∞ is exactly impossible."""
    assert sigmoid([-1e6])[0] == sigmoid([-700.0])[0] > 0
    np.testing.assert_array_equal(sigmoid([-math.inf, 0.0, math.inf]), [0.0, 0.5, 1.0])


def test_only_probabilities_are_shown_as_probabilities() -> None:
    with pytest.raises(DecisionError, match="'margin' are not probabilities"):
        probabilities(np.zeros((1, 1)), ScoreKind.MARGIN)


@pytest.mark.parametrize(
    ("kind", "scores", "expected"),
    [
        (ScoreKind.POSTERIOR, [0.4, 0.4, 0.2], [1, 0, 0]),  # ties: lowest index
        (ScoreKind.POSTERIOR, [0.0, 0.0, 0.0], [0, 0, 0]),
        (ScoreKind.LOG_ODDS, [0.0, -0.1, 3.0], [1, 0, 1]),
        (ScoreKind.MARGIN, [0.0, -0.1, 3.0], [0, 0, 1]),
        (ScoreKind.SIMILARITY, [-0.2, -0.1, -math.inf], [0, 1, 0]),
        (ScoreKind.SIMILARITY, [-math.inf] * 3, [0, 0, 0]),
    ],
)
def test_natural_decisions(kind: ScoreKind, scores: list[float], expected: list[int]) -> None:
    assert natural_decisions(np.array([scores]), kind).astype(int).tolist() == [expected]
