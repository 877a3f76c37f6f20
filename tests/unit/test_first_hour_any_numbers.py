"""The first hour with numbers that are not counts (point 14): embeddings, dense tables, scikit-learn's vectorisers."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from manylabel import TextClassifier
from manylabel.catalog import METHODS
from manylabel.choosing.candidates import Traits
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.trial import run_trial
from manylabel.data import load
from manylabel.data.splits import k_fold
from manylabel.decisions.auto import AutoModel
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.features import Weighting
from manylabel.recipe import Recipe, methods_for_any_numbers

RNG = np.random.default_rng(0)
Y = (RNG.random((200, 4)) < 0.4).astype(int)
X = Y @ RNG.normal(size=(4, 20)) + 0.7 * RNG.normal(size=(200, 20))
"""Sums of one vector per label, and noise: half of the values are negative."""
TRAIN, TEST = slice(0, 150), slice(150, 200)
TEXTS = ["the bus was late again", "a deep hole in the road", "no bus, and holes in the road", "a late bus"] * 6
LABELS = [["buses"], ["roads"], ["buses", "roads"], ["buses"]] * 6


@pytest.mark.usefixtures("patient")
@pytest.mark.filterwarnings("ignore::manylabel.exceptions.ManylabelWarning")
@pytest.mark.parametrize("method", METHODS)
def test_point_14_a_method_learns_from_any_numbers_or_names_those_that_do(method: str) -> None:
    """Point 14: what messages advise is true of every method; methods of counts refuse negative values."""
    model = TextClassifier(method, folds=3)
    if method in methods_for_any_numbers():
        model.fit(X[TRAIN], Y[TRAIN])
        assert model.score(X[TEST], Y[TEST]) > 0.75
        return
    with pytest.raises(
        DataError, match=f"Negative values in data passed to {method}, which.*any numbers: auto, svm"
    ) as error:
        model.fit(X[TRAIN], Y[TRAIN])
    named = str(error.value).partition("any numbers: ")[2].rstrip(".").split(", ")
    assert named == list(methods_for_any_numbers())


def test_point_14_the_advice_names_methods_that_take_any_numbers() -> None:
    """Point 14: "auto, svm, knn"."""
    assert {"auto", "svm", "knn", "logistic", "rocchio", "forest", "neural"} <= set(methods_for_any_numbers())
    assert not {"nb", "nb-binary", "mnb-vw", "pmm1", "ensemble", "rules"} & set(methods_for_any_numbers())


@pytest.mark.parametrize("method", ["auto", "svm", "knn"])
def test_point_14_every_kind_of_table_gives_the_same_model(method: str, tmp_path: Path) -> None:
    """Point 14: dense arrays, DataFrames, lists and sparse matrices; stored and loaded."""
    pd = pytest.importorskip("pandas")
    model = TextClassifier(method, folds=3).fit(X[TRAIN], Y[TRAIN])
    expected = model.predict_scores(X[TEST])
    columns = [f"x{column}" for column in range(20)]
    for given in (pd.DataFrame(X, columns=columns), sparse.csr_array(X), sparse.csc_matrix(X)):
        rows = given.iloc if isinstance(given, pd.DataFrame) else sparse.csr_array(given)
        again = TextClassifier(method, folds=3).fit(rows[TRAIN], Y[TRAIN])
        np.testing.assert_array_equal(again.predict_scores(rows[TEST]), expected)
    np.testing.assert_array_equal(model.predict_scores(X[TEST].tolist()), expected)
    model.save(tmp_path / "model.mlm")
    np.testing.assert_array_equal(TextClassifier.load(tmp_path / "model.mlm").predict_scores(X[TEST]), expected)


def test_point_14_negative_values_are_not_weighed_as_counts() -> None:
    """Point 14: tf and idf are left out, rows are scaled to length 1, and the recipe records it."""
    model = TextClassifier("svm", folds=3).fit(X[TRAIN], Y[TRAIN])
    rows = model.transform(X[TEST]).toarray()
    np.testing.assert_allclose(rows, X[TEST] / np.linalg.norm(X[TEST], axis=1, keepdims=True))
    assert (model.recipe.weighting["tf"], model.recipe.weighting["idf"]) == ("raw", "none")
    as_they_are = TextClassifier("svm", folds=3, weighting={"norm": None}).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(as_they_are.transform(X[TEST]).toarray(), X[TEST])
    counts = TextClassifier("svm", folds=3).fit(np.abs(X[TRAIN]).round(), Y[TRAIN])
    assert counts.recipe.weighting["tf"] == "log"


def test_point_14_the_scale_of_embeddings_changes_nothing() -> None:
    """Point 14: a table in other units gives the same label sets."""
    model = TextClassifier(folds=3).fit(X[TRAIN], Y[TRAIN])
    scaled = TextClassifier(folds=3).fit(1000 * X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(scaled.predict(1000 * X[TEST]), model.predict(X[TEST]))


def test_point_14_a_few_negative_values_are_enough() -> None:
    """Point 14: one fold without a negative value is read as the others are."""
    few = np.abs(X).round()
    few[:3] *= -1
    model = TextClassifier("svm", folds=3).fit(few, Y)
    assert model.recipe.weighting["tf"] == "raw"
    model = TextClassifier("auto", folds=3).fit(few, Y)
    assert model.predict(few).shape == Y.shape


def test_point_14_a_model_of_counts_refuses_negative_values_later() -> None:
    """Point 14: a model that learned the weights of counts does not weigh embeddings."""
    for method in ("auto", "svm", "knn", "nb-binary"):
        model = TextClassifier(method, folds=3).fit(np.abs(X).round(), Y)
        with pytest.raises(DataError, match=r"[Nn]egative values"):
            model.predict(X)


def test_point_14_selection_counts_documents_and_says_so() -> None:
    """Point 14: the selection of the preset of knn is left out; one that was asked for is an error."""
    assert TextClassifier("knn", folds=3).fit(X, Y).features_.selector_ is None
    with pytest.raises(DataError, match="term selection counts the documents"):
        TextClassifier("knn", folds=3, selection={"function": "chi2", "k": 5}).fit(X, Y)


def test_point_14_weighting_takes_any_numbers_only_without_tf_and_idf() -> None:
    """Point 14: the norm alone is defined for every number."""
    assert Weighting().needs_counts
    assert not Weighting(tf="raw", idf="none").needs_counts
    rows = Weighting(tf="raw", idf="none").fit_transform(Csr(np.array([[3.0, -4.0]])))
    assert rows.toarray().tolist() == [[0.6, -0.8]]


def test_point_14_the_default_leaves_out_its_model_of_counts() -> None:
    """Point 14: auto averages with value-weighted naive Bayes on counts only."""
    decided = TextClassifier(folds=3).fit(X, Y).decided_
    assert isinstance(decided, AutoModel)
    assert not decided.needs_counts
    assert decided.choice_ is not None
    assert "averaged" not in decided.choice_["settings"]


def test_point_14_comparisons_read_any_numbers_too() -> None:
    """Point 14: a trial predicts what a classifier predicts, and methods of counts are left out."""
    work = FoldWork(Csr(X), Csr(Y), list("abcd"), k_fold(200, 2, seed=0))
    for method in ("svm", "knn", "auto"):
        train, test = work.splits[0]
        rule = dict(Recipe.of(method).decision)
        found = run_trial(work, Recipe.of(method), {"own": rule}, 0, inner_folds=3)["own"]
        model = TextClassifier(method, folds=3).fit(Csr(X[train]), Csr(Y[train]))
        assert (found.Y_pred != model.predict(Csr(X[test]))).nnz == 0
    traits = Traits.of(work)
    assert "negative values" in str(traits.lacks(METHODS["nb"]))
    assert traits.lacks(METHODS["svm"]) is None


# ---- transformers of scikit-learn ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "features",
    [
        TfidfVectorizer(),
        CountVectorizer(ngram_range=(1, 2)),
        HashingVectorizer(n_features=64),
        make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0)),
        FunctionTransformer(
            lambda texts: np.array([[text.count("bus") - 0.5, text.count("road") - 0.5] for text in texts])
        ),
    ],
    ids=["tfidf", "counts", "hashes", "svd", "function"],
)
@pytest.mark.parametrize("method", ["auto", "svm"])
def test_point_14_a_transformer_in_place_of_the_vectoriser(features: object, method: str) -> None:
    """Point 14: vectorisers, pipelines and functions, one document or many, and in scikit-learn's copies."""
    model = TextClassifier(method, features=features, folds=2).fit(TEXTS, LABELS)
    assert model.predict(["a late bus", "no bus, and holes in the road"]) == [["buses"], ["buses", "roads"]]
    assert [model.predict([text])[0] for text in TEXTS[:4]] == model.predict(TEXTS[:4])
    assert clone(model).fit(TEXTS, LABELS).predict(TEXTS) == model.predict(TEXTS)


def test_point_14_an_unfitted_transformer_is_copied_and_a_fitted_one_used_as_it_is() -> None:
    """Point 14: the one that was passed is never changed."""
    unfitted = TfidfVectorizer()
    TextClassifier("svm", features=unfitted, folds=2).fit(TEXTS, LABELS)
    assert not hasattr(unfitted, "vocabulary_")
    fitted = TfidfVectorizer().fit(["bus road", "other words"])
    model = TextClassifier("svm", features=fitted, folds=2).fit(TEXTS, LABELS)
    assert model.transform(["the bus"]).shape == (1, 4)
    assert len(fitted.vocabulary_) == 4


def test_point_14_counts_of_a_transformer_are_weighed_as_counts() -> None:
    """Point 14: CountVectorizer in place of Vectorizer, with the same tokens, gives the same model."""
    own = TextClassifier("svm", folds=2).fit(TEXTS, LABELS)
    foreign = TextClassifier("svm", features=CountVectorizer(), folds=2).fit(TEXTS, LABELS)
    np.testing.assert_array_equal(foreign.predict_scores(TEXTS), own.predict_scores(TEXTS))
    assert foreign.predict(TEXTS) == own.predict(TEXTS)


def test_point_14_a_transformer_is_fitted_in_each_fold() -> None:
    """Point 14: a transformer that reads the labels must not see those of the documents that thresholds learn from."""
    rng = np.random.default_rng(3)
    words = np.array([f"w{number}" for number in range(2000)])
    texts = [" ".join(rng.choice(words, 30)) for _ in range(150)]
    noise = (rng.random((150, 3)) < 0.3).astype(int)
    supervised = make_pipeline(CountVectorizer(), SelectKBest(chi2, k=60))
    model = TextClassifier("svm", features=supervised, decision={"rule": "best"}, folds=3).fit(texts, noise)
    fitted_before = make_pipeline(CountVectorizer(), SelectKBest(chi2, k=60)).fit(texts, noise)
    leaking = TextClassifier("svm", features=fitted_before, decision={"rule": "best"}, folds=3).fit(texts, noise)
    assert model.decided_.choice_ is not None
    assert leaking.decided_.choice_ is not None
    assert model.decided_.choice_["value"] < leaking.decided_.choice_["value"] - 0.05


def test_point_14_a_transformer_of_numbers() -> None:
    """Point 14: a scaler before the model reads dense tables as dense."""
    table = X * np.arange(1, 21) + 5
    model = TextClassifier("svm", features=StandardScaler(), folds=3).fit(table[TRAIN], Y[TRAIN])
    assert model.score(table[TEST], Y[TEST]) > 0.85


def test_point_14_documents_with_fields_reach_a_transformer_as_one_text() -> None:
    """Point 14: scikit-learn's vectorisers read strings."""
    documents = [{"title": text[:8], "body": text[8:]} for text in TEXTS]
    model = TextClassifier("svm", features=TfidfVectorizer(), folds=2).fit(documents, LABELS)
    assert model.predict(documents[:2]) == [["buses"], ["roads"]]


def test_point_14_a_model_file_holds_no_foreign_code(tmp_path: Path) -> None:
    """Point 14: saving is refused with the remedy, which works."""
    model = TextClassifier("svm", features=TfidfVectorizer(), folds=2).fit(TEXTS, LABELS)
    with pytest.raises(ParameterError, match=r"TfidfVectorizer, which a model file cannot hold.*model persistence"):
        model.save(tmp_path / "model.mlm")
    assert not (tmp_path / "model.mlm").exists()
    assert pickle.loads(pickle.dumps(model)).predict(TEXTS) == model.predict(TEXTS)


def test_point_14_other_objects_are_refused_with_the_remedy() -> None:
    """Point 14: a function must be wrapped, and texts must become numbers."""
    with pytest.raises(ParameterError, match="FunctionTransformer"):
        TextClassifier("svm", features=len).fit(TEXTS, LABELS)
    upper = FunctionTransformer(lambda texts: [text.upper() for text in texts])
    with pytest.raises(DataError, match="FunctionTransformer returned texts"):
        TextClassifier("svm", features=upper).fit(TEXTS, LABELS)


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        (lambda texts: [1] * len(texts), "It returned: Document 0 is int 1, not a text"),
        (lambda texts: np.ones((1, 2)), "It returned 1 row for 20 documents"),
    ],
)
def test_point_14_what_a_transformer_returns_is_checked(returned: Any, sentence: str) -> None:
    with pytest.raises(
        DataError, match=f"FunctionTransformer has to return one row of numbers per document. {sentence}"
    ):
        TextClassifier("svm", features=FunctionTransformer(returned), folds=2).fit(
            ["late bus", "road"] * 10, [["a"], []] * 10
        )


def test_point_14_explanations_name_the_columns_of_a_transformer() -> None:
    model = TextClassifier("svm", features=TfidfVectorizer(), folds=2).fit(TEXTS, LABELS)
    assert "bus" in [one.term for one in model.explain("the bus", labels=["buses"])["buses"].terms]
    nameless = TextClassifier(
        "svm", features=FunctionTransformer(lambda texts: [[len(text)] for text in texts]), folds=2
    )
    assert nameless.fit(TEXTS, LABELS).get_feature_names_out().tolist() == ["x0"]


def test_point_14_embeddings_of_real_letters_are_classified_well() -> None:
    """Point 14: 100 latent dimensions of the shipped letters, half of them negative, are worth the words themselves."""
    corpus = load("townhall").corpus
    texts, sets = corpus.joined_texts, corpus.label_sets
    half = len(texts) // 2
    embed = make_pipeline(TfidfVectorizer(sublinear_tf=True), TruncatedSVD(100, random_state=0)).fit(texts[:half])
    table = embed.transform(texts)
    known = {name for names in sets[:half] for name in names}
    truth = [[name for name in names if name in known] for names in sets]
    words = TextClassifier("svm", folds=3).fit(texts[:half], truth[:half]).score(texts[half:], truth[half:])
    for method in ("auto", "svm", "knn"):
        model = TextClassifier(method, folds=3).fit(table[:half], truth[:half])
        assert model.score(table[half:], truth[half:]) > words - 0.15
