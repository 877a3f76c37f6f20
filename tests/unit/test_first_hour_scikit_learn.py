"""Point 13 of the first-hour list: scikit-learn's tools work with `TextClassifier`."""

import copy
import io
import pickle
from typing import Any

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from manylabel import Corpus, TextClassifier, load_corpus
from manylabel.catalog import METHODS
from manylabel.exceptions import (
    DataError,
    ParameterError,
    UnknownNameError,
    UnknownParameterError,
    UnsupportedError,
)
from manylabel.features import Vectorizer
from manylabel.models import LinearSVM
from smaller import smaller

pytestmark = pytest.mark.filterwarnings("ignore::manylabel.models.pmm_base.UnlabelledDocumentsWarning")

TEXTS = ["the bus was late", "a hole in the road", "late bus, bad road", "good morning", "bus stop", "road works"] * 4
LABELS = [["buses"], ["roads"], ["buses", "roads"], [], ["buses"], ["roads"]] * 4
Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]] * 4)
CLASSES = np.array(["buses", "roads", "both", "none", "buses", "roads"] * 4)

ONCE = "terms are weighed, and the decision rule is learned on folds, with every document counted once"
LISTS = "lists of 0 and 1 could be label numbers as well as rows of a matrix; they are refused with the remedy"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": ONCE,
    "check_sample_weight_equivalence_on_sparse_data": ONCE,
    "check_classifiers_multilabel_representation_invariance": LISTS,
}
"""The checks of scikit-learn that fail, with the reason; docs/scikit-learn.md lists them."""


@pytest.mark.filterwarnings("ignore")  # scikit-learn warns that we do not inherit from it; see estimator.py
@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("classifier", "exact_weights"),
    [
        (TextClassifier("nb-binary"), True),
        (TextClassifier("svm"), False),
        pytest.param(TextClassifier(folds=2), False, marks=pytest.mark.slow),
    ],
    ids=["nb-binary", "svm", "auto"],
)
def test_point_13_check_estimator(classifier: TextClassifier, exact_weights: bool) -> None:
    known = {name: reason for name, reason in EXPECTED.items() if reason is LISTS or not exact_weights}
    results = check_estimator(classifier, expected_failed_checks=known, on_fail=None, on_skip=None)
    assert len(results) > 60
    failed = {result["check_name"]: repr(result["exception"]) for result in results if result["status"] == "failed"}
    assert not failed
    expected = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert expected == set(known), "an expected failure that no longer fails must leave the list"


@pytest.mark.parametrize("scoring", [None, "f1_micro", "f1_macro", "roc_auc_ovr", "roc_auc", "average_precision"])
def test_point_13_cross_val_score_by_name(scoring: str | None) -> None:
    scores = cross_val_score(TextClassifier("logistic", folds=2), TEXTS, Y, cv=2, scoring=scoring)
    assert (scores > 0.7).all()


def test_lists_of_names_need_a_splitter_and_no_scorer_of_scikit_learn() -> None:
    """docs/scikit-learn.md explains the NaN: scikit-learn's metrics refuse lists, ours measures them."""
    sets = load_corpus("townhall").corpus.split("train").subset(range(40))
    model, labels = TextClassifier("nb-binary"), [list(names) for names in sets.label_sets]
    assert np.isfinite(cross_val_score(model, sets.texts, labels, cv=KFold(2))).all()
    with pytest.warns(UserWarning, match="Scoring failed"):
        assert np.isnan(cross_val_score(model, sets.texts, labels, cv=KFold(2), scoring="f1_micro")).all()
    with pytest.raises(ValueError, match="legacy multi-label data representation"):
        cross_val_score(model, sets.texts, labels, cv=2)


def test_point_13_cross_val_score_of_one_label_per_document() -> None:
    model = TextClassifier("nb-binary")
    own = cross_val_score(model, TEXTS, CLASSES, cv=2)
    np.testing.assert_allclose(own, cross_val_score(model, TEXTS, CLASSES, cv=2, scoring="accuracy"))


@pytest.mark.parametrize("labels", [Y, CLASSES])
def test_point_13_cross_val_predict_of_probabilities(labels: np.ndarray) -> None:
    shown = cross_val_predict(TextClassifier("logistic", folds=2), TEXTS, labels, cv=2, method="predict_proba")
    assert shown.shape == (len(TEXTS), 2 if labels is Y else 4)
    assert ((shown >= 0) & (shown <= 1)).all()
    if labels is CLASSES:
        np.testing.assert_allclose(shown.sum(axis=1), 1)


def test_point_13_methods_without_probabilities_say_so() -> None:
    model = TextClassifier("svm", folds=2).fit(TEXTS, LABELS)
    assert not hasattr(model, "predict_proba") or model.scores_are_probabilities
    assert not hasattr(TextClassifier("svm"), "partial_fit")
    with pytest.raises(UnsupportedError, match="cannot learn in batches"):
        TextClassifier("svm").partial_fit(TEXTS, LABELS)


@pytest.mark.parametrize(
    "grid",
    [
        {"model__C": [0.1, 1.0]},
        {"features__min_df": [1, 2], "weighting__idf": ["none", "smooth"]},
        {"decision__rule": ["top-k"], "decision__k": [1, 2]},
    ],
)
def test_point_13_grid_search_over_nested_settings(grid: dict[str, Any]) -> None:
    search = GridSearchCV(TextClassifier("svm", folds=2), grid, cv=2, scoring="f1_micro").fit(TEXTS, Y)
    assert set(search.best_params_) == set(grid)
    assert len(search.cv_results_["params"]) == np.prod([len(values) for values in grid.values()])
    for name, value in search.best_params_.items():
        section, _, key = name.partition("__")
        assert search.best_estimator_.recipe_[section][key] == value
    assert search.best_score_ > 0.7
    assert "TextClassifier" in search._repr_html_()


def test_point_13_nested_settings_are_read_and_set() -> None:
    own = {"C": 0.5}
    model = TextClassifier("svm", model=own)
    params = model.get_params()
    assert (params["model__C"], params["model__loss"], params["weighting__norm"]) == (0.5, "squared_hinge", "l2")
    assert params["decision__rule"] == "per-label"
    copied = clone(model).set_params(model__C=2.0, decision__rule="top-k", decision__k=3)
    assert copied.recipe.model["C"] == 2.0
    assert copied.recipe.decision == {"rule": "top-k", "k": 3}
    assert own == {"C": 0.5} == model.model
    assert clone(model).set_params(**params).recipe.model == copied.set_params(**params).recipe.model
    inner = TextClassifier("svm-undersampled").set_params(model__inner__C=3.0)
    assert inner.get_params()["model__inner.C"] == 3.0
    assert inner.recipe.build_model().get_params()["model__C"] == 3.0
    with pytest.raises(UnknownNameError, match=r"setting in \[model\] of svm: 'Cost'"):
        model.set_params(model__Cost=1.0)
    with pytest.raises(ParameterError, match="no parameter 'C'"):
        model.set_params(folds__C=1.0)


def test_point_13_decision_function_and_classes() -> None:
    model = TextClassifier("svm", folds=2).fit(TEXTS, LABELS)
    assert model.classes_.tolist() == ["buses", "roads"]
    scores = model.decision_function(TEXTS)
    assert scores.shape == (24, 2)
    np.testing.assert_array_equal(scores, model.decided_.decision_function(model.transform(TEXTS)))
    two = TextClassifier("svm", folds=2).fit(TEXTS[:2] * 6, ["buses", "roads"] * 6)
    lead = two.decision_function(["the bus", "the road"])
    assert lead.shape == (2,)
    assert lead[0] < 0 < lead[1]
    never = TextClassifier("logistic", folds=2).fit(TEXTS, LABELS, label_names=["buses", "roads", "never"])
    assert np.isfinite(never.decision_function(TEXTS)).all()


def test_point_13_score_is_micro_f1() -> None:
    model = TextClassifier("nb-binary").fit(TEXTS, Y)
    assert model.score(TEXTS, Y) == pytest.approx(f1_score(Y, model.predict(TEXTS), average="micro"))
    single = TextClassifier("nb-binary").fit(TEXTS, CLASSES)
    unknown = np.where(np.arange(24) < 6, "unknown", CLASSES)
    assert single.score(TEXTS, unknown) == pytest.approx(np.mean(single.predict(TEXTS) == unknown))


def test_score_takes_the_name_of_another_metric() -> None:
    model = TextClassifier("nb-binary").fit(TEXTS, Y)
    found = model.predict(TEXTS)
    Y_other = np.roll(Y, 1, axis=0)
    for name, expected in (
        ("macro-f1", f1_score(Y_other, found, average="macro", zero_division=0)),
        ("exact-match", np.mean((Y_other == found).all(axis=1))),
    ):
        assert model.score(TEXTS, Y_other, metric=name) == pytest.approx(expected)
    with pytest.raises(ParameterError, match="Did you mean 'macro-f1'"):
        model.score(TEXTS, Y, metric="macro_f1")
    with pytest.raises(ParameterError, match=r"^There are 24 documents but labels for 23\.$"):
        model.score(TEXTS, Y[:-1])


def test_point_13_a_weight_of_two_counts_a_document_twice() -> None:
    X, weights = sparse.csr_array(np.eye(24, 5) + np.tile(np.arange(5), (24, 1))), np.arange(24) % 3
    weighed = TextClassifier("nb-binary").fit(X, LABELS, sample_weight=weights)
    rows = np.repeat(np.arange(24), weights)
    repeated = TextClassifier("nb-binary").fit(X[rows], [LABELS[row] for row in rows])
    np.testing.assert_allclose(weighed.predict_scores(X), repeated.predict_scores(X))


@pytest.mark.parametrize("method", ["auto", "svm", "nb"])
def test_point_13_sample_weight_changes_what_is_learned(method: str) -> None:
    weights = np.where([names == ["roads"] for names in LABELS], 0.01, 1.0)
    model = TextClassifier(method, folds=2)
    plain = model.fit(TEXTS, LABELS).decision_function(["road works"])
    assert not np.allclose(model.fit(TEXTS, LABELS, sample_weight=weights).decision_function(["road works"]), plain)
    guarded = TextClassifier("svm", folds=2, decision={"rule": "guarantee"})
    guarded.fit(TEXTS * 3, LABELS * 3, sample_weight=np.ones(72))


def test_point_13_negative_numbers_can_be_weighed() -> None:
    X, weights = np.random.default_rng(0).normal(size=(24, 3)), np.where(np.arange(24) < 12, 0.001, 1.0)
    for method in ("auto", "svm"):
        model = TextClassifier(method, folds=2)
        plain = model.fit(X, Y).decision_function(X)
        assert not np.allclose(model.fit(X, Y, sample_weight=weights).decision_function(X), plain)
        assert model.n_features_in_ == 3


def test_point_13_settings_of_a_transformer() -> None:
    model = TextClassifier("svm", features=TfidfVectorizer(), folds=2)
    assert "TfidfVectorizer" in model._repr_html_()
    search = GridSearchCV(model, {"features__min_df": [1, 2]}, cv=2, scoring="f1_micro").fit(TEXTS, Y)
    assert search.best_estimator_.features.min_df == search.best_params_["features__min_df"]
    assert not hasattr(search.best_estimator_, "n_features_in_")
    copied = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copied.predict(TEXTS), search.predict(TEXTS))


def test_point_13_sample_weight_is_refused_with_a_sentence() -> None:
    with pytest.raises(UnsupportedError, match=r"^knn cannot weigh documents.*Methods that can: auto, svm"):
        TextClassifier("knn").fit(TEXTS, LABELS, sample_weight=np.ones(24))
    with pytest.raises(DataError, match="there are 24 documents"):
        TextClassifier("svm").fit(TEXTS, LABELS, sample_weight=np.ones(3))
    with pytest.raises(DataError, match="at least 0"):
        TextClassifier("svm").fit(TEXTS, LABELS, sample_weight=-np.ones(24))


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("method", METHODS)
def test_point_13_copies_of_fitted_models_predict_the_same(method: str) -> None:
    model = smaller(method).fit(TEXTS, LABELS)
    expected = model.predict(TEXTS[:2]), model.predict_scores(TEXTS)  # the short way, then a batch
    stored = io.BytesIO()
    joblib.dump(model, stored)
    stored.seek(0)
    for copied in (pickle.loads(pickle.dumps(model)), joblib.load(stored), copy.deepcopy(model), copy.copy(model)):
        assert copied.predict(TEXTS[:2]) == expected[0]
        np.testing.assert_array_equal(copied.predict_scores(TEXTS), expected[1])
        assert repr(copied) == repr(model)


def test_point_13_pandas_output_where_set() -> None:
    pandas = pytest.importorskip("pandas")
    documents = pandas.Series(TEXTS, index=[f"t{row}" for row in range(24)])
    model = TextClassifier("nb-binary").fit(documents, LABELS).set_output(transform="pandas")
    scores, X = model.predict_scores(documents), model.transform(documents)
    assert scores.columns.tolist() == ["buses", "roads"]
    assert scores.index.tolist() == X.index.tolist() == documents.index.tolist()
    assert X.columns.tolist() == model.get_feature_names_out().tolist()
    assert X["bus"].sum() == 12
    assert isinstance(model.predict_proba(documents), np.ndarray)
    assert model.predict(documents) == copy.deepcopy(model).set_output(transform="default").predict(TEXTS)
    assert isinstance(pickle.loads(pickle.dumps(model)).predict_scores(TEXTS), pandas.DataFrame)
    assert isinstance(clone(model).fit(TEXTS, LABELS).predict_scores(TEXTS), pandas.DataFrame)
    assert isinstance(model.set_output(transform="default").predict_scores(TEXTS), np.ndarray)
    with pytest.raises(ParameterError, match="'default' or 'pandas'"):
        model.set_output(transform="arrow")


def test_point_13_a_vectorizer_in_a_pipeline_with_pandas_output() -> None:
    pandas = pytest.importorskip("pandas")
    pipeline = make_pipeline(Vectorizer(), LogisticRegression()).set_output(transform="pandas")
    pipeline.fit(TEXTS, Y[:, 0])
    assert pipeline.predict(["the bus"]).tolist() == [1]
    assert isinstance(pipeline[0].transform(TEXTS), pandas.DataFrame)
    assert list(pipeline[0].transform(TEXTS).columns) == pipeline[0].terms_


def test_point_13_notebooks_show_short_tables() -> None:
    corpus = load_corpus("townhall").corpus
    assert repr(corpus) == "<Corpus townhall: 605 documents, 29 labels, train 415, test 190>"
    shown = corpus._repr_html_()
    assert len(shown) < 1500
    assert "<td>605</td>" in shown
    assert "its labels" in shown
    model = TextClassifier("svm", model={"C": 0.5}, folds=2)
    assert "not fitted" in model._repr_html_()
    shown = model.fit(TEXTS, LABELS)._repr_html_()
    assert len(shown) < 1500
    for part in ("<td>svm</td>", "model.C=0.5", "folds=2", "fitted to 24 documents", "2: buses, roads", "per-label"):
        assert part in shown
    chosen = TextClassifier(folds=2).fit(TEXTS, LABELS)._repr_html_()
    assert "chosen for Micro F1" in chosen


def test_point_13_tables_escape_what_they_show() -> None:
    corpus = Corpus(ids=["1"], fields={"text": ["<b>bus</b>"]}, labels=[["<i>"]], name="<x>")
    assert "<b>" not in corpus._repr_html_()
    assert "&lt;b&gt;bus" in corpus._repr_html_()


@pytest.mark.parametrize("scoring", ["roc_auc", "roc_auc_ovr", "neg_brier_score", "neg_log_loss", "average_precision"])
def test_point_13_scores_of_two_classes(scoring: str) -> None:
    texts, classes = TEXTS[:2] * 8, np.array([0, 1] * 8)
    scores = cross_val_score(TextClassifier("logistic", folds=2), texts, classes, cv=2, scoring=scoring)
    assert (scores > -0.7).all()


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"C": 1}, "C is a setting of the model: TextClassifier('svm', model={'C': 1})."),
        ({"c": 1}, "Did you mean 'C'? C is a setting of the model: TextClassifier('svm', model={'C': 1})."),
        ({"min_df": 2}, "min_df is a setting of the features: TextClassifier('svm', features={'min_df': 2})."),
        ({"fold": 3}, "Did you mean 'folds'?"),
        ({"random_state": 3}, "Did you mean 'seed'?"),
        (
            {"threshold": 0.4},
            "Choose a decision rule: TextClassifier('svm', decision={'rule': 'threshold', 'value': 0.4}).",
        ),
        (
            {"guarantee": {"recall": 0.8}},
            "It is a decision rule: "
            "TextClassifier('svm', decision={'rule': 'guarantee', 'metric': 'recall', 'level': 0.9}).",
        ),
    ],
)
def test_an_unknown_parameter_names_the_way_to_set_it(given: dict[str, Any], hint: str) -> None:
    with pytest.raises(UnknownParameterError) as found:
        TextClassifier("svm", **given)
    (name,) = given
    start = f"Unknown parameter of TextClassifier: {name!r}. {hint} Known: decision, encoder, features, folds, "
    assert str(found.value).startswith(start)
    assert isinstance(found.value, TypeError)  # what Python raises for it


def test_a_model_given_as_a_method_is_refused_in_a_sentence() -> None:
    sentence = r"Give a method by its name\. A model of your own reads a matrix: make_pipeline"
    with pytest.raises(UnknownNameError, match=sentence):
        TextClassifier(LinearSVM()).fit(TEXTS, LABELS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"decision": "top-k"}, r"decision holds settings by name, such as \{'rule': 'top-k', 'k': 3\}, not 'top-k'"),
        ({"model": LinearSVM()}, "model holds settings by name, .* A model of your own reads a matrix: make_pipeline"),
        ({"decision": {"threshold": 0.5}}, r"decision=\{'rule': 'threshold'\}, with the settings value, fallback"),
        ({"decision": {"k": 3}}, r"a setting of another decision rule: decision=\{'rule': 'top-k'\}"),
        ({"decision": {"falback": "argmax"}}, "Did you mean 'fallback'"),
        ({"single_label": "yes"}, "TextClassifier: single_label must be one of None or True or False, not 'yes'"),
        ({"folds": 1}, "TextClassifier: folds must be a whole number of at least 2, not 1"),
        ({"seed": "a"}, "TextClassifier: seed must be a whole number of at least 0, not 'a'"),
    ],
)
def test_settings_in_the_wrong_form_are_refused_with_the_right_one(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        TextClassifier("svm", **given).fit(TEXTS, LABELS)


def test_point_13_a_notebook_shows_the_decision_rule_by_its_name_and_settings() -> None:
    model = TextClassifier("nb-binary").fit(TEXTS, LABELS)
    assert "<td>threshold, value=0.5</td>" in model._repr_html_()
    model.thresholds = 0.3
    assert "<td>corrected thresholds</td>" in model._repr_html_()


def test_every_estimator_names_its_parameters() -> None:
    with pytest.raises(
        UnknownParameterError, match=r"Unknown parameter of LinearSVM: 'c'\. Did you mean 'C'\? Known: C"
    ):
        LinearSVM(c=1)  # type: ignore[call-arg]
    with pytest.raises(UnknownParameterError, match=r"'C'\. Known:"):
        TextClassifier("no such method", C=1)  # type: ignore[call-arg]
