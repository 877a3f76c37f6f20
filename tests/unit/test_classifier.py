"""`TextClassifier`: texts in, label names out, in whatever form labels came."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from manylabel import TextClassifier, load_corpus
from manylabel.catalog import METHODS
from manylabel.exceptions import DataError, DecisionError, ParameterError, UnknownNameError
from smaller import smaller

pytestmark = pytest.mark.filterwarnings("ignore::manylabel.models.pmm_base.UnlabelledDocumentsWarning")

TEXTS = ["the bus was late", "a hole in the road", "late bus, bad road", "good morning", "bus stop", "road works"] * 4
LABELS = [["buses"], ["roads"], ["buses", "roads"], [], ["buses"], ["roads"]] * 4


@pytest.mark.parametrize("method", METHODS)
def test_lists_of_names_in_lists_of_names_out(method: str) -> None:
    model = smaller(method).fit(TEXTS, LABELS)
    answer = model.predict(["the bus is late", ""])
    assert "buses" in answer[0]
    assert set(answer[0]) <= {"buses", "roads"}
    assert all(isinstance(names, list) for names in answer)
    assert model.labels_ == ["buses", "roads"]
    assert model.predict([]) == []


def test_one_name_each_in_one_name_each_out() -> None:
    model = TextClassifier("nb-unilabel").fit(["late bus", "bad road", "bus stop"], ["buses", "roads", "buses"])
    assert model.predict(["the road"]) == ["roads"]


def test_a_matrix_in_a_matrix_out() -> None:
    Y = sparse.csr_array(np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]] * 4))
    answer = TextClassifier("nb-binary").fit(TEXTS, Y).predict(TEXTS[:2])
    assert answer.toarray().tolist() == [[1, 0], [0, 1]]


def test_ready_made_counts_skip_the_vectoriser() -> None:
    X = sparse.csr_array(np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]]))
    labels = [["a"], ["b"], ["a", "b"], []]
    model = TextClassifier("nb-binary", model={"smoothing": "laplace", "unlabelled": "negative"}).fit(X, labels)
    assert model.predict(X) == labels  # a threshold of one half recovers Y
    with pytest.raises(DataError, match="trained on a matrix"):
        model.predict(["some text"])
    with pytest.raises(DataError, match="texts"):
        TextClassifier("nb-binary").fit(TEXTS, LABELS).predict(X)


def test_fields_may_be_told_apart() -> None:
    texts = [{"title": "bus", "body": "road"}, {"title": "road", "body": "bus"}] * 5
    model = TextClassifier("nb-binary", features={"fields": ["title", "body"]}, model={"smoothing": "laplace"})
    model.fit(texts, [["buses"], ["roads"]] * 5)
    assert model.predict(texts[:2]) == [["buses"], ["roads"]]
    assert "title:bus" in model.features_.vectorizer_.terms_


def test_scores_thresholds_and_decisions_agree() -> None:
    corpus = load_corpus("townhall").corpus
    train, test = corpus.split("train"), corpus.split("test").subset(range(40))
    model = TextClassifier("nb").fit(train.texts, train.label_sets)
    scores = model.predict_scores(test.texts)
    assert scores.shape == (40, 29)
    assert np.all((scores >= 0) & (scores <= 1))
    cuts = np.array(list(model.thresholds.values()))
    expected = [
        [name for name, score, cut in zip(model.labels_, row, cuts, strict=True) if score >= cut] for row in scores
    ]
    assert model.predict(test.texts) == expected
    assert model.decide(model.predict_scores(test.texts, raw=True), raw=True) == expected


def test_decide_is_refused_for_a_method_that_decides_by_itself() -> None:
    model = TextClassifier("nb-powerset").fit(TEXTS, LABELS)
    assert not model.thresholds
    with pytest.raises(DecisionError, match="decides by itself"):
        model.decide(model.predict_scores(TEXTS[:1]))


def test_batches_do_not_change_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    model = TextClassifier("nb").fit(TEXTS, LABELS)
    whole = model.predict(TEXTS), model.predict_scores(TEXTS)
    monkeypatch.setattr("manylabel.predicting.BATCH_BYTES", 8 * 2 * 5)
    assert model.predict(TEXTS) == whole[0]
    np.testing.assert_array_equal(model.predict_scores(TEXTS), whole[1])
    assert [answer.labels for answer in model.iter_predictions(TEXTS)] == whole[0]


def test_the_discount_is_estimated_before_rare_words_are_pruned() -> None:
    corpus = load_corpus("townhall").corpus.split("train")
    plain = TextClassifier("nb-unilabel").fit(corpus.texts, corpus.label_sets)
    pruned = TextClassifier("nb-unilabel", features={"min_df": 2}).fit(corpus.texts, corpus.label_sets)
    assert pruned.decided_.n_features_in_ < plain.decided_.n_features_in_
    assert pruned.decided_.model_.discount_ == pytest.approx(plain.decided_.model_.discount_)  # type: ignore[attr-defined]


def test_scikit_learns_tools_work() -> None:
    model = TextClassifier("nb-binary")
    assert clone(model).get_params() == model.get_params()
    assert cross_val_score(model, TEXTS, LABELS, cv=KFold(3)).mean() > 0.7
    search = GridSearchCV(model, {"decision": [{"value": 0.5}, {"value": 1.0}]}, cv=KFold(2)).fit(TEXTS, LABELS)
    assert search.best_params_ == {"decision": {"value": 0.5}}


def test_wrong_use_is_answered_with_a_sentence() -> None:
    with pytest.raises(
        ParameterError, match=r"list of documents is empty, but there are labels for 2 .*corpus\.counts"
    ):
        TextClassifier("svm").fit([], [["buses"], ["roads"]])
    with pytest.raises(ParameterError, match="3 documents but labels for 2"):
        TextClassifier().fit(TEXTS[:3], LABELS[:2])
    with pytest.raises(DataError, match="nothing to learn"):
        TextClassifier().fit(TEXTS[:3], [[], [], []])
    with pytest.raises(DataError, match="document 1 has 'roads'"):
        TextClassifier().fit(TEXTS[:2], [["buses"], "roads"])
    with pytest.raises(UnknownNameError, match="Did you mean 'nb-app'"):
        TextClassifier("nbapp").fit(TEXTS, LABELS)
    with pytest.raises(UnknownNameError, match="Did you mean 'min_df'"):
        TextClassifier(features={"mindf": 2}).fit(TEXTS, LABELS)
    with pytest.raises(DataError, match="no documents"):
        TextClassifier().fit([], np.zeros((0, 2), dtype=int))


def test_nothing_is_answered_before_fit(tmp_path: Path) -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="Call fit first"):
        TextClassifier().predict(TEXTS)
    with pytest.raises(NotFittedError):
        TextClassifier().save(tmp_path / "m.manylabel")


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("method", "features"),
    [(method, {}) for method in METHODS]
    + [
        (method, features)
        for method in ("auto", "svm", "nb", "rocchio", "mnb-vw", "knn", "trees", "ensemble")
        for features in (
            {"tokens": "letters", "stop_words": "english"},
            {"tokens": r"[a-z]{3,}", "min_df": 2},
            {"stemmer": "auto", "stop_words": ["the", "roads"]},
        )
    ],
)
def test_one_document_is_answered_as_many_are(
    method: str, features: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = load_corpus("townhall").corpus.subset(range(120))
    model = smaller(method, features=features).fit(corpus.texts, corpus.label_sets)
    texts = [*corpus.texts[:40], "", "ÉÀ 日本 İ", "zzz"]
    if model.short_way() is not None:
        read, score = model.features_.document_reader(), model.decided_.document_scorer()
        assert read is not None
        assert score is not None
        long = model.decided_.score_batch(model.transform(texts))
        np.testing.assert_allclose([score(*read(text)) for text in texts], long, rtol=1e-12, atol=1e-12)
    one_by_one = [model.predict([text])[0] for text in texts]
    monkeypatch.setattr("manylabel.predicting.SHORT_WAY", 0)
    assert model.predict(texts) == one_by_one


def test_linear_models_have_a_short_way() -> None:
    for method in ("svm", "nb", "nb-app", "nb-binary"):
        model = TextClassifier(method).fit(TEXTS, LABELS)
        label_columns = model.short_way()
        assert label_columns is not None
        by_matrix = [one.labels for one in model.iter_predictions(TEXTS)]
        assert [[model.labels_[column] for column in label_columns(text)] for text in TEXTS] == by_matrix
