"""Selection inside the pipeline, in model files and from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from manylabel import TextClassifier, load_corpus, modelfile
from manylabel.exceptions import DataError, ParameterError, UnknownNameError
from manylabel.features import TermSelector, Vectorizer
from manylabel.recipe import Recipe
from manylabel.tasks.corpora import Source
from manylabel.tasks.select import select_terms

BEST = {"function": "chi2", "k": 40}


@pytest.fixture(scope="module")
def letters():
    return load_corpus("townhall").corpus.split("train").subset(range(150))


def test_the_vocabulary_is_reduced_to_the_selected_terms(letters) -> None:
    whole = TextClassifier("svm").fit(letters.texts, letters.label_sets)
    model = TextClassifier("svm", selection=BEST).fit(letters.texts, letters.label_sets)
    X = whole.features_.vectorizer_.transform(letters.texts)
    selector = TermSelector(**BEST).fit(X, letters.label_matrix(whole.labels_))
    assert (
        model.features_.vectorizer_.terms_
        == selector.get_feature_names_out(whole.features_.vectorizer_.terms_).tolist()
    )
    assert model.decided_.n_features_in_ == 40
    assert model.features_.selector_ is None
    np.testing.assert_array_equal(
        model.features_.weighting_.document_frequency_, whole.features_.weighting_.document_frequency_[selector.kept_]
    )
    lengths = np.linalg.norm(model.transform(letters.texts).toarray(), axis=1)
    assert np.all(np.isclose(lengths, 1) | (lengths == 0))


@pytest.mark.parametrize("features", [{}, {"n_hashes": 300}])
@pytest.mark.parametrize("method", ["svm", "nb-app"])
def test_save_then_load_is_the_identity(method: str, features: dict, letters, tmp_path: Path) -> None:
    model = TextClassifier(method, features=features, selection=BEST).fit(letters.texts, letters.label_sets)
    model.save(tmp_path / "m")
    again = TextClassifier.load(tmp_path / "m")
    assert again.recipe == model.recipe
    assert again.recipe.selection == BEST
    np.testing.assert_array_equal(again.predict_scores(letters.texts), model.predict_scores(letters.texts))
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_one_document_is_predicted_as_many_are(letters) -> None:
    model = TextClassifier("svm", selection=BEST).fit(letters.texts, letters.label_sets)
    read, score = model.features_.document_reader(), model.decided_.document_scorer()
    assert read is not None
    assert score is not None
    assert model.short_way() is not None
    texts = [*letters.texts[:20], "", "zzz"]
    long = model.decided_.score_batch(model.transform(texts))
    np.testing.assert_allclose([score(*read(text)) for text in texts], long, rtol=1e-12, atol=1e-12)


def test_terms_of_counts_are_selected_too(letters) -> None:
    X = Vectorizer().fit_transform(letters.texts)
    by_texts = TextClassifier("svm", selection=BEST).fit(letters.texts, letters.label_sets)
    by_counts = TextClassifier("svm", selection=BEST).fit(X, letters.label_sets)
    assert by_counts.features_.selector_.kept_.size == 40
    np.testing.assert_array_equal(by_counts.predict_scores(X), by_texts.predict_scores(letters.texts))
    with pytest.raises(DataError, match="X has 2510 features, but TextClassifier is expecting 2511"):
        by_counts.predict_scores(X[:, 1:])


def test_fitting_again_without_selection_forgets_it(letters) -> None:
    X = Vectorizer().fit_transform(letters.texts)
    model = TextClassifier("svm", selection=BEST).fit(X, letters.label_sets)
    model.set_params(selection=None).fit(X, letters.label_sets)
    assert model.features_.selector_ is None
    assert model.decided_.n_features_in_ == X.shape[1]


def test_the_discount_is_estimated_before_terms_are_selected(letters) -> None:
    plain = TextClassifier("nb-unilabel").fit(letters.texts, letters.label_sets)
    chosen = TextClassifier("nb-unilabel", selection=BEST).fit(letters.texts, letters.label_sets)
    assert chosen.decided_.model_.discount_ == pytest.approx(plain.decided_.model_.discount_)  # type: ignore[attr-defined]


def test_models_written_before_there_was_selection_still_load(letters, tmp_path: Path) -> None:
    model = TextClassifier("svm").fit(letters.texts, letters.label_sets)
    old = clone(model)
    state = {name: value for name, value in model.learned_state().items() if name != "selector_"}
    old.get_params = lambda deep=True: {
        name: value for name, value in model.get_params(deep).items() if name != "selection"
    }
    modelfile.save(old.restore(state), tmp_path / "old", {"recipe": {}})
    assert "selection" not in json.dumps(modelfile.open_model(tmp_path / "old").header["tree"]["params"])
    assert TextClassifier.load(tmp_path / "old").predict(letters.texts) == model.predict(letters.texts)


def test_a_recipe_has_a_section_for_it() -> None:
    recipe = Recipe.of("svm", {"selection": BEST})
    assert Recipe.from_dict(recipe.as_dict()) == recipe
    assert Recipe.of("svm").selection == {}
    with pytest.raises(UnknownNameError, match="Did you mean 'function'"):
        Recipe.of("svm", {"selection": {"func": "ig"}})


def test_a_vectorizer_that_kept_some_terms_cannot_go_on_learning(tmp_path: Path) -> None:
    texts = ["late bus", "bad road", "late road"]
    vectorizer = Vectorizer().fit(texts).keep(np.array([1, 3]))
    assert vectorizer.terms_ == ["bus", "road"]
    assert vectorizer.transform(texts).toarray().tolist() == [[1, 0], [0, 1], [0, 1]]
    modelfile.save(vectorizer, tmp_path / "v")
    for narrowed in (vectorizer, modelfile.load(tmp_path / "v")):
        assert narrowed.document_frequency_.tolist() == [1, 2]  # type: ignore[attr-defined]
        with pytest.raises(DataError, match="cannot go on learning"):
            narrowed.partial_fit(texts)  # type: ignore[attr-defined]
    assert vectorizer.fit(texts).terms_ == ["bad", "bus", "late", "road"]
    with pytest.raises(ParameterError, match="n_hashes"):
        Vectorizer(n_hashes=8).fit(texts).keep(np.array([1]))


# ---- the task and the command ----------------------------------------------------------------------------------------


def test_the_task_counts_the_training_split() -> None:
    found = select_terms(Source("townhall"), ["chi2", "ig"], labels=["transport/buses"], top=3)
    train = load_corpus("townhall").corpus.split("train")
    assert found.documents == len(train)
    (entry,) = found.found
    assert entry.label == "transport/buses"
    assert entry.documents == sum("transport/buses" in names for names in train.label_sets)
    assert entry.best["chi2"][0].term == "bus"
    assert [term.score for term in entry.best["ig"]] == sorted((t.score for t in entry.best["ig"]), reverse=True)
    assert not entry.best["chi2"][0].against


def test_terms_that_indicate_the_absence_of_a_label_are_marked() -> None:
    found = select_terms(Source("townhall"), ["gss", "chi2"], labels=["streets/parking"], top=10**6)
    by = {name: {term.term: term.against for term in terms} for name, terms in found.found[0].best.items()}
    assert by["gss"] == by["chi2"]
    assert [term.against for term in found.found[0].best["gss"]][-1]
    assert all(term.against == (term.score < 0) for term in found.found[0].best["gss"])
