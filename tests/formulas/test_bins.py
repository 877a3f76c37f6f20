"""Frequency bins: E-3."""

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.features.discretize import FrequencyBins, bin_numbers


def test_example() -> None:
    """E-3: B = 5, lo = 1, hi = 9: (0, 1, 2, 3, 5, 9) → (0, 1, 1, 2, 3, 4)."""
    assert bin_numbers([0, 1, 2, 3, 5, 9], 1, 9, 5).tolist() == [0, 1, 1, 2, 3, 4]
    column = Csr(np.array([[0, 1, 2, 3, 5, 9]]).T)
    assert FrequencyBins(5).fit_transform(column).toarray().ravel().tolist() == [0, 1, 1, 2, 3, 4]


def test_values_outside_are_clipped() -> None:
    """E-3: below lo → bin 1, above hi → the last; not positive → 0."""
    assert bin_numbers([0.5, 100, -3], 1, 9, 5).tolist() == [1, 4, 0]


def test_one_value_only() -> None:
    """E-3: hi = lo → bin 1 whatever comes; so does a word never seen."""
    assert bin_numbers([1, 3, 7], 3, 3, 5).tolist() == [1, 1, 1]
    bins = FrequencyBins(5).fit(np.array([[3, 0], [3, 0]]))
    assert bins.transform(np.array([[8, 8]])).toarray().tolist() == [[1, 1]]


def test_two_bins_are_presence() -> None:
    """E-3: B = 2."""
    X = np.array([[0, 4, 1], [7, 0, 2]])
    assert FrequencyBins(2).fit_transform(X).toarray().tolist() == [[0, 1, 1], [1, 0, 1]]


def test_scope() -> None:
    """E-3: an interval for each word, or one for all: (1, 2) is the whole range of the second word only."""
    X = np.array([[1, 1], [9, 2]])
    assert FrequencyBins(5).fit_transform(X).toarray().tolist() == [[1, 1], [4, 4]]
    assert FrequencyBins(5, scope="global").fit_transform(X).toarray().tolist() == [[1, 1], [4, 1]]


def test_batches_and_errors() -> None:
    """The smallest and the largest value of batches are those of all documents."""
    X = np.array([[1, 0], [9, 2], [4, 5]])
    batches = FrequencyBins(4).partial_fit(X[2:]).partial_fit(X[:2])
    np.testing.assert_array_equal(batches.transform(X).toarray(), FrequencyBins(4).fit_transform(X).toarray())
    with pytest.raises(ParameterError, match="n_bins must be a whole number of at least 2"):
        FrequencyBins(1).fit(X)
    with pytest.raises(DataError, match="3 columns, but the bins of 2 terms"):
        batches.transform(np.ones((1, 3)))


def test_bins_stay_sparse() -> None:
    """Absent words are bin 0 and are not stored; the input stays as it is."""
    X = Csr(np.array([[0, 4.0, 1], [7, 0, 2]]))
    before = X.toarray()
    found = FrequencyBins(3).fit_transform(X)
    assert found.nnz == X.nnz == 4
    np.testing.assert_array_equal(X.toarray(), before)
