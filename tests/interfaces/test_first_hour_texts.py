"""The first hour with one's own texts: empty documents, languages, markup, honest thresholds and any numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.selection_leak import measure, noise

from manylabel import TextClassifier
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.trial import run_trial
from manylabel.data.splits import iterative_stratification, k_fold
from manylabel.estimator import Csr
from manylabel.features.pipeline import FeaturePipeline
from manylabel.models.out_of_fold import out_of_fold_scores
from manylabel.recipe import Recipe

TEXTS = ["the bus was late again", "a deep hole in the road", "no bus, and holes in the road", "a late bus"] * 6
LABELS = [["buses"], ["roads"], ["buses", "roads"], ["buses"]] * 6
WITHOUT_TERMS = ["", "  \n", "zzz qqq xyzzy", "?!"]


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("auto", {}),
        ("svm", {}),
        ("knn", {}),
        ("nb", {}),
        ("nb-app", {}),
        ("mnb-vw", {}),
        ("pmm1", {}),
        ("trees", {}),
        ("svm", {"decision": {"rule": "top-k", "k": 1}}),
        ("svm", {"decision": {"fallback": "argmax"}}),
    ],
)
def test_point_9_a_document_without_known_words_gets_no_label(
    method: str, settings: dict[str, object], tmp_path: Path
) -> None:
    """Point 9: nothing is predicted for empty documents and unknown words, one by one, in a batch, and stored."""
    model = TextClassifier(method, folds=2, **settings).fit(TEXTS, LABELS)  # type: ignore[arg-type]
    model.save(tmp_path / "model.mlm")
    stored = TextClassifier.load(tmp_path / "model.mlm")
    for one in (model, stored):
        assert [one.predict([text]) for text in WITHOUT_TERMS] == [[[]]] * 4
        batch = one.predict(TEXTS + WITHOUT_TERMS)
        assert batch[-4:] == [[]] * 4
        assert any(batch[:-4])
        assert [answer.labels for answer in one.iter_predictions(WITHOUT_TERMS)] == [[]] * 4


def test_point_9_absent_words_are_evidence_to_bernoulli_naive_bayes() -> None:
    """Point 9: by Manning, Raghavan & Schütze 2008, section 13.3, an empty document lacks every word, which counts."""
    texts, labels = ["bus late", "bus", "late bus", ""], [["buses"], ["buses"], ["buses"], ["silence"]]
    model = TextClassifier("nb-bernoulli", folds=2, decision={"rule": "threshold", "value": 0.5})
    assert model.fit(texts * 5, labels * 5).predict([""]) == [["silence"]]


def test_point_8_a_rule_expects_of_noise_what_it_reaches() -> None:
    """Point 8: with noise labels and the 100 best of 3000 terms, expectation is reality within two standard errors."""
    leak = measure("svm", n_repeats=12)
    assert abs(leak.difference) <= 2 * leak.standard_error
    selected_before = measure("svm", n_repeats=3, before_folds=True)
    assert selected_before.difference > 0.1


def test_point_8_selection_and_weighting_are_learned_in_each_fold() -> None:
    """Point 8, METHODS D-6: out-of-fold scores are those of a pipeline fitted to the other folds alone."""
    X, Y = noise(60, np.random.default_rng(0))
    recipe = Recipe.of("svm", {"selection": {"function": "chi2", "k": 40}})
    learned = FeaturePipeline(None, recipe.selection, recipe.weighting).fit_transform(X, Y)
    model = recipe.build_model()
    scores, rows = out_of_fold_scores(model, learned.X, Y, 3, 0, features=learned.in_folds)
    for train, test in iterative_stratification(Y, 3, 0):
        alone = FeaturePipeline(None, recipe.selection, recipe.weighting)
        fitted = recipe.build_model().fit(alone.fit_transform(Csr(X[train]), Csr(Y[train])).X, Csr(Y[train]))
        np.testing.assert_array_equal(scores[test], fitted.scores(alone.transform(Csr(X[test]))))
    assert rows.tolist() == list(range(60))


def test_point_8_comparisons_learn_selection_in_their_inner_folds() -> None:
    """Point 8: a trial of `compare` predicts what a classifier trained on its fold predicts, selection included."""
    X, Y = noise(120, np.random.default_rng(1))
    work = FoldWork(X, Y, list("abcde"), k_fold(120, 2, seed=0))
    recipe = Recipe.of("knn", {"selection": {"k": 50}})
    answers = run_trial(work, recipe, {"own": {"rule": "per-label"}}, 0, inner_folds=3)["own"]
    train, test = work.splits[0]
    model = TextClassifier("knn", selection={"k": 50}, decision={"rule": "per-label"}, folds=3)
    predicted = model.fit(Csr(X[train]), Csr(Y[train])).predict(Csr(X[test]))
    assert (answers.Y_pred != predicted).nnz == 0
