"""Ensembles: votes, averaged and stacked scores; numbers one can do by hand, and what the regression must satisfy."""

from typing import Any

import numpy as np
import pytest

from manylabel import TextClassifier
from manylabel.estimator import Csr, Floats
from manylabel.exceptions import ParameterError, UnknownNameError
from manylabel.features import Weighting
from manylabel.models.base import MultiLabelModel
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.score_kinds import ScoreKind
from manylabel.recipe import Recipe
from manylabel.setting_values import parse_settings
from manylabel.strategies.ensemble import Ensemble
from manylabel.strategies.stacking import averaged, comparable, of_unseen_documents, stacked
from manylabel.strategies.weighted_member import WeightedMember


class Column(MultiLabelModel):
    """Scores are some columns of X as they stand."""

    score_kind = ScoreKind.MARGIN

    def __init__(self, first: int = 0) -> None:
        self.first = first

    def learn(self, X: Csr, Y: Csr) -> None:
        self.width_ = Y.shape[1]

    def score_batch(self, X: Csr) -> Floats:
        return X[:, self.first : self.first + self.width_].toarray()


@pytest.fixture
def problem() -> tuple[np.ndarray, np.ndarray]:
    """Three members' scores of two labels side by side: the first knows label 0, the second label 1, the third none."""
    rng = np.random.default_rng(0)
    Y = (rng.random((300, 2)) < [0.4, 0.1]).astype(int)
    noise = rng.normal(size=(300, 6))
    noise[:, 0] += 3 * Y[:, 0] - 1.5
    noise[:, 3] += 30 * Y[:, 1] - 15
    return noise, Y


MEMBERS = (Column(0), Column(2), Column(4))


def test_votes_are_counted_and_more_than_half_are_needed() -> None:
    """Members say yes above 0. Label 0 has 2 of 3 votes, label 1 has 1: (2 − 2 + ½)/3 and (1 − 2 + ½)/3."""
    X, Y = np.array([[1.0, 1.0, 1.0, -1.0, -1.0, -1.0]]), np.array([[1, 0]])
    ensemble = Ensemble(MEMBERS, "votes").fit(X, Y)
    np.testing.assert_allclose(ensemble.scores(X), [[0.5 / 3, -0.5 / 3]])
    assert ensemble.predict(X).tolist() == [[1, 0]]
    assert Ensemble(MEMBERS, "votes", votes_needed=1).fit(X, Y).predict(X).tolist() == [[1, 1]]
    assert Ensemble(MEMBERS, "votes", votes_needed=3).fit(X, Y).predict(X).tolist() == [[0, 0]]
    assert Ensemble(MEMBERS[:2], "votes").fit(X, Y).predict(X).tolist() == [[1, 0]], "half is not more than half"
    with pytest.raises(ParameterError, match="votes_needed is 4, but there are 3 members"):
        Ensemble(MEMBERS, "votes", votes_needed=4).fit(X, Y)


def test_on_single_label_data_each_member_votes_for_its_best_label() -> None:
    X = np.array([[-3.0, -2.0, 0.5, 0.1, 9.0, 10.0], [1.0, 2.0, 2.0, 1.0, 0.0, 0.0]])
    ensemble = Ensemble(MEMBERS, "votes").fit(X, ["b", "a"])
    np.testing.assert_allclose(ensemble.scores(X), [[-0.5 / 3, 0.5 / 3], [0.5 / 3, -0.5 / 3]])
    assert ensemble.predict(X).tolist() == ["b", "a"]


def test_a_judge_trusts_the_member_that_knows_the_label(problem: Any) -> None:
    X, Y = problem
    found = stacked(np.stack([X[:, 0:2], X[:, 2:4], X[:, 4:6]]), Csr(Y), ridge=1.0)
    spread = X.std(axis=0).reshape(3, 2)
    strength = np.abs(found.weights * spread)
    assert strength[:, 0].argmax() == 0
    assert strength[:, 1].argmax() == 1
    assert strength[2].max() < 0.4 * strength[:2].max(axis=0).min()


@pytest.mark.parametrize("combine", [stacked, averaged])
def test_the_regression_is_at_its_minimum(problem: Any, combine: Any) -> None:
    """At the minimum of a logistic regression with a free intercept the probabilities add up to the targets' sum.

    With Platt's targets: n₊ (n₊ + 1)/(n₊ + 2) + n₋/(n₋ + 2).
    """
    X, Y = problem
    scores = X[:, :2][np.newaxis]
    found = combine(scores, Csr(Y), 1.0)
    p = 1 / (1 + np.exp(-found(scores)))
    positives = Y.sum(axis=0)
    negatives = len(Y) - positives
    wanted = positives * (positives + 1) / (positives + 2) + negatives / (negatives + 2)
    np.testing.assert_allclose(p.sum(axis=0), wanted, rtol=1e-5)


def test_stacking_without_shrinkage_is_scikit_learns_logistic_regression(problem: Any) -> None:
    """Platt's targets are two weighted documents for one: a positive with weight t as 1 and 1 − t as 0."""
    from sklearn.linear_model import LogisticRegression

    X, Y = problem
    scores = np.stack([X[:, :1], X[:, 2:3]])
    found = stacked(scores, Csr(Y[:, :1]), ridge=1e-9)
    n = Y[:, 0].sum()
    target = np.where(Y[:, 0] == 1, (n + 1) / (n + 2), 1 / (len(Y) - n + 2))
    theirs = LogisticRegression(C=1e9, tol=1e-10, max_iter=10_000).fit(
        np.vstack([X[:, [0, 2]]] * 2), np.repeat([1, 0], len(Y)), sample_weight=np.concatenate([target, 1 - target])
    )
    np.testing.assert_allclose(found.weights[:, 0], theirs.coef_[0], rtol=1e-3)
    np.testing.assert_allclose(found.intercept, theirs.intercept_, rtol=1e-3)


@pytest.mark.parametrize("combine", [stacked, averaged])
def test_rounding_of_equal_scores_is_not_stretched(problem: Any, combine: Any) -> None:
    X, Y = problem
    equal = np.full((len(X), 2), 0.3) + np.linspace(0, 1e-15, len(X))[:, np.newaxis] * X[:, :2]
    assert np.ptp(equal) > 0
    found = combine(np.stack([X[:, :2], equal]), Csr(Y), 1.0)
    assert np.abs(found.weights).max() < 100


def test_the_scale_of_a_member_does_not_matter(problem: Any) -> None:
    X, Y = problem
    scaled = X * np.repeat([1.0, 100.0, 0.01], 2) + 7
    for how in ("average", "stacked"):
        one = Ensemble(MEMBERS, how).fit(X, Y).scores(X)
        np.testing.assert_allclose(Ensemble(MEMBERS, how).fit(scaled, Y).scores(scaled), one, rtol=1e-4, atol=1e-4)


def test_posteriors_and_infinities_become_comparable() -> None:
    found = comparable(np.array([[0.8, 0.2], [1.0, 0.0]]), ScoreKind.POSTERIOR)
    np.testing.assert_allclose(found, [[np.log(4), -np.log(4)], [700, -700]])
    assert comparable(np.array([[-np.inf, 2.0]]), ScoreKind.LOG_ODDS).tolist() == [[-700, 2]]
    learned = of_unseen_documents(np.array([[-np.inf, -np.inf], [-3.0, -np.inf], [np.inf, -np.inf]]), ScoreKind.MARGIN)
    assert learned.tolist() == [[-3, 0], [-3, 0], [-3, 0]]


def test_each_member_weighs_the_counts_for_itself() -> None:
    rng = np.random.default_rng(1)
    X, Y = rng.poisson(1.0, (40, 8)).astype(float), (rng.random((40, 3)) < 0.4).astype(int)
    weighting = Weighting(tf="log", idf="smooth", norm="l2")
    member = WeightedMember(LinearSVM(), weighting).fit(X, Y)
    by_hand = weighting.fit_transform(Csr(X))
    np.testing.assert_array_equal(member.scores(X), LinearSVM().fit(by_hand, Y).scores(by_hand))
    assert WeightedMember(LinearSVM()).fit(X - 1, Y).needs_counts is False
    assert member.needs_counts


def test_evidence_is_the_members_evidence_weighted() -> None:
    rng = np.random.default_rng(2)
    X, Y = rng.poisson(1.0, (60, 8)).astype(float), (rng.random((60, 3)) < 0.4).astype(int)
    members = (WeightedMember(LinearSVM()), BinaryNaiveBayes(smoothing="laplace"))
    for how in ("average", "stacked"):
        ensemble = Ensemble(members, how).fit(X, Y)
        whole, empty = ensemble.scores(X[:1])[0], ensemble.scores(np.zeros((1, 8)))[0]
        table = ensemble.evidence(X[:1])
        np.testing.assert_allclose(np.asarray(table.sum(axis=1)).ravel(), whole - empty, atol=1e-6)
        np.testing.assert_allclose(ensemble.evidence(X[:1], [1]).toarray(), table.toarray()[[1]])


def test_a_judge_of_all_labels_learns_that_one_speaks_for_another() -> None:
    """The members know label 0 only, and label 1 always comes with it."""
    rng = np.random.default_rng(3)
    first = rng.random(300) < 0.5
    Y = np.column_stack([first, first]).astype(int)
    X = np.column_stack([4.0 * first - 2, rng.normal(size=300)]) + rng.normal(size=(300, 2)) * 0.3
    own, every = (Ensemble((Column(),), "stacked", stack_on=on).fit(X, Y).score(X, Y) for on in ("own", "all"))
    assert own < 0.75
    assert every > 0.95


def test_the_members_scores_of_unseen_documents_keep_within_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scores of both members, eight bytes each, for 6 of the 20 documents and both labels."""
    X, Y = Csr(np.arange(40.0).reshape(20, 2)), Csr(np.tile([[1, 0], [0, 1]], (10, 1)))
    monkeypatch.setattr("manylabel.strategies.ensemble.WORKING_MEMORY", 8 * 2 * 6 * 2)
    scores, rows = Ensemble((Column(), Column()), folds=2)._members_out_of_fold(X, Y, 2, {})
    assert (scores.shape, len(rows)) == ((2, 6, 2), 6)


def test_members_are_chosen_by_name() -> None:
    changed = parse_settings(['model.members=["svm", "nb-app"]', "model.combine=votes"])
    recipe = Recipe.of("ensemble", changed)
    assert recipe.model["members"] == ("svm", "nb-app")
    assert Recipe.from_dict(recipe.as_dict()) == recipe
    members = recipe.build_model().get_params()["members"]
    assert [type(member.model.model) for member in members] == [LinearSVM, MultinomialNaiveBayes]
    with pytest.raises(UnknownNameError, match="Did you mean 'svm'"):
        Recipe.of("ensemble", {"model": {"members": ["svn"]}})
    with pytest.raises(ParameterError, match="members must be a list of methods"):
        Recipe.of("ensemble", {"model": {"members": "svm"}})


@pytest.mark.parametrize("how", ["votes", "average", "stacked"])
def test_an_ensemble_is_stored_with_its_members(how: str, tmp_path: Any) -> None:
    texts = ["the bus was late", "a hole in the road", "late bus, bad road", "good morning", "bus stop"] * 4
    labels = [["buses"], ["roads"], ["buses", "roads"], [], ["buses"]] * 4
    model = TextClassifier("ensemble", model={"members": ["svm", "nb", "nb-app"], "combine": how}).fit(texts, labels)
    model.save(tmp_path / "model")
    loaded = TextClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_scores(texts[:5]), model.predict_scores(texts[:5]))
    assert loaded.predict(texts[:3]) == labels[:3]
    assert list(loaded.recipe.model["members"]) == ["svm", "nb", "nb-app"]
