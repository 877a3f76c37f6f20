"""Laplace and Lidstone smoothing agree with scikit-learn's MultinomialNB."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.multinomial_nb import MultinomialNaiveBayes


@pytest.fixture
def counts() -> np.ndarray:
    return np.random.default_rng(7).poisson(0.6, (80, 50)).astype(float)


@pytest.mark.parametrize("alpha", [1.0, 0.05])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_single_label(counts: np.ndarray, alpha: float, n_classes: int) -> None:
    y = np.random.default_rng(1).integers(0, n_classes, len(counts)) * 10
    ours = MultinomialNaiveBayes(smoothing="lidstone", alpha=alpha).fit(counts, y)
    theirs = MultinomialNB(alpha=alpha).fit(counts, y)
    np.testing.assert_allclose(ours.predict_proba(counts), theirs.predict_proba(counts), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(ours.log_joint(counts), theirs.predict_joint_log_proba(counts), rtol=1e-10)
    np.testing.assert_allclose(ours.term_log_probabilities(), theirs.feature_log_prob_, rtol=1e-10)
    np.testing.assert_array_equal(ours.predict(counts), theirs.predict(counts))


@pytest.mark.parametrize("alpha", [1.0, 0.05])
def test_one_against_rest(counts: np.ndarray, alpha: float) -> None:
    rng = np.random.default_rng(2)
    Y = (rng.random((len(counts), 6)) < rng.random(6)).astype(int)
    ours = BinaryNaiveBayes(smoothing="lidstone", alpha=alpha, unlabelled="negative").fit(counts, Y)
    theirs = OneVsRestClassifier(MultinomialNB(alpha=alpha)).fit(counts, Y)
    np.testing.assert_allclose(ours.predict_proba(counts), theirs.predict_proba(counts), rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(ours.predict(counts), theirs.predict(counts))


def test_works_inside_scikit_learn(counts: np.ndarray) -> None:
    y = np.random.default_rng(1).integers(0, 3, len(counts))
    pipeline = make_pipeline(FunctionTransformer(sparse.csr_matrix), MultinomialNaiveBayes(smoothing="laplace"))
    theirs = cross_val_score(MultinomialNB(), counts, y, cv=4)
    np.testing.assert_allclose(cross_val_score(pipeline, counts, y, cv=4), theirs)
