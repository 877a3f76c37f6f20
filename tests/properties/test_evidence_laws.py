"""Laws of evidence: what the words of a document add to its scores, and what the sum is for each method."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from corpora import corpora
from manylabel.catalog import METHODS
from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.models.base import MultiLabelModel
from manylabel.models.bernoulli_nb import BernoulliNaiveBayes
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.complement_nb import ComplementNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.score_kinds import ScoreKind
from manylabel.models.semi_supervised_nb import SemiSupervisedNaiveBayes
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes
from manylabel.models.weighted_nb import WeightedNaiveBayes
from manylabel.recipe import Recipe
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.chain_ensemble import ChainEnsemble
from manylabel.strategies.classifier_chain import ClassifierChain
from manylabel.strategies.co_training import CoTraining
from manylabel.strategies.label_powerset import LabelPowerset
from smaller import SMALLER

LINEAR: list[Any] = [
    MultinomialNaiveBayes(),
    MultinomialNaiveBayes(smoothing="laplace", no_class=True),
    BinaryNaiveBayes(),
    BinaryNaiveBayes(smoothing="laplace"),
    BernoulliNaiveBayes(),
    BernoulliNaiveBayes(target="classes"),
    ComplementNaiveBayes(),
    WeightedNaiveBayes(),
    SemiSupervisedNaiveBayes(max_iter=3),
    ValueWeightedNaiveBayes(steps=3),
    ValueWeightedNaiveBayes("categorical", refine="none"),
    ValueWeightedNaiveBayes("multinomial", target="classes", refine="none"),
    LinearSVM(),
    LinearSVM(loss="logistic", bias="none"),
]
SIGNED = [model for model in LINEAR if model.score_kind in (ScoreKind.LOG_ODDS, ScoreKind.MARGIN)]
INSIDE: list[Any] = [
    ValueWeightedNaiveBayes(steps=3),
    BinaryNaiveBayes(smoothing="laplace", unlabelled="negative"),
    MultinomialNaiveBayes(smoothing="laplace"),
    LinearSVM(),
    MultinomialNB(),
    LogisticRegression(),
]
ABSENCE_COUNTS = {"trees": "a node asks for a word, and its absence decides too", "forest": "as trees"}
few = settings(max_examples=8)
inside = pytest.mark.parametrize("model", INSIDE, ids=repr)
pytestmark = [
    pytest.mark.filterwarnings("ignore::manylabel.exceptions.ManylabelWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn"),
]


def sums(fitted: Any, x: np.ndarray) -> np.ndarray:
    return fitted.evidence([x]).sum(axis=1)


def close(found: np.ndarray, expected: np.ndarray) -> None:
    finite = np.isfinite(expected)
    np.testing.assert_allclose(found[finite], expected[finite], atol=1e-7)


@pytest.mark.parametrize("model", LINEAR, ids=repr)
@few
@given(corpora())
def test_intercept_and_evidence_add_up_to_the_score(model: Any, corpus: Any) -> None:
    """The score itself, or log p(c) p(x|c) where scores are posteriors."""
    X, Y = corpus
    fitted = clone(model).fit(X, Y)
    linear = fitted.linear(fitted.features(X)) if isinstance(fitted, SemiSupervisedNaiveBayes) else None
    scores = getattr(fitted, "log_joint", fitted.scores)(X) if linear is None else linear
    labels = slice(fitted.n_labels_)  # without the pseudo label of `no_class`
    for x, expected in zip(X, scores, strict=True):
        close(fitted.intercept_[labels] + sums(fitted, x), expected[labels])


@pytest.mark.parametrize("model", SIGNED, ids=repr)
@few
@given(corpora())
def test_taking_a_word_out_costs_its_evidence(model: Any, corpus: Any) -> None:
    """The default evidence of any model is, for a sum, the term's own summand."""
    X, Y = corpus
    fitted = clone(model).fit(X, Y)
    finite = np.isfinite(fitted.scores(X[:1])[0])
    removed = MultiLabelModel.evidence(fitted, X[:1]).toarray()
    np.testing.assert_allclose(removed[finite], fitted.evidence(X[:1]).toarray()[finite], atol=1e-7)
    assert not removed[~finite].any()


@inside
@few
@given(corpora(min_documents=2, most=(8, 5, 3)))
def test_binary_relevance(model: Any, corpus: Any) -> None:
    """Score = score of an empty document + evidence."""
    X, Y = corpus
    fitted = BinaryRelevance(model).fit(X, Y)
    base = fitted.scores(0 * X[:1])[0]
    for x, score in zip(X, fitted.scores(X), strict=True):
        close(base + sums(fitted, x), score)


@inside
@few
@given(corpora(min_documents=2, most=(8, 5, 3)))
def test_classifier_chain(model: Any, corpus: Any) -> None:
    """The first label of the chain has no labels before it: its score is as in binary relevance."""
    X, Y = corpus
    fitted = ClassifierChain(model, order="given").fit(X, Y)
    base, scores = fitted.scores(0 * X[:1])[0], fitted.scores(X)
    learned = np.flatnonzero(Y.any(axis=0) & ~Y.all(axis=0))
    constant = np.setdiff1d(np.arange(Y.shape[1]), learned)
    for x, score in zip(X, scores, strict=True):
        found = sums(fitted, x)
        assert not found[constant].any()
        close((base + found)[learned[:1]], score[learned[:1]])


def test_a_chain_adds_words_labels_and_prior() -> None:
    """The score of the second link minus its words' evidence is its score without words, the first label kept."""
    random = np.random.default_rng(0)
    X, Y = random.poisson(1.0, (40, 5)).astype(float), (random.random((40, 2)) < 0.5).astype(int)
    for model in (LinearSVM(loss="logistic"), BinaryNaiveBayes(smoothing="laplace", unlabelled="negative")):
        chain = ClassifierChain(model, order="given").fit(X, Y)
        scores = chain.scores(X)
        for x, score in zip(X, scores, strict=True):
            first = float(chain.natural_decision(score[np.newaxis])[0, 0])
            without_words = chain.links_[1].scores(np.append(0 * x, first)[np.newaxis])[0, 0]
            assert sums(chain, x)[1] + without_words == pytest.approx(score[1])


@pytest.mark.parametrize("model", [ValueWeightedNaiveBayes(steps=3), BernoulliNB()], ids=repr)
def test_an_ensemble_is_the_mean_of_its_chains(model: Any) -> None:
    random = np.random.default_rng(1)
    X, Y = random.poisson(1.0, (40, 5)), (random.random((40, 3)) < 0.4).astype(int)
    fitted = ChainEnsemble(model, n_chains=3).fit(X, Y)
    mean = sum(chain.evidence(X[:1]).toarray() for chain in fitted.chains_) / 3
    np.testing.assert_allclose(fitted.evidence(X[:1]).toarray(), mean)


@pytest.mark.parametrize("fc", ["joint", "separate"])
@pytest.mark.parametrize("model", [ValueWeightedNaiveBayes(steps=3), LinearSVM(loss="logistic")], ids=repr)
def test_co_training_keeps_the_labels_of_the_answer(fc: Any, model: Any) -> None:
    """Words' evidence in a settled document = its score − the score of the same labels without words."""
    random = np.random.default_rng(2)
    X, Y = random.poisson(1.0, (60, 6)), (random.random((60, 3)) < 0.4).astype(int)
    fitted = CoTraining(model, fc=fc, labels="true", update="synchronous").fit(X, Y)
    _, report = fitted.predict_with_report(X)
    settled = np.flatnonzero(report.periods == 1)
    assert len(settled) > 10
    for row in settled[:10]:
        x = fitted.features(X[[row]])
        start = fitted.start_.score_batch(x)
        no_words = fitted._views(0 * x, fitted.start_.score_batch(0 * x))[0]
        state = fitted._alternate(x).state
        rest = no_words.all_at_once(state, np.array([0]))[0]
        assert start.shape == (1, 3)
        np.testing.assert_allclose(sums(fitted, X[row]) + rest, fitted.scores(X[[row]])[0], atol=1e-8)


@few
@given(corpora(some_label=True))
def test_a_powerset_sets_its_best_sets_against_each_other(corpus: Any) -> None:
    """Evidence + log-prior ratio = log p(S|x)/p(R|x), S the best set with the label and R the best without it."""
    X, Y = corpus
    fitted = LabelPowerset(MultinomialNaiveBayes()).fit(X, Y)
    sets = fitted.sets_.toarray().astype(bool)
    log_joint, log_prior = fitted.model_.log_joint(X), fitted.model_.intercept_  # type: ignore[attr-defined]
    for x, joint in zip(X, log_joint, strict=True):
        found = sums(fitted, x)
        for label in range(Y.shape[1]):
            yes, no = (np.flatnonzero(sets[:, label] == side) for side in (True, False))
            if not len(yes) or not len(no):
                assert found[label] == 0
                continue
            S, R = (part[np.argmax(joint[part])] for part in (yes, no))
            np.testing.assert_allclose(found[label] + log_prior[S] - log_prior[R], joint[S] - joint[R], atol=1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_the_catalogue_gives_evidence(name: str) -> None:
    """Labels × terms as CSR, finite, on the words of the document alone; some labels as asked; none without words."""
    random = np.random.default_rng(5)
    X, Y = random.poisson(0.6, (40, 12)).astype(float), (random.random((40, 4)) < 0.4).astype(int)
    X[Y[:, 0] == 1, 0] += 3
    Y[:, 3] = 0
    recipe = Recipe.of(name)
    model = recipe.build_model()
    known = model.get_params()
    model.set_params(**({key: 2 for key in ("folds", "n_chains", "n_members") if key in known} | SMALLER.get(name, {})))
    fitted = model.fit(sparse.csr_array(X), sparse.csr_array(Y))
    x = np.zeros((1, 12))
    x[0, [0, 4, 7]] = [3, 1, 2]
    table = fitted.evidence(x)
    assert isinstance(table, Csr)
    assert table.shape == (4, 12)
    assert np.isfinite(table.data).all()
    if name not in ABSENCE_COUNTS:
        assert set(table.indices.tolist()) <= {0, 4, 7}
        assert fitted.evidence(0 * x).nnz == 0
    np.testing.assert_allclose(fitted.evidence(x, [2, 0]).toarray(), table.toarray()[[2, 0]], atol=1e-9)
    with pytest.raises(DataError, match="one document at a time"):
        fitted.evidence(X)
    with pytest.raises(DataError, match="out of bounds"):
        fitted.evidence(x, [4])
