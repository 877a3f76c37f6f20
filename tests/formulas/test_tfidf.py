"""tf-idf, length normalisation and pruning with numbers one can do by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.features import Vectorizer, Weighting

DOCUMENTS = ["a a b", "a c", "b b c c"]


def counts() -> Csr:
    return Vectorizer(tokens="letters").fit_transform(DOCUMENTS)


def test_the_worked_example() -> None:
    """D-3: three documents over a, b, c; every word in two of three documents."""
    weighting = Weighting(idf="plain").fit(counts())
    assert weighting.document_frequency_.tolist() == [2, 2, 2]
    np.testing.assert_allclose(weighting.idf_, log(3 / 2))
    assert log(3 / 2) == pytest.approx(0.405465, abs=1e-6)
    expected = [
        [2 / sqrt(5), 1 / sqrt(5), 0],
        [1 / sqrt(2), 0, 1 / sqrt(2)],
        [0, 2 / sqrt(8), 2 / sqrt(8)],
    ]
    V = weighting.transform(counts()).toarray()
    np.testing.assert_allclose(V, expected, rtol=1e-12)
    np.testing.assert_allclose(V[0], [0.894427, 0.447214, 0], atol=1e-6)


def test_logarithmic_term_frequency() -> None:
    """D-3: the first row with tf = 1 + ln x is (0.861037, 0.508542, 0)."""
    V = Weighting(tf="log", idf="plain").fit_transform(counts()).toarray()
    length = sqrt((1 + log(2)) ** 2 + 1)
    np.testing.assert_allclose(V[0], [(1 + log(2)) / length, 1 / length, 0], rtol=1e-12)
    np.testing.assert_allclose(V[0], [0.861037, 0.508542, 0], atol=1e-6)


def test_a_word_of_every_document_weighs_nothing_and_a_zero_vector_stays_zero() -> None:
    """D-3: idf = ln(N/N) = 0; the document that holds only this word becomes zero and is not divided by 0."""
    V = Weighting(idf="plain").fit_transform(Csr(np.array([[1, 1], [3, 0]]))).toarray()
    assert V.tolist() == [[0, 1], [0, 0]]


def test_smooth_idf() -> None:
    """D-3: ln((1 + 2) / (1 + 1)) + 1 for a word of one of two documents, 1 for a word of both."""
    V = Weighting(idf="smooth", norm=None).fit_transform(Csr(np.array([[1, 2], [3, 0]]))).toarray()
    np.testing.assert_allclose(V, [[1, 2 * (log(3 / 2) + 1)], [3, 0]])


def test_l1_divides_by_the_length_of_the_document() -> None:
    """D-3: x_w / x_+; the empty document stays zero (Ueda & Saito 2002)."""
    V = Weighting(idf="none", norm="l1").fit_transform(Csr(np.array([[1, 3], [0, 0], [5, 0]]))).toarray()
    assert V.tolist() == [[0.25, 0.75], [0, 0], [1, 0]]


def test_binary_term_frequency() -> None:
    V = Weighting(tf="binary", idf="none", norm=None).fit_transform(Csr(np.array([[7, 0], [1, 2]]))).toarray()
    assert V.tolist() == [[1, 0], [1, 1]]


def test_idf_is_learned_from_training_documents_only() -> None:
    """D-3: a word without a training document weighs 0 with "plain"; nothing is divided by zero."""
    weighting = Weighting(idf="plain", norm=None).fit(Csr(np.array([[1, 0, 1], [0, 0, 1]])))
    assert weighting.transform(Csr(np.array([[1, 1, 1]]))).toarray().tolist() == [[log(2), 0, 0]]


def test_pruning_by_document_frequency() -> None:
    """D-4: words with df <= m go, so that documents may become empty; here m = 1."""
    vectorizer = Vectorizer(tokens="letters", min_df=2)
    X = vectorizer.fit_transform(["aa bb", "aa aa", "cc cc cc"])
    assert vectorizer.terms_ == ["aa"]
    assert X.toarray().tolist() == [[1], [2], [0]]
    assert vectorizer.document_frequency_.tolist() == [2]


def test_counts_of_counts_are_there_before_pruning() -> None:
    """D-4 and A-4: `count` keeps the words that `prune` takes away."""
    vectorizer = Vectorizer(tokens="letters", min_df=2)
    X = vectorizer.count(["aa bb", "aa aa", "cc cc cc"])
    assert X.sum(axis=0).tolist() == [3, 1, 3]
    assert vectorizer.prune(X).sum(axis=0).tolist() == [3]


def test_single_precision() -> None:
    V = Weighting(idf="plain", dtype="float32").fit_transform(counts())
    assert V.dtype == np.float32
    np.testing.assert_allclose(V.toarray()[0], [0.894427, 0.447214, 0], atol=1e-6)


WRONG: dict[str, Callable[[], object]] = {
    "There are no documents to learn from. Give at least one document.": lambda: Weighting().fit(Csr((0, 3))),
    "X has infinite or missing values. Give finite numbers.": lambda: Weighting().fit(np.array([[1, np.inf]])),
    "Negative values in data passed to Weighting: tf = 'raw' with idf = 'plain' weighs counts, 0 or above. "
    "Give counts, or train on documents with negative values.": lambda: Weighting().fit(np.array([[1, -1]])),
    "X has 3 columns, but 1 term was learned. Use the vectorizer this weighting was fitted with.": lambda: (
        Weighting().fit(np.array([[1]])).transform(np.array([[1, 1, 1]]))
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_values_raise_an_error_that_explains_it(message: str) -> None:
    with pytest.raises(DataError) as error:
        WRONG[message]()
    assert str(error.value) == message


def test_wrong_settings_raise_an_error() -> None:
    with pytest.raises(ParameterError, match="idf must be one of"):
        Weighting(idf="smoth").fit(counts())
    assert Weighting(tf="raw", idf="none").fit_transform(np.array([[3, -4]])).toarray().tolist() == [[0.6, -0.8]]
    with pytest.raises(DataError, match="tf = 'log' with idf = 'none' weighs counts"):
        Weighting(tf="log", idf="none").fit(np.array([[3, -4]]))
