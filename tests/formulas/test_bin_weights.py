"""The mean weight of each frequency bin (Lee 2018, Fig. 2), computed term by term. Point 20 of the first-hour list."""

import numpy as np
import pytest

from manylabel.features.discretize import bin_numbers
from manylabel.features.information_weights import kl_value_weights, two_class_weights
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes

X = np.array([[1, 0, 0], [3, 0, 1], [0, 1, 1], [0, 3, 0], [1, 2, 0], [0, 0, 1]])
Y = np.array([[1, 0], [1, 1], [0, 1], [0, 1], [1, 0], [0, 1]])
CLASS = np.array([0, 0, 1, 1, 0, 1])
BINS = 3


def _binned(column: np.ndarray) -> np.ndarray:
    positive = column[column > 0]
    return bin_numbers(column, positive.min(), positive.max(), BINS)


def test_point_20_mean_weight_per_bin_of_classes() -> None:
    """Each term's bins × classes give its weights; the mean of a bin is over terms that occur in it, or over all."""
    model = ValueWeightedNaiveBayes(
        "categorical", weight="kl", m=0.0, norm="none", refine="none", target="classes", n_bins=BINS
    ).fit(X, CLASS)
    sums, numbers = np.zeros(BINS), np.zeros(BINS)
    for column in X.T:
        binned = _binned(column)
        table = np.array([[np.sum((binned == j) & (c == CLASS)) for c in (0, 1)] for j in range(BINS)])
        weights = kl_value_weights(table, "kl", 0.0)
        for j in np.unique(binned):
            sums[j] += weights[j]
            numbers[j] += 1
    np.testing.assert_allclose(model.bin_weights_, [sums / numbers, sums / 3, numbers])


@pytest.mark.parametrize("event", ["categorical", "exponent"])
def test_point_20_mean_weight_per_bin_of_labels(event: str) -> None:
    """Each label has weights of its own: the mean is over terms and labels; without absence, bin 0 has no weight."""
    model = ValueWeightedNaiveBayes(event, weight="kl", norm="none", refine="none", n_bins=BINS).fit(X, Y)  # type: ignore[arg-type]
    sums, numbers = np.zeros(BINS), np.zeros(BINS)
    for column in X.T:
        binned = _binned(column)
        for j in np.unique(binned if event == "categorical" else binned[binned > 0]):
            inside = binned == j
            of_labels = [
                two_class_weights(Y[inside, k].sum(), inside.sum(), Y[:, k].sum(), 6, "kl", 1.0) for k in (0, 1)
            ]
            sums[j] += np.mean(of_labels)
            numbers[j] += 1
    np.testing.assert_allclose(model.bin_weights_, [sums / np.maximum(numbers, 1), sums / 3, numbers])


@pytest.mark.parametrize("refine_cells", ["all", "seen"])
def test_point_20_mean_weight_per_bin_is_that_of_refined_weights(refine_cells: str) -> None:
    """Steps of length 0 leave the weights as they were; longer ones change the means."""
    fitted = {
        eta: ValueWeightedNaiveBayes(eta=eta, refine_cells=refine_cells, n_bins=BINS).fit(X, Y).bin_weights_  # type: ignore[arg-type]
        for eta in (1e-12, 0.5)
    }
    plain = ValueWeightedNaiveBayes(refine="none", n_bins=BINS).fit(X, Y).bin_weights_
    np.testing.assert_allclose(fitted[1e-12], plain, atol=1e-9)
    assert not np.allclose(fitted[0.5], plain)
