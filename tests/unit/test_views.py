"""Further views of documents: chosen by the default where they gain, kept by the model and its pipeline."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from manylabel import TextClassifier
from manylabel.decisions import auto, search_sample, vector_trial, view_trials
from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError, UnsupportedError
from manylabel.features import Vectorizer, Weighting
from manylabel.features.views import OfferedViews
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.reports.model_page import chosen_text
from manylabel.strategies import ViewedMember, WeightedMember

RNG = np.random.default_rng(0)
X = Csr(RNG.poisson(0.6, (60, 12)).astype(np.float64))
Y = Csr((np.asarray(X[:, 4:8].todense()) + RNG.poisson(0.3, (60, 4)) > 1).astype(np.int8))
TFIDF = Weighting(tf="log", idf="smooth")
SVM = LinearSVM(n_jobs=1)


def towns(n_documents: int) -> tuple[list[str], list[list[str]]]:
    """Documents with a town of their own whose ending tells the label: no word tells it, runs of characters do."""
    random = np.random.default_rng(1)
    texts, labels = [], []
    for row in range(n_documents):
        ending = ("burgh", "mouth", "chester")[row % 3]
        name = "".join(random.choice(list("aeioklrstn"), 5))
        texts.append(f"the road to {name}{ending} and {'back' if random.random() < 0.5 else 'home'}")
        labels.append([ending] if row % 9 else [ending, "back"] if "back" in texts[-1] else [])
    return texts, labels


@pytest.fixture(scope="module", params=[0.0, 1e7], ids=["alone", "averaged"])
def model(request: pytest.FixtureRequest) -> Iterator[TextClassifier]:
    """The default on such documents: the SVM alone, or allowed to be averaged."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auto, "LEAST_DOCUMENTS", 90)
        yield TextClassifier(model={"most_work": request.param}, folds=3, n_jobs=1).fit(*towns(120))


def test_characters_are_chosen_where_words_tell_nothing(model: TextClassifier) -> None:
    choice = model.decided_.choice_
    assert choice is not None
    assert list(choice["settings"]["views"]) == ["characters"]
    assert choice["settings"]["views"]["characters"] > 0.2
    assert "beside words characters (+" in chosen_text(choice)
    assert model.features_.views_ is not None
    assert model.transform(["the road"]).shape[1] == model.decided_.n_features_in_ == len(model.get_feature_names_out())
    new, labels = towns(150)
    assert model.score(new[120:], labels[120:]) > 0.9


def test_one_text_and_a_file_give_the_same_scores(model: TextClassifier, tmp_path: Path) -> None:
    texts = [*towns(6)[0], "", "zzz", "Chester"]
    scores = model.predict_scores(texts)
    model.save(tmp_path / "m.manylabel")
    read = TextClassifier.load(tmp_path / "m.manylabel")
    np.testing.assert_array_equal(read.predict_scores(texts), scores)
    assert read.predict(texts) == model.predict(texts)
    one = model.text_scorer()
    assert one is not None
    raw = model.decided_.scores(model.transform(texts))
    np.testing.assert_allclose([one(text)[0] for text in texts], raw, rtol=0, atol=1e-12)
    assert [model.predict([text])[0] for text in texts] == model.predict(texts)


def test_a_stack_scores_one_text_as_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "LEAST_DOCUMENTS", 90)
    monkeypatch.setattr(auto, "LEAST_GAIN", -1.0)
    monkeypatch.setattr(auto, "NEAR_STACK", 1.0)
    model = TextClassifier(folds=2, n_jobs=1).fit(*towns(90))
    choice = model.decided_.choice_
    assert choice is not None
    assert list(choice["settings"]["views"]) == ["characters", "pairs"]
    assert choice["settings"]["stacked"] >= 4  # a cost at least, each view, and naive Bayes
    assert f"a stack of {choice['settings']['stacked']} models" in chosen_text(choice)
    test_one_text_and_a_file_give_the_same_scores(model, tmp_path)


def test_views_and_vectors_are_members_of_one_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def encode(texts: list[str]) -> list[list[float]]:
        return [[("back" in text) - 0.4, ("road" in text) - 0.6, len(text) / 40] for text in texts]

    monkeypatch.setattr(auto, "LEAST_DOCUMENTS", 90)
    monkeypatch.setattr(auto, "LEAST_GAIN_WITH_VECTORS", -1.0)
    monkeypatch.setattr(auto, "NEAR_STACK", 1.0)
    model = TextClassifier(encoder=encode, folds=2, n_jobs=1).fit(*towns(90))
    choice = model.decided_.choice_
    assert choice is not None
    assert list(choice["settings"]["views"]) == ["characters"]
    assert choice["settings"]["vectors"]
    assert choice["settings"]["stacked"] == 6  # terms, vectors, characters, naive Bayes, names twice
    names = model.get_feature_names_out()
    assert [name.partition(":")[0] for name in names[-4:]] == ["characters", "vector", "vector", "vector"]
    texts = [*towns(6)[0], "", "zzz", "Chester"]
    score, raw = model.text_scorer(), model.decided_.scores(model.transform(texts))
    assert score is not None
    np.testing.assert_allclose([score(text)[0] for text in texts], raw, rtol=0, atol=1e-12)
    (one,) = model.explain("The road to Karlsburgh", labels=["burgh"]).labels
    assert one.intercept is not None
    assert one.intercept + sum(term.contribution for term in one.terms) == pytest.approx(one.total, abs=1e-9)
    assert {"characters: burg", "road"} <= {term.term for term in one.terms}
    model.save(tmp_path / "m.manylabel")
    read = TextClassifier.load(tmp_path / "m.manylabel", encoder=encode)
    np.testing.assert_array_equal(read.predict_scores(texts), model.predict_scores(texts))


def test_views_are_kept_where_vectors_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def noise(texts: list[str]) -> np.ndarray:
        return np.random.default_rng(5).normal(size=(len(texts), 3))

    monkeypatch.setattr(auto, "LEAST_DOCUMENTS", 90)
    monkeypatch.setattr(vector_trial, "MUCH_VECTOR_WORK", 0.0)
    monkeypatch.setattr(vector_trial.VectorTrial, "gain_in_first_fold", lambda *_: 0.0)
    model, plain = (TextClassifier(encoder=one, folds=2, n_jobs=1).fit(*towns(90)) for one in (noise, None))
    assert model.decided_.choice_ == plain.decided_.choice_
    assert model.features_.views_ is not None
    assert model.features_.views_.names_ == ["characters"]
    texts = [*towns(6)[0], "", "Chester"]
    np.testing.assert_array_equal(model.predict_scores(texts), plain.predict_scores(texts))


def test_evidence_adds_up_and_has_places(model: TextClassifier) -> None:
    text = "The road to Karlsburgh"
    found = model.explain(text, labels=["burgh"])
    (one,) = found.labels
    assert one.intercept is not None
    assert one.intercept + sum(term.contribution for term in one.terms) == pytest.approx(one.total, abs=1e-9)
    strongest = one.terms[0]
    assert strongest.term.startswith("characters: ")
    ((_, start, end),) = strongest.occurrences[0]
    assert text[start:end] in "Karlsburgh"


def test_an_update_keeps_the_views(model: TextClassifier) -> None:
    texts, labels = towns(120)
    changed = TextClassifier.from_recipe(model.recipe, n_jobs=1).restore(model.learned_state())
    changed.update(texts[:30], labels[:30], former=(texts[30:], labels[30:]), rename={"burgh": "castle"})
    assert changed.predict(["to Karlsburgh"]) == [["castle"]]


def test_an_export_is_refused(model: TextClassifier, tmp_path: Path) -> None:
    with pytest.raises(
        UnsupportedError,
        match=r"Train it with words alone: model={'views': \[\]}\.",
    ):
        model.export(tmp_path / "model.json", "json")


@pytest.mark.parametrize(
    "settings",
    [{"model": {"views": ()}}, {"features": {"ngram_range": (1, 2)}}, {"features": {"n_hashes": 64}}],
    ids=["none", "pairs", "hashes"],
)
def test_views_are_not_tried(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "LEAST_DOCUMENTS", 1)
    plain = TextClassifier(folds=2, n_jobs=1, **settings).fit(*towns(30))
    assert plain.features_.views_ is None
    assert plain.decided_.choice_ is not None
    assert "views" not in plain.decided_.choice_["settings"]


def test_few_documents_and_many_characters_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OfferedViews, "counts", lambda *_: pytest.fail("a view was counted"))
    assert TextClassifier(folds=2, n_jobs=1).fit(*towns(30)).features_.views_ is None
    monkeypatch.setattr(auto, "LEAST_DOCUMENTS", 1)
    monkeypatch.setattr(view_trials, "MOST_CHARACTERS", 100)
    assert TextClassifier(folds=2, n_jobs=1).fit(*towns(30)).features_.views_ is None


def test_a_view_with_much_work_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, labels = towns(90)
    monkeypatch.setattr(auto, "LEAST_DOCUMENTS", 90)
    monkeypatch.setattr(auto, "LEAST_GAIN", -1.0)
    offered = OfferedViews(texts, {})
    characters, pairs = (offered.counts(name) for name in ("characters", "pairs"))
    assert characters is not None
    assert pairs is not None
    assert characters.nnz > pairs.nnz
    monkeypatch.setattr(view_trials, "MOST_VIEW_WORK", pairs.nnz * 4)  # there are four labels
    choice = TextClassifier(folds=2, n_jobs=1).fit(texts, labels).decided_.choice_
    assert choice is not None
    assert list(choice["settings"]["views"]) == ["pairs"]


@pytest.mark.parametrize(
    ("most", "times", "expected"),
    [(0.0, 100.0, ["characters"]), (0.0, 0.0, []), (1e9, 0.0, ["characters"])],
    ids=["few terms", "many terms", "little work"],
)
def test_views_of_many_labels_are_tried_where_they_have_few_terms(
    monkeypatch: pytest.MonkeyPatch, most: float, times: float, expected: list[str]
) -> None:
    """The trial takes some of the labels only, so that a view may be much work with all of them."""
    texts, labels = towns(120)
    for module, name, value in (
        *((auto, "LEAST_DOCUMENTS", 90), (auto, "LEAST_GAIN", -1.0)),
        *((search_sample, "SEARCHED_LABELS", 2), (search_sample, "MANY_SCORES", 1)),
    ):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(view_trials, "MOST_VIEW_WORK", most)
    monkeypatch.setattr(view_trials, "MOST_TIMES_TERMS", times)
    choice = TextClassifier(folds=3, n_jobs=1).fit(texts, labels).decided_.choice_
    assert choice is not None
    assert list(choice["settings"].get("views", [])) == expected


def test_views_of_many_labels_are_chosen_by_some_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, labels = towns(120)
    monkeypatch.setattr(auto, "LEAST_DOCUMENTS", 90)
    monkeypatch.setattr(search_sample, "SEARCHED_LABELS", 2)
    monkeypatch.setattr(search_sample, "MANY_SCORES", 120 * 2)
    tried = list[int]()
    run = view_trials.ViewTrials.run

    def noted(self: view_trials.ViewTrials, *arguments: Any) -> Any:
        tried.append(self.Y.shape[1])
        return run(self, *arguments)

    monkeypatch.setattr(view_trials.ViewTrials, "run", noted)
    model = TextClassifier(folds=3, n_jobs=1).fit(texts, labels)
    choice = model.decided_.choice_
    assert choice is not None
    assert tried == [2]
    assert list(choice["settings"]["views"]) == ["characters"]
    new, true_labels = towns(150)
    assert model.score(new[120:], true_labels[120:]) > 0.9
    fixed = TextClassifier(model={"C": 1.0}, folds=3, n_jobs=1).fit(texts, labels)
    assert fixed.decided_.choice_ is not None
    assert list(fixed.decided_.choice_["settings"]) == ["views"]


def test_a_view_of_many_labels_may_take_the_cost_before(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, labels = towns(120)
    monkeypatch.setattr(auto, "LEAST_DOCUMENTS", 90)
    monkeypatch.setattr(search_sample, "SEARCHED_LABELS", 2)
    monkeypatch.setattr(search_sample, "MANY_SCORES", 1)
    starts = list[float]()
    run = view_trials.ViewTrials.run

    def noted(self: view_trials.ViewTrials, names: Any, first: Any) -> Any:
        starts.append(first.settings["C"])
        assert next(one.C for one in first.model.walk() if isinstance(one, LinearSVM)) == first.settings["C"]
        return run(self, names, first)

    monkeypatch.setattr(view_trials.ViewTrials, "run", noted)
    scored = auto.AutoModel._try_cost

    def better(self: auto.AutoModel, model: Any, cost: Any, *given: Any) -> Any:
        found = scored(self, model, cost, *given)
        if cost == 1.0:  # words tell nothing, so that no cost is better than another: say that this one is
            found.rule.tried_[0]["value"] += 0.01  # type: ignore[union-attr]
        return found

    monkeypatch.setattr(auto.AutoModel, "_try_cost", better)
    model = TextClassifier(model={"costs": (4.0, 1.0)}, folds=3, n_jobs=1).fit(texts, labels)
    assert starts == [1.0, 4.0]
    choice = model.decided_.choice_
    assert choice is not None
    assert list(choice["settings"]["views"]) == ["characters"]


# ---- a model of several views ----------------------------------------------------------------------------------------


def test_each_view_is_weighed_by_itself() -> None:
    member = ViewedMember(SVM, TFIDF, widths=(5, 4)).fit(X, Y)
    blocks = [Weighting(tf="log", idf="smooth").fit_transform(X[:, first:behind]) for first, behind in ((0, 5), (5, 9))]
    beside = Csr(sparse.hstack(blocks) / np.sqrt(2))
    np.testing.assert_allclose(member.scores(X), LinearSVM(n_jobs=1).fit(beside, Y).scores(beside), atol=1e-12)


@pytest.mark.parametrize("inner", [SVM, BinaryNaiveBayes()], ids=["svm", "nb"])
@pytest.mark.parametrize("weighting", [TFIDF, None], ids=["tf-idf", "counts"])
def test_one_view_is_read_as_if_there_were_no_others(inner: Any, weighting: Weighting | None) -> None:
    member, alone = ViewedMember(inner, weighting, widths=(9,)).fit(X, Y), WeightedMember(inner, weighting)
    alone.fit(X[:, :9], Y)
    np.testing.assert_array_equal(member.scores(X), alone.scores(X[:, :9]))
    assert member.evidence(X[:1]).shape == (4, 12)
    np.testing.assert_array_equal(member.evidence(X[:1])[:, :9].toarray(), alone.evidence(X[:1, :9]).toarray())


@pytest.mark.parametrize("widths", [(12,), (9,), (5, 4), (5, 4, 3)])
@pytest.mark.parametrize("weighting", [TFIDF, None], ids=["tf-idf", "counts"])
def test_one_document_and_some_labels(widths: tuple[int, ...], weighting: Weighting | None) -> None:
    member = ViewedMember(SVM, weighting, widths=widths).fit(X, Y)
    score = member.document_scorer()
    assert score is not None
    row = Csr(X[3:4])
    np.testing.assert_allclose(score(row.indices, row.data), member.scores(row)[0], atol=1e-12)
    some = member.of_labels(np.array([2, 0]))
    np.testing.assert_array_equal(some.scores(X), member.scores(X)[:, [2, 0]])
    both = some.beside(member.of_labels(np.array([1])))
    np.testing.assert_array_equal(both.scores(X), member.scores(X)[:, [2, 0, 1]])
    state = member.learned_state()
    assert member.check_learned(state)["labels"] == 4
    with pytest.raises(ValueError, match="other widths"):
        ViewedMember(SVM, weighting, widths=(*widths[:-1], widths[-1] - 1)).check_learned(state)


def test_fewer_columns_than_views_are_refused() -> None:
    with pytest.raises(ParameterError, match="fewer than views"):
        ViewedMember(SVM, TFIDF, widths=(9, 4)).fit(X, Y)


# ---- counting --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{"analyzer": "char_wb", "ngram_range": (4, 4)}, {"ngram_range": (2, 2)}])
@pytest.mark.parametrize("stemmer", [None, "english"])
def test_one_text_is_counted_as_in_a_batch(settings: dict[str, Any], stemmer: str | None) -> None:
    texts = ["The roads to the town, the towns", "the road to THE town", "a ro", "", "road to the road to the road"]
    vectorizer = Vectorizer(stemmer=stemmer, n_jobs=1, **settings).fit(texts)
    count = vectorizer.text_counter()
    assert count is not None
    for text in [*texts, "unknown zebra", "roads to İstanbul"]:
        row = vectorizer.transform([text])
        terms, values = count(text)
        assert (terms.tolist(), values.tolist()) == (row.indices.tolist(), row.data.tolist())
