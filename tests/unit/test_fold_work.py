"""Fold matrices and trials that share work give the same results as a classifier trained alone."""

from typing import Any

import numpy as np
import pytest

from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.trial import run_trial
from manylabel.classifier import TextClassifier
from manylabel.data import Corpus, load
from manylabel.data.labels import label_sets
from manylabel.data.splits import iterative_stratification
from manylabel.exceptions import ParameterError
from manylabel.features import Vectorizer
from manylabel.metrics import label_ranks
from manylabel.recipe import Recipe

FEATURES: tuple[dict[str, Any], ...] = (
    {},
    {"stemmer": "english", "min_df": 2},
    {"ngram_range": (1, 2), "min_df": 2, "max_df": 0.5, "max_features": 900},
    {"fields": ("title", "*")},
    {"n_hashes": 512},
)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    found = load("townhall").corpus.split("train")
    return found.subset(range(0, len(found), 2))


@pytest.fixture(scope="module")
def work(corpus: Corpus) -> FoldWork:
    return FoldWork.of(corpus, iterative_stratification(corpus.label_matrix(), 3, seed=1), n_jobs=1)


@pytest.mark.parametrize("features", FEATURES)
def test_a_fold_equals_vectorising_its_training_texts(
    work: FoldWork, corpus: Corpus, features: dict[str, object]
) -> None:
    recipe = Recipe.of("nb-app", {"features": {"tokens": "words", **features}})
    fold = work.fold(recipe, 1)
    train, test = work.splits[1]
    vectorizer = Vectorizer(**recipe.vectorizer_settings)
    X = vectorizer.fit_transform(corpus.subset(train).texts)
    assert X.shape == fold.X.shape
    assert (X != fold.X).nnz == 0  # type: ignore[attr-defined]
    assert (vectorizer.transform(corpus.subset(test).texts) != fold.X_test).nnz == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", ["svm", "svm-zero", "nb-app", "nb", "knn", "pmm", "ml-knn", "svm-closed"])
def test_a_trial_predicts_the_labels_of_a_separate_classifier(work: FoldWork, corpus: Corpus, method: str) -> None:
    recipe = Recipe.of(method, {"features": {"min_df": 2}})
    train, test = (corpus.subset(rows) for rows in work.splits[0])
    with pytest.warns() if method == "pmm" else _nothing():
        predicted = run_trial(work, recipe, {"own": recipe.decision}, 0)["own"]
        classifier = TextClassifier.from_recipe(recipe, folds=3, n_jobs=1)
        used = {name for names in train.label_sets for name in names}
        names = [name for name in corpus.label_names if name in used]
        classifier.fit(train.texts, train.label_sets, label_names=names, hierarchy=train.hierarchy)
    assert label_sets(predicted.Y_pred, work.label_names) == [
        [name for name in work.label_names if name in labels] for labels in classifier.predict(test.texts)
    ]
    assert predicted.size > 0


def test_a_method_that_chooses_settings_by_its_rule_fits_a_model_of_its_own(work: FoldWork, corpus: Corpus) -> None:
    decision = {"rule": "best", "metric": "macro-f1"}
    settings = {"costs": (0.1, 1.0), "label_names": False}  # the folds of a comparison have no label names
    recipe = Recipe.of("auto", {"decision": decision, "model": settings})
    train, test = (corpus.subset(rows) for rows in work.splits[0])
    predicted = run_trial(work, recipe, {"best": decision, "other": {"rule": "natural"}}, 0)
    names = [work.label_names[label] for label in work.fold(recipe, 0).labels]
    classifier = TextClassifier.from_recipe(recipe, folds=3, n_jobs=1)
    classifier.fit(train.texts, train.label_sets, label_names=names)
    assert label_sets(predicted["best"].Y_pred, work.label_names) == [
        [name for name in work.label_names if name in labels] for labels in classifier.predict(test.texts)
    ]
    assert list(predicted) == ["best", "other"]


def test_rules_share_a_trial_without_changing_each_other(work: FoldWork) -> None:
    recipe = Recipe.of("svm")
    rules = {"a": {"rule": "global"}, "b": {"rule": "per-label", "shrinkage": 0}, "c": {"rule": "natural"}}
    together = run_trial(work, recipe, rules, 2, with_ranks=True)
    for name, rule in rules.items():
        alone = run_trial(work, recipe, {name: rule}, 2)[name]  # type: ignore[dict-item]
        assert (alone.Y_pred != together[name].Y_pred).nnz == 0  # type: ignore[attr-defined]
        assert alone.ranks is None
    assert len({together[name].Y_pred.nnz for name in rules}) > 1
    assert together["a"].ranks is not None
    assert together["a"].ranks.sizes.sum() == work.Y[work.splits[2][1]].nnz


def test_labels_without_a_training_document_are_never_predicted_and_rank_last() -> None:
    texts = ["late bus", "late tram", "bad road", "bad hole", "late bus", "bad road"]
    corpus = Corpus(
        ids=list("abcdef"), fields={"text": texts}, labels=[["bus"], ["tram"], ["road"], ["road"], ["bus"], ["road"]]
    )
    rows = np.arange(6)
    work = FoldWork.of(corpus, [(rows[2:], rows[:2])], n_jobs=1)
    recipe = Recipe.of("svm-zero")
    predicted = run_trial(work, recipe, {"own": recipe.decision}, 0, with_ranks=True)["own"]
    assert work.label_names == ["bus", "road", "tram"]
    assert predicted.Y_pred.toarray().tolist() == [[1, 0, 0], [1, 0, 0]]
    assert predicted.ranks is not None
    assert predicted.ranks.rank.tolist() == [1, 3]
    assert label_ranks(work.Y[rows[:2]], np.array([[2.0, 1, -np.inf], [2, 1, -np.inf]])).rank.tolist() == [1, 3]


def test_ready_made_counts_keep_their_columns(corpus: Corpus) -> None:
    X = Vectorizer().fit_transform(corpus.texts)
    counted = Corpus(ids=corpus.ids, labels=corpus.labels, label_names=corpus.label_names, counts=X)
    work = FoldWork.of(counted, iterative_stratification(corpus.label_matrix(), 3, seed=1), n_jobs=1)
    fold = work.fold(Recipe.of("nb-app"), 0)
    assert fold.X.shape[1] == fold.X_test.shape[1] == X.shape[1]


def test_hand_written_rules_are_refused(work: FoldWork) -> None:
    with pytest.raises(ParameterError, match="keyword rules"):
        work.fold(Recipe.of("svm", {"features": {"rules": {"roads": "road"}}}), 0)


class _nothing:  # noqa: N801 - reads as a word
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...
