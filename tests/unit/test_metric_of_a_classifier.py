"""A classifier told what matters: rule and cost chosen out of fold, told, saved and loaded."""

from pathlib import Path

import numpy as np
import pytest

from manylabel.classifier import TextClassifier
from manylabel.data import load
from manylabel.decisions.top_k import TopK
from manylabel.exceptions import ParameterError, UnknownNameError
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
    assert loaded.decided_.choice_ == automatic.decided_.choice_
    assert inspect(tmp_path / "letters.manylabel").chosen == automatic.decided_.choice_


def test_the_cost_is_the_one_that_served_the_metric_best() -> None:
    """Costs are tried in turn as long as each does better; the chosen one did better than its neighbours."""
    costs, gains = (1.0, 0.25, 0.0625), {}
    chosen = TextClassifier("auto", model={"members": ("svm",), "label_names": False}, n_jobs=1).fit(
        TRAIN.texts, TRAIN.label_sets
    )
    assert chosen.recipe.model["costs"] == costs
    assert chosen.decided_.choice_ is not None
    taken = chosen.decided_.choice_["settings"]["C"]
    for cost in costs:
        fixed = {"members": ("svm",), "C": cost, "label_names": False}
        alone = TextClassifier("auto", model=fixed, n_jobs=1).fit(TRAIN.texts, TRAIN.label_sets)
        assert alone.decided_.choice_ is not None
        assert alone.decided_.choice_["settings"] == {}
        gains[cost] = alone.decided_.choice_["value"] or 0.0
        if cost == taken:
            assert alone.predict(TEST.texts) == chosen.predict(TEST.texts)
    tried = [gains[cost] for cost in costs if cost >= taken]
    assert tried == pytest.approx(sorted(tried), abs=0.001)  # of rules within 0.001 the simplest is taken
    assert all(gains[cost] <= gains[taken] + 0.001 for cost in [cost for cost in costs if cost < taken][:1])


def test_the_average_is_taken_where_it_serves_the_metric_better(automatic: TextClassifier) -> None:
    """Small data: the average is tried, and taken where it serves the metric better than the first model alone."""
    alone = TextClassifier("auto", model={"most_work": 0}, n_jobs=1).fit(TRAIN.texts, TRAIN.label_sets)
    found, without = automatic.decided_.choice_, alone.decided_.choice_
    assert found is not None
    assert without is not None
    assert "averaged" not in without["settings"]
    assert found["settings"].get("averaged", False) == (found["value"] > without["value"])


def test_threads_change_nothing(automatic: TextClassifier) -> None:
    other = TextClassifier("auto", n_jobs=2).fit(TRAIN.texts, TRAIN.label_sets)
    assert other.decided_.choice_ == automatic.decided_.choice_
    np.testing.assert_array_equal(other.predict_scores(TEST.texts), automatic.predict_scores(TEST.texts))


@pytest.mark.parametrize("method", ["nb-app", "nb-binary", "rocchio", "knn-majority", "ml-knn"])
def test_metrics_work_with_scores_of_every_kind(method: str) -> None:
    texts, labels = TRAIN.texts[:80], TRAIN.label_sets[:80]
    model = TextClassifier(method, metric="sample-f1", folds=3, n_jobs=1).fit(texts, labels)
    chosen = model.decided_.choice_
    assert chosen is not None
    assert chosen["metric"] == "sample-f1"
    assert len(model.predict(TEST.texts[:5])) == 5


def test_recall_at_k_gives_k_labels() -> None:
    model = TextClassifier("auto", metric="recall@3", n_jobs=1).fit(TRAIN.texts[:100], TRAIN.label_sets[:100])
    assert isinstance(model.decided_.rule_, TopK)
    assert {len(labels) for labels in model.predict(TEST.texts)} == {3}


def test_the_recipe_names_metric_and_costs() -> None:
    recipe = TextClassifier("auto", metric="macro-f1").recipe
    assert recipe.decision == {"rule": "best", "metric": "macro-f1"}
    assert recipe.model == {
        "members": ("svm", "mnb-vw"),
        "costs": (1.0, 0.25, 0.0625),
        "views": ("characters", "pairs"),
        "stacked": True,
        "label_names": True,
    }
    assert Recipe.from_toml(recipe.to_toml()) == recipe


def test_a_metric_and_a_rule_contradict_each_other() -> None:
    with pytest.raises(ParameterError, match="Give the metric or the rule 'top-k', not both"):
        with_metric({"decision": {"rule": "top-k"}}, "exact-match")
    with pytest.raises(UnknownNameError, match="Did you mean 'macro-f1'"):
        with_metric({}, "makro-f1")
