"""The settings searched for every method, the search itself, and its results on townhall."""

from pathlib import Path

import numpy as np
import pytest

from manylabel import TextClassifier, load_corpus
from manylabel.catalog import METHODS
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.halving import Rung, Step, Trial
from manylabel.choosing.settings import draw_settings, searched, value_in, with_settings
from manylabel.choosing.trial import WarmStarts
from manylabel.choosing.tuning import Tuned, importances, tune
from manylabel.data import Corpus
from manylabel.data.splits import iterative_stratification
from manylabel.deadline import Deadline
from manylabel.evaluation.statistics import document_statistics
from manylabel.exceptions import ParameterError
from manylabel.metrics.targets import find_target_metric
from manylabel.models.linear_svm import LinearSVM
from manylabel.recipe import Recipe
from manylabel.tasks.corpora import Source
from manylabel.tasks.tune import tune as tune_task

CHEAP = (
    "svm",
    "svm-zero",
    "logistic",
    "nb",
    "nb-app",
    "nb-complement",
    "nb-em",
    "rocchio",
    "knn",
    "ml-knn",
    "rules",
)
METRIC = find_target_metric("micro-f1")


@pytest.fixture(scope="module")
def letters() -> Corpus:
    return load_corpus("townhall").corpus.split("train").subset(range(150))


def work_on(corpus: Corpus, n_jobs: int = 1, seed: int = 0) -> FoldWork:
    return FoldWork.of(corpus, iterative_stratification(corpus.label_matrix(), 3, seed), seed=seed, n_jobs=n_jobs)


@pytest.mark.parametrize("method", METHODS)
def test_drawn_settings_are_valid(method: str) -> None:
    for settings in draw_settings(searched(method), 20, seed=1):
        recipe = with_settings(method, None, settings)
        recipe.build_model().check_parameters()
        rule = recipe.build_rule()
        if rule is not None:
            rule.check_parameters()
        assert Recipe.from_toml(recipe.to_toml()) == recipe
        assert {setting: value_in(recipe, setting) for setting in settings} == settings


@pytest.mark.parametrize("method", CHEAP)
def test_methods_train_with_drawn_settings(method: str, letters: Corpus) -> None:
    few = letters.subset(range(80))
    for settings in draw_settings(searched(method), 2, seed=2):
        recipe = with_settings(method, None, settings)
        model = TextClassifier.from_recipe(recipe, folds=2, n_jobs=1).fit(few.texts, few.label_sets)
        assert len(model.predict(few.texts)) == 80


def test_fixed_settings_are_not_searched() -> None:
    assert "model.C" in searched("svm")
    assert "model.C" not in searched("svm", {"model": {"C": 3.0}})
    assert not [setting for setting in searched("svm", has_texts=False) if setting.startswith("features.")]
    assert not [setting for setting in searched("svm", {"decision": {"rule": "global"}}) if "decision" in setting]
    everything = {"features": {"ngram_range": (1, 1), "stemmer": None, "min_df": 1}, "weighting": {"tf": "log"}}
    with pytest.raises(ParameterError, match="nothing to search for svm-zero-tfidf"):
        searched("svm-zero-tfidf", everything | {"model": {"C": 1.0}})


def test_a_warm_start_reaches_the_same_solution_sooner(letters: Corpus) -> None:
    fold = work_on(letters).fold(Recipe.of("svm"), 0)
    fit = WarmStarts()
    fit(LinearSVM(C=0.5, n_jobs=1), fold.X, fold.Y, {})
    warm, cold = fit(LinearSVM(n_jobs=1), fold.X, fold.Y, {}), LinearSVM(n_jobs=1).fit(fold.X, fold.Y)
    np.testing.assert_allclose(warm.scores(fold.X_test), cold.scores(fold.X_test), atol=0.02)
    assert warm.n_iter_.sum() < cold.n_iter_.sum()  # type: ignore[attr-defined]


def values(tuned: Tuned) -> list[dict[int, float]]:
    return [
        {trial.number: value for trial, value in zip(step.ranking, step.values, strict=True)}
        for step in tuned.search.steps
    ]


def test_the_search_depends_on_the_seed_but_not_on_the_number_of_threads(letters: Corpus) -> None:
    few = letters.subset(range(60))
    one, two = (tune(work_on(few, n_jobs), "svm", METRIC, trials=4, deadline=Deadline(None)) for n_jobs in (1, 2))
    assert values(one) == values(two)
    assert one.verdict == two.verdict
    assert one.chosen.recipe == two.chosen.recipe
    other = tune(work_on(few, seed=1), "svm", METRIC, trials=4, deadline=Deadline(None))
    assert values(other) != values(one)


def test_the_outcome_is_never_worse_than_the_preset_on_the_held_out_documents(letters: Corpus) -> None:
    tuned = tune(work_on(letters), "nb-complement", METRIC, trials=9, deadline=Deadline(None))
    last = values(tuned)[-1]
    assert 0 in last
    assert last[tuned.chosen.number] >= last[0]
    assert last[tuned.search.best.number] == max(last.values())


def test_the_value_of_the_last_rung_is_that_of_plain_cross_validation(letters: Corpus) -> None:
    work = work_on(letters)
    tuned = tune(work, "nb-app", METRIC, trials=3, deadline=Deadline(None))
    folds = []
    for train, test in work.splits:
        learned = letters.subset(train)
        model = TextClassifier.from_recipe(Recipe.of("nb-app"), folds=3, n_jobs=1)
        model.fit(learned.texts, learned.label_sets)
        found = letters.subset(test)
        Y_pred = Corpus(found.ids, found.fields, model.predict(found.texts)).label_matrix(letters.label_names)
        folds.append((letters.label_matrix()[test].toarray(), Y_pred.toarray()))
    Y_true, predicted = (np.vstack(matrices) for matrices in zip(*folds, strict=True))
    assert values(tuned)[-1][0] == pytest.approx(METRIC.value(Y_true, predicted), abs=1e-12)


@pytest.mark.parametrize("metric", ["macro-f1", "exact-match", "hamming-loss", "recall@3"])
def test_the_search_optimises_for_any_metric(metric: str, letters: Corpus) -> None:
    tuned = tune(work_on(letters), "nb-complement", find_target_metric(metric), trials=4, deadline=Deadline(None))
    last = values(tuned)[-1]
    gains = {number: find_target_metric(metric).gain(value) for number, value in last.items()}
    assert gains[tuned.search.best.number] == max(gains.values())


def test_ready_made_counts_are_searched_without_features(letters: Corpus, tmp_path: Path) -> None:
    counts = TextClassifier("nb-app").fit(letters.texts, letters.label_sets).transform(letters.texts)
    ready = Corpus(letters.ids, labels=letters.labels, counts=counts)
    tuned = tune(work_on(ready), "nb-complement", METRIC, trials=3, deadline=Deadline(None))
    assert set(tuned.ranges) == {"weighting.tf", "weighting.idf", "model.alpha", "model.normalise"}


def test_effects_are_differences_of_means() -> None:
    ranges = {"model.C": METHODS["svm"].search["model.C"], "weighting.tf": METHODS["svm"].search["weighting.tf"]}
    drawn = [(0.1, "log"), (0.2, "binary"), (1.0, "log"), (2.0, "binary"), (10.0, "log"), (20.0, "binary")]
    trials = [
        Trial(number, {}, with_settings("svm", None, {"model.C": C, "weighting.tf": tf}))
        for number, (C, tf) in enumerate(drawn)
    ]
    nothing = dict.fromkeys(range(6), document_statistics([[1]], [[1]]))
    step = Step(Rung(6, 1.0, 1), tuple(trials), (0.2, 0.1, 0.8, 0.7, 0.5, 0.4), nothing)
    found = importances(step, ranges, METRIC)
    assert [one.setting for one in found] == ["model.C", "weighting.tf"]
    assert [group.text for group in found[0].groups] == ["0.1 to 0.2", "1 to 2", "10 to 20"]
    assert found[0].effect == pytest.approx((0.8 + 0.7) / 2 - (0.2 + 0.1) / 2)
    assert [group.text for group in found[1].groups] == ["log", "binary"]
    assert found[1].effect == pytest.approx((0.2 + 0.8 + 0.5) / 3 - (0.1 + 0.7 + 0.4) / 3)
    assert found[1].groups[0].best == 0.8


def test_a_search_without_time_asks_for_a_longer_budget(letters: Corpus) -> None:
    with pytest.raises(ParameterError, match="longer budget"):
        tune(work_on(letters), "nb", METRIC, trials=3, deadline=Deadline(0.0))


def test_the_saved_model_is_the_recipe_trained_on_everything(tmp_path: Path) -> None:
    found = tune_task(Source("townhall"), tmp_path / "m", method="nb-complement", trials=3, folds=2, n_jobs=1)
    model = TextClassifier.load(tmp_path / "m")
    train = load_corpus("townhall").corpus.split("train")
    assert model.n_documents_ == len(train)
    assert model.recipe.as_dict() == found.recipe
    assert Recipe.from_toml(found.toml) == model.recipe
