"""The relatives of naive Bayes agree with scikit-learn's, and where they differ it is shown."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import mutual_info_classif
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB
from sklearn.preprocessing import KBinsDiscretizer

from manylabel.estimator import Csr
from manylabel.features.discretize import FrequencyBins
from manylabel.features.information_weights import presence_weights
from manylabel.features.weighting import Weighting
from manylabel.models.bernoulli_nb import BernoulliNaiveBayes
from manylabel.models.complement_nb import ComplementNaiveBayes
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes
from manylabel.models.weighted_nb import WeightedNaiveBayes


@pytest.fixture
def counts() -> np.ndarray:
    return np.random.default_rng(7).poisson(0.6, (80, 50)).astype(float)


@pytest.fixture
def labels() -> np.ndarray:
    rng = np.random.default_rng(2)
    return (rng.random((80, 6)) < rng.random(6)).astype(int)


def classes(n_classes: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, n_classes, 80) * 10


@pytest.mark.parametrize("alpha", [1.0, 0.05])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_bernoulli_single_label(counts: np.ndarray, alpha: float, n_classes: int) -> None:
    y = classes(n_classes)
    ours = BernoulliNaiveBayes(target="classes", alpha=alpha).fit(counts, y)
    theirs = BernoulliNB(alpha=alpha).fit(counts, y)
    np.testing.assert_allclose(ours.log_joint(counts), theirs.predict_joint_log_proba(counts), rtol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(counts), theirs.predict_proba(counts), rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(ours.predict(counts), theirs.predict(counts))


@pytest.mark.parametrize("alpha", [1.0, 0.05])
def test_bernoulli_labels(counts: np.ndarray, labels: np.ndarray, alpha: float) -> None:
    ours = BernoulliNaiveBayes(alpha=alpha).fit(counts, labels)
    theirs = OneVsRestClassifier(BernoulliNB(alpha=alpha)).fit(counts, labels)
    np.testing.assert_allclose(ours.predict_proba(counts), theirs.predict_proba(counts), rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(ours.predict(counts), theirs.predict(counts))
    for label in range(labels.shape[1]):
        joint = BernoulliNB(alpha=alpha).fit(counts, labels[:, label]).predict_joint_log_proba(counts)
        np.testing.assert_allclose(ours.scores(counts)[:, label], joint[:, 1] - joint[:, 0], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("alpha", [1.0, 0.05])
@pytest.mark.parametrize("norm", [True, False])
def test_complement_single_label(counts: np.ndarray, alpha: float, norm: bool) -> None:
    y = classes(5)
    ours = ComplementNaiveBayes(alpha=alpha, normalise=norm).fit(counts, y)
    theirs = ComplementNB(alpha=alpha, norm=norm).fit(counts, y)
    # with norm=True scikit-learn's weights are positive where the raw ones are, so both rank alike
    expected = theirs.predict_joint_log_proba(counts)
    np.testing.assert_allclose(ours.scores(counts), expected, rtol=1e-10)
    np.testing.assert_array_equal(ours.predict(counts), theirs.predict(counts))


def test_complement_labels(counts: np.ndarray, labels: np.ndarray) -> None:
    """A label's score is that of its class in scikit-learn's two-class problem."""
    ours = ComplementNaiveBayes(normalise=False).fit(counts, labels).scores(counts)
    for label in range(labels.shape[1]):
        theirs = ComplementNB().fit(counts, labels[:, label]).predict_joint_log_proba(counts)
        np.testing.assert_allclose(ours[:, label], theirs[:, 1], rtol=1e-10)


def test_complement_differs_by_default(counts: np.ndarray) -> None:
    """Ours is normalised by default, as in its paper; scikit-learn's is not."""
    y = classes(5)
    ours, theirs = ComplementNaiveBayes().fit(counts, y), ComplementNB().fit(counts, y)
    assert not np.allclose(ours.scores(counts), theirs.predict_joint_log_proba(counts))
    np.testing.assert_allclose(
        ours.scores(counts), ComplementNB(norm=True).fit(counts, y).predict_joint_log_proba(counts)
    )


def test_categorical_without_weights(counts: np.ndarray) -> None:
    """Weights of 1 and the share of documents as prior are scikit-learn's CategoricalNB on the bins."""
    y = classes(4)
    settings = {"event": "categorical", "weight": "none", "refine": "none", "prior": "documents", "target": "classes"}
    ours = ValueWeightedNaiveBayes(**settings, n_bins=4).fit(counts, y)  # type: ignore[arg-type]
    bins = FrequencyBins(4).fit_transform(counts).toarray()
    theirs = CategoricalNB(min_categories=4).fit(bins, y)
    np.testing.assert_allclose(ours.log_joint(counts), theirs.predict_joint_log_proba(bins), rtol=1e-10)


@pytest.mark.parametrize("event", ["multinomial", "exponent"])
def test_multinomial_without_weights(counts: np.ndarray, labels: np.ndarray, event: str) -> None:
    """Weights of 1 are MultinomialNB, on counts; `exponent` ignores how often a word occurs when it scores."""
    settings = {"event": event, "weight": "none", "refine": "none", "prior": "documents", "frequency": "value"}
    scored = counts if event == "multinomial" else (counts > 0).astype(float)
    y = classes(4)
    ours = ValueWeightedNaiveBayes(**settings, target="classes").fit(counts, y)  # type: ignore[arg-type]
    theirs = MultinomialNB().fit(counts, y).predict_joint_log_proba(scored)
    np.testing.assert_allclose(ours.log_joint(counts), theirs, rtol=1e-10)
    each = ValueWeightedNaiveBayes(**settings).fit(counts, labels)  # type: ignore[arg-type]
    for label in range(labels.shape[1]):
        joint = MultinomialNB().fit(counts, labels[:, label]).predict_joint_log_proba(scored)
        np.testing.assert_allclose(each.scores(counts)[:, label], joint[:, 1] - joint[:, 0], rtol=1e-9, atol=1e-10)


def test_weighted_without_weights(counts: np.ndarray) -> None:
    y = classes(5)
    ours = WeightedNaiveBayes(weight="none", alpha=0.3).fit(counts, y)
    theirs = MultinomialNB(alpha=0.3).fit(counts, y)
    np.testing.assert_allclose(ours.log_joint(counts), theirs.predict_joint_log_proba(counts), rtol=1e-10)


def test_information_gain(counts: np.ndarray) -> None:
    y = classes(5)
    Y = (y[:, np.newaxis] == np.unique(y)).astype(float)
    df = Csr(Y.T @ (counts > 0))
    theirs = mutual_info_classif((counts > 0).astype(int), y, discrete_features=True)
    np.testing.assert_allclose(presence_weights(df, Y.sum(axis=0), normalise=False), theirs, atol=1e-12)


def test_tf_idf_multinomial(counts: np.ndarray) -> None:
    """Tf-idf as a weighting before multinomial naive Bayes."""
    y = classes(5)
    ours, theirs = Weighting(idf="smooth").fit(counts), TfidfTransformer().fit(counts)
    model = MultinomialNaiveBayes(smoothing="laplace").fit(ours.transform(counts), y)
    expected = MultinomialNB().fit(theirs.transform(counts), y).predict_proba(theirs.transform(counts))
    np.testing.assert_allclose(model.predict_proba(ours.transform(counts)), expected, rtol=1e-10)


def test_bins_of_equal_width() -> None:
    """Positive values fall into scikit-learn's uniform bins; absence is a bin more."""
    values = np.random.default_rng(0).gamma(2.0, size=(200, 3))
    theirs = KBinsDiscretizer(4, encode="ordinal", strategy="uniform", dtype=np.float64).fit_transform(values)
    np.testing.assert_array_equal(FrequencyBins(5).fit_transform(values).toarray(), theirs + 1)
