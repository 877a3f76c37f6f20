"""A classifier told what matters: rule and cost chosen out of fold, told, saved and loaded."""

from pathlib import Path

import numpy as np
import pytest

from manylabel.classifier import TextClassifier
from manylabel.data import load
from manylabel.decisions.best_rule import BestRule
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.top_k import TopK
from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError, UnknownNameError
from manylabel.models.linear_svm import LinearSVM
from manylabel.recipe import Recipe, with_metric
from manylabel.tasks.models import inspect

LETTERS = load("townhall").corpus
TRAIN, TEST = LETTERS.split("train"), LETTERS.split("test")


@pytest.fixture(scope="module")
def automatic() -> TextClassifier:
    return TextClassifier("auto", n_jobs=1).fit(TRAIN.texts, TRAIN.label_sets)


def test_saved_loaded_and_asked_one_by_one(automatic: TextClassifier, tmp_path: Path) -> None:
    automatic.save(tmp_path / "letters.manylabel")
    loaded = TextClassifier.load(tmp_path / "letters.manylabel")
    texts = TEST.texts[:40]
    answers = automatic.predict(texts)
    assert loaded.predict(texts) == answers
    assert [loaded.predict([text])[0] for text in texts] == answers
    assert loaded.thresholds == automatic.thresholds
    assert loaded.decided_.chosen_for_metric() == automatic.decided_.chosen()
    assert inspect(tmp_path / "letters.manylabel").chosen == automatic.decided_.chosen_for_metric()


def test_the_cost_is_the_one_that_served_the_goal_best() -> None:
    """Costs are tried in turn as long as each does better; the chosen one did better than its neighbours."""
    costs, gains = (1.0, 0.25, 0.0625), {}
    decision = {"rule": "best", "costs": costs}
    chosen = TextClassifier("svm", decision=decision, n_jobs=1).fit(TRAIN.texts, TRAIN.label_sets)
    taken = chosen.decided_.settings_["C"]
    for cost in costs:
        alone = TextClassifier("svm", metric="micro-f1", model={"C": cost}, n_jobs=1).fit(TRAIN.texts, TRAIN.label_sets)
        assert alone.decided_.settings_ == {}
        assert alone.decided_.rule_ is not None
        gains[cost] = alone.decided_.rule_.gain
        if cost == taken:
            assert alone.predict(TEST.texts) == chosen.predict(TEST.texts)
    tried = [gains[cost] for cost in costs if cost >= taken]
    assert tried == sorted(tried)
    assert all(gains[cost] <= gains[taken] for cost in [cost for cost in costs if cost < taken][:1])


def test_the_blend_is_scored_as_it_will_score(automatic: TextClassifier) -> None:
    """Small data: the blend is offered, and taken where it serves the metric better than the first model alone."""
    alone = TextClassifier("auto", model={"most_work": 0}, n_jobs=1).fit(TRAIN.texts, TRAIN.label_sets)
    assert "blended" not in alone.decided_.settings_
    rules = automatic.decided_.rule_, alone.decided_.rule_
    assert rules[0] is not None
    assert rules[1] is not None
    assert automatic.decided_.settings_.get("blended", False) == (rules[0].gain > rules[1].gain)


def test_threads_change_nothing(automatic: TextClassifier) -> None:
    other = TextClassifier("auto", n_jobs=2).fit(TRAIN.texts, TRAIN.label_sets)
    assert other.decided_.chosen_for_metric() == automatic.decided_.chosen()
    np.testing.assert_array_equal(other.predict_scores(TEST.texts), automatic.predict_scores(TEST.texts))


def test_a_cost_inside_a_strategy_is_found() -> None:
    from manylabel.strategies.binary_relevance import BinaryRelevance

    inner = BinaryRelevance(LinearSVM())
    X, Y = Csr(np.eye(2)), Csr(np.eye(2))
    assert BestRule(costs=(2.0,)).model_settings(inner, X, Y) == [[{"model__C": 2.0}], []]


def test_a_model_without_a_cost_is_scored_once() -> None:
    from manylabel.models.binary_nb import BinaryNaiveBayes

    X, Y = Csr(np.arange(24).reshape(12, 2) % 5), Csr(np.eye(2, dtype=np.int8)[np.arange(12) % 2])
    model = DecidedModel(BinaryNaiveBayes(), BestRule(costs=(1.0, 0.5))).fit(X, Y)
    assert model.settings_ == {}


@pytest.mark.parametrize("method", ["nb-app", "nb-binary", "rocchio", "knn-majority", "ml-knn"])
def test_goals_work_with_scores_of_every_kind(method: str) -> None:
    texts, labels = TRAIN.texts[:80], TRAIN.label_sets[:80]
    model = TextClassifier(method, metric="sample-f1", folds=3, n_jobs=1).fit(texts, labels)
    chosen = model.decided_.chosen_for_metric()
    assert chosen is not None
    assert chosen["metric"] == "sample-f1"
    assert len(model.predict(TEST.texts[:5])) == 5


def test_recall_at_k_gives_k_labels() -> None:
    model = TextClassifier("auto", metric="recall@3", n_jobs=1).fit(TRAIN.texts[:100], TRAIN.label_sets[:100])
    assert isinstance(model.decided_.rule_, BestRule)
    assert isinstance(model.decided_.rule_.rule_, TopK)
    assert {len(labels) for labels in model.predict(TEST.texts)} == {3}


def test_a_goal_stands_in_the_recipe_beside_the_costs() -> None:
    recipe = TextClassifier("auto", metric="macro-f1").recipe
    assert recipe.decision == {"rule": "best", "costs": (1.0, 0.25, 0.0625), "metric": "macro-f1"}
    assert Recipe.from_toml(recipe.to_toml()) == recipe
    assert "costs" not in Recipe.of("auto", {"model": {"C": 2.0}}).decision


def test_a_goal_and_a_rule_contradict_each_other() -> None:
    with pytest.raises(ParameterError, match="name it or the rule 'top-k', not both"):
        with_metric({"decision": {"rule": "top-k"}}, "exact-match")
    with pytest.raises(UnknownNameError, match="Did you mean 'macro-f1'"):
        with_metric({}, "makro-f1")
