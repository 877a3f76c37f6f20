"""E-12: classifier chains and their ensembles, numbers by hand."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import LinearSVC

from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.score_kinds import ScoreKind
from manylabel.progress import reporting_to
from manylabel.strategies.chain_ensemble import ChainEnsemble, count_matching_threshold
from manylabel.strategies.classifier_chain import ClassifierChain
from manylabel.strategies.label_order import dependency_order, label_order

X = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0]])
Y = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [1, 0]])


# --- chains -------------------------------------------------------------------------------------------------------


def test_the_second_link_reads_the_first_label() -> None:
    """E-12: in the order 1, 0 label 0 sees x and label 1, true in training; in prediction what was predicted.

    The document (0, 0) is predicted not to have label 1, so for label 0 (3 of 5 documents), add-one Bernoulli:
    3/5 · (1 − 3/5)(1 − 1/5)(1 − 3/5) against 2/5 · (1 − 1/4)(1 − 3/4)(1 − 1/4).
    """
    chain = ClassifierChain(BernoulliNB(), order=[1, 0]).fit(X, Y)
    assert chain.links_[1].classifier_.feature_count_.tolist() == [[0, 2, 0], [2, 0, 2]]
    present = 3 / 5 * (1 - 3 / 5) * (1 - 1 / 5) * (1 - 3 / 5)
    absent = 2 / 5 * (1 - 1 / 4) * (1 - 3 / 4) * (1 - 1 / 4)
    assert chain.scores(X)[4, 0] == pytest.approx(np.log(present / absent))


def test_columns_are_in_label_order_whatever_the_chain() -> None:
    """A chain in the order 1, 0 scores label 0 in column 0. (Its labels differ in document 4.)"""
    for order in ([0, 1], [1, 0]):
        chain = ClassifierChain(BernoulliNB(), order=order).fit(X, Y)
        np.testing.assert_array_equal(chain.predict(X), Y)


def test_prediction_reads_predicted_labels_not_true_ones() -> None:
    """The second link reads the label that the first one predicts, wrong ones included."""
    words = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]])
    labels = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [0, 0]])
    chain = ClassifierChain(BernoulliNB(), order="given").fit(words, labels)
    predicted = chain.predict(words)[:, :1]
    assert predicted[:, 0].tolist() == [1, 1, 1, 0, 0]  # the third document's label 0 is predicted wrongly
    expected = chain.links_[1].classifier_.predict_log_proba(np.hstack([words, predicted]))
    np.testing.assert_allclose(chain.scores(words)[:, 1], expected[:, 1] - expected[:, 0])


def test_label_scale_is_the_value_of_a_label_column() -> None:
    chain = ClassifierChain(MultinomialNaiveBayes(smoothing="laplace"), order="given", label_scale=3.0).fit(X, Y)
    assert chain.links_[1].label_terms_.toarray().tolist() == [[0, 2, 3], [2, 0, 6]]


@pytest.mark.parametrize("base", [BinaryNaiveBayes(), LinearSVM(), BernoulliNB()], ids=repr)
def test_constant_labels_are_constant_and_tell_nothing(base: Any) -> None:
    """E-12 with E-7: they get no link and no column."""
    labels = np.column_stack([np.zeros(5, dtype=int), Y, np.ones(5, dtype=int)])
    chain = ClassifierChain(base, order="given").fit(X, labels)
    alone = ClassifierChain(base, order="given").fit(X, Y)
    assert chain.linked_labels_.tolist() == [1, 2]
    np.testing.assert_array_equal(chain.scores(X)[:, 1:3], alone.scores(X))
    np.testing.assert_array_equal(chain.predict(X)[:, [0, 3]], np.repeat([[0, 1]], 5, axis=0))


def test_unlabelled_documents_are_negatives_of_every_link() -> None:
    """A naive Bayes that would keep them for smoothing only must not: it would know no negative at all."""
    chain = ClassifierChain(BinaryNaiveBayes(), order="given").fit(X, Y)
    assert np.isfinite(chain.scores(X)).all()
    assert chain.links_[0].unlabelled == "negative"


class _Telltale(BernoulliNB):
    """Remembers the label columns it was fitted on."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.columns_seen_ = X[:, 2:].toarray()
        return super().fit(X, y, sample_weight)


def test_out_of_fold_labels_are_predicted_by_models_that_did_not_see_the_document() -> None:
    """With as many folds as documents: leave one out, by hand.

    A document's own label never decides its column. Here word 0 means label 0 but for the last document, which every
    model without it predicts wrongly.
    """
    words = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1]])
    labels = np.array([[1, 1], [1, 1], [1, 0], [0, 0], [0, 1], [0, 0], [1, 1]])
    true = ClassifierChain(_Telltale(), order="given").fit(words, labels)
    assert true.links_[1].classifier_.columns_seen_[:, 0].tolist() == labels[:, 0].tolist()
    unseen = ClassifierChain(_Telltale(), order="given", labels="out-of-fold", folds=7).fit(words, labels)
    assert unseen.links_[1].classifier_.columns_seen_[:, 0].tolist() == [1, 1, 1, 0, 0, 0, 0]


# --- orders -------------------------------------------------------------------------------------------------------


def test_orders() -> None:
    labels = Csr([[1, 1, 0, 1], [0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 0]])
    assert label_order("given", labels).tolist() == [0, 1, 2, 3]
    assert label_order("frequency", labels).tolist() == [1, 2, 3, 0]
    assert sorted(label_order("random", labels, seed=1).tolist()) == [0, 1, 2, 3]
    assert {tuple(label_order("random", labels, seed).tolist()) for seed in range(9)} != {(0, 1, 2, 3)}


def test_dependency_order_by_hand() -> None:
    """Labels 1 and 3 always go together (I = log 2), 2 goes with them less, 0 stands almost alone.

    I(1;3) = log 2. I(1;2): cells 3, 1, 1, 3 of 8: log 2 − (−3/4 log 3/4 − 1/4 log 1/4) = .130812. I(0;·): cells 2, 2,
    2, 2 with 1 and 3: 0.
    """
    labels = Csr(
        [
            [1, 1, 1, 1], [1, 1, 1, 1], [0, 1, 1, 1], [0, 1, 0, 1],
            [1, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0],
        ]
    )  # fmt: skip
    # Label 0 with label 2: cells 3, 1, 1, 3 as well. Sums: label 1 and 3: .693147 + .130812, label 2: 3 · .130812.
    assert dependency_order(labels).tolist() == [1, 3, 2, 0]


def test_dependency_order_of_one_label_and_of_none_that_depend() -> None:
    assert dependency_order(Csr([[1], [0]])).tolist() == [0]
    assert dependency_order(Csr(np.zeros((3, 3), dtype=np.int8))).tolist() == [0, 1, 2]


@pytest.mark.parametrize("order", [[0], [0, 0], [0, 2], [0.5, 1], ["a", "b"]], ids=repr)
def test_a_list_must_name_every_label_once(order: Any) -> None:
    with pytest.raises(ParameterError, match="each of the 2 labels once"):
        ClassifierChain(BernoulliNB(), order=order).fit(X, Y)


def test_an_unknown_order_offers_the_nearest() -> None:
    with pytest.raises(ParameterError, match="Did you mean 'frequency'"):
        ClassifierChain(BernoulliNB(), order="frequent").fit(X, Y)  # type: ignore[arg-type]


# --- ensembles ----------------------------------------------------------------------------------------------------


class _Voter:
    """A chain that always votes the same."""

    def __init__(self, votes: list[int]) -> None:
        self.votes = np.array(votes)

    def score_batch(self, X: Csr) -> np.ndarray:
        return np.tile(np.where(self.votes, 2.0, -1.0), (X.shape[0], 1))

    def natural_decision(self, scores: np.ndarray) -> np.ndarray:
        return scores > 0


def _ensemble_of(votes: list[list[int]], **settings: Any) -> ChainEnsemble:
    n_labels = len(votes[0])
    ensemble = ChainEnsemble(BernoulliNB(), n_chains=len(votes), **settings)
    both = np.vstack([np.eye(n_labels, dtype=int), 1 - np.eye(n_labels, dtype=int)])
    ensemble.fit(np.ones((len(both), 2)), both)
    ensemble.chains_ = [_Voter(row) for row in votes]  # type: ignore[misc]
    return ensemble


def test_shares_of_votes() -> None:
    """E-12: votes (1,0,1), (1,1,0), (0,0,1) give shares (.667, .333, .667) and the labels (1, 0, 1)."""
    ensemble = _ensemble_of([[1, 0, 1], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(ensemble.predict_proba(np.ones((1, 2))), [[2 / 3, 1 / 3, 2 / 3]])
    assert ensemble.predict(np.ones((1, 2))).tolist() == [[1, 0, 1]]


def test_exactly_one_half_counts_as_given() -> None:
    """E-12: ties at .5 are positive; unanimous votes are 1 and 0 but for rounding."""
    ensemble = _ensemble_of([[1, 0, 1], [0, 0, 1]])
    assert ensemble.scores(np.ones((1, 2)))[0, 0] == 0.0
    np.testing.assert_allclose(ensemble.predict_proba(np.ones((1, 2))), [[0.5, 0, 1]], atol=1e-15)
    assert ensemble.predict(np.ones((1, 2))).tolist() == [[1, 0, 1]]


def test_averaged_probabilities() -> None:
    """``combine="scores"``: the mean of the chains' probabilities."""
    ensemble = _ensemble_of([[1, 0, 1], [1, 1, 0], [0, 0, 1]], combine="scores")
    p, q = 1 / (1 + np.exp(-2)), 1 / (1 + np.exp(1))
    np.testing.assert_allclose(
        ensemble.predict_proba(np.ones((1, 2))), [[(2 * p + q) / 3, (p + 2 * q) / 3, (2 * p + q) / 3]]
    )


def test_averaged_margins_stay_margins() -> None:
    words, labels = np.vstack([X] * 4).astype(float), np.vstack([Y] * 4)
    ensemble = ChainEnsemble(LinearSVC(), n_chains=3, combine="scores").fit(words, labels)
    assert ensemble.score_kind is ScoreKind.MARGIN
    mean = np.mean([chain.scores(words) for chain in ensemble.chains_], axis=0)
    np.testing.assert_allclose(ensemble.scores(words), mean)
    np.testing.assert_array_equal(ensemble.predict(words), mean > 0)


def test_ten_chains_on_two_thirds_of_the_documents() -> None:
    """E-12: ten chains, random orders, 67 % of the documents without replacement each."""
    words, labels = np.vstack([X] * 20), np.vstack([np.column_stack([Y, Y[:, ::-1]])] * 20)
    ensemble = ChainEnsemble(BernoulliNB()).fit(words, labels)
    assert len(ensemble.chains_) == 10
    assert {int(chain.links_[0].classifier_.class_count_.sum()) for chain in ensemble.chains_} == {67}
    assert len({tuple(chain.order_.tolist()) for chain in ensemble.chains_}) > 1


def test_samples() -> None:
    """67 % without replacement, 100 % with, or all."""
    random = np.random.default_rng(0)
    subset = ChainEnsemble(BernoulliNB())._draw(random, 100)
    bag = ChainEnsemble(BernoulliNB(), sample="bagging")._draw(random, 100)
    assert (len(subset), len(set(subset.tolist()))) == (67, 67)
    assert len(bag) == 100
    assert 50 < len(set(bag.tolist())) < 75
    assert ChainEnsemble(BernoulliNB(), sample="none")._draw(random, 100).tolist() == list(range(100))


def test_more_chains_leave_the_first_as_they_were() -> None:
    few = ChainEnsemble(BernoulliNB(), n_chains=2).fit(X, Y)
    many = ChainEnsemble(BernoulliNB(), n_chains=4).fit(X, Y)
    for first, second in zip(few.chains_, many.chains_[:2], strict=True):
        np.testing.assert_array_equal(first.scores(X), second.scores(X))


def test_threads_change_no_chain() -> None:
    one, two = (ChainEnsemble(BernoulliNB(), n_chains=4, n_jobs=jobs).fit(X, Y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.scores(X), two.scores(X))


@pytest.mark.parametrize(
    ("scores", "wanted", "lowest"),
    [
        ([0.9, 0.7, 0.7, 0.7, 0.2], 1, 0.9),
        ([0.9, 0.7, 0.7, 0.7, 0.2], 2, 0.9),  # 1 is one off, 4 two off
        ([0.9, 0.7, 0.7, 0.7, 0.2], 3, 0.7),
        ([0.9, 0.7, 0.7, 0.7, 0.2], 9, 0.2),
        ([0.3, 0.3], 1, 0.3),  # none or both are equally far, but none needs a threshold above all scores
        ([0.3], 0, np.inf),
        ([], 3, np.inf),
    ],
)
def test_threshold_that_matches_a_number_of_labels(scores: list[float], wanted: int, lowest: float) -> None:
    """E-12, option cardinality: the threshold lies below the lowest score that reaches it, and above the next."""
    threshold, values = count_matching_threshold(np.array(scores), wanted), np.array(scores)
    np.testing.assert_array_equal(values >= threshold, values >= lowest)
    assert threshold not in scores


def test_cardinality_threshold_gives_as_many_labels_as_in_training() -> None:
    """Without samples left out the training votes are used: 3 chains over noise, 30 documents."""
    random = np.random.default_rng(5)
    words = random.poisson(0.7, (60, 8)).astype(float)
    labels = ((words[:, :3] + random.normal(0, 1.0, (60, 3))) > 1.2).astype(int)
    ensemble = ChainEnsemble(
        LogisticRegression(), n_chains=3, sample="none", combine="scores", threshold="cardinality"
    ).fit(words, labels)
    assert ensemble.threshold_ != 0.0
    assert ensemble.predict(words).sum() == labels.sum()


def test_cardinality_counts_votes_of_chains_that_did_not_see_the_document() -> None:
    """The threshold is that of out-of-bag votes: recomputed here from the samples."""
    random = np.random.default_rng(6)
    words = random.poisson(0.7, (50, 6)).astype(float)
    labels = ((words[:, :2] + random.normal(0, 1.0, (50, 2))) > 1.0).astype(int)
    ensemble = ChainEnsemble(BernoulliNB(), n_chains=4, threshold="cardinality").fit(words, labels)
    draws = [np.random.default_rng(child) for child in np.random.SeedSequence(0).spawn(4)]
    votes, counted = np.zeros((50, 2)), np.zeros((50, 1))
    for chain, draw in zip(ensemble.chains_, draws, strict=True):
        left_out = np.setdiff1d(np.arange(50), ensemble._draw(draw, 50))
        votes[left_out] += chain.predict(sparse.csr_array(words[left_out])).toarray()
        counted[left_out] += 1
    rows = counted[:, 0] > 0
    shares = (votes[rows] / counted[rows]).ravel()
    threshold = count_matching_threshold(shares, int(labels[rows].sum()))
    np.testing.assert_array_equal(shares >= 1 / (1 + np.exp(-ensemble.threshold_)), shares >= threshold)


def test_chains_report_progress() -> None:
    class Sink:
        seen: list[Any]

        def __init__(self) -> None:
            self.seen = []

        def started(self, what: str, total: int | None) -> None:
            self.seen.append((what, total))

        def advanced(self, what: str, by: int) -> None:
            self.seen.append(what)

        def finished(self, what: str) -> None: ...

    sink = Sink()
    with reporting_to(sink):
        ChainEnsemble(BernoulliNB(), n_chains=3).fit(X, Y)
    assert sink.seen[0] == ("Learning chains", 3)
    assert sink.seen.count("Learning chains") == 3


def test_a_base_without_an_opinion_ties_to_no_label() -> None:
    """Dummy probabilities of exactly one half: the links predict no label, so no chain votes."""
    balanced = np.vstack([Y[:4], Y[:4]])
    ensemble = ChainEnsemble(DummyClassifier(strategy="prior"), n_chains=3, sample="none")
    assert not ensemble.fit(np.vstack([X[:4]] * 2), balanced).predict(X).any()
