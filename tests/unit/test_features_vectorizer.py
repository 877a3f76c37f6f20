"""What the vectorizer does beyond scikit-learn's, and its error messages."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from manylabel.exceptions import DataError, ParameterError, UnknownNameError
from manylabel.features import Vectorizer, Weighting
from manylabel.features.languages import LANGUAGES, stop_words
from manylabel.features.terms import stem
from manylabel.kernels import text as kernels

TEXTS = ["the bus was late", "a hole in the road", "late bus, bad road"]


def row(vectorizer: Vectorizer, text: Any) -> dict[str, int]:
    X = vectorizer.transform([text])
    return {vectorizer.terms_[column]: int(count) for column, count in zip(X.indices, X.data, strict=True)}


def test_a_field_that_no_document_has_is_named() -> None:
    documents = [{"title": "Late bus", "body": "The bus was late."}, "only a body"]
    with pytest.raises(DataError, match=r"No document has the field 'tittle'\. Found: title, body"):
        Vectorizer(fields=["tittle", "*"]).fit(iter(documents))
    assert Vectorizer(fields=["title", "*"]).fit(documents).transform(["late"]).nnz == 1


def test_fields_have_columns_of_their_own() -> None:
    documents = [{"title": "Late bus", "body": "The bus was late, late."}, {"title": "Road"}, "only a body"]
    vectorizer = Vectorizer(fields=["title", "body"]).fit(documents)
    assert vectorizer.terms_ == [
        "body:body",
        "body:bus",
        "body:late",
        "body:only",
        "body:the",
        "body:was",
        "title:bus",
        "title:late",
        "title:road",
    ]
    assert row(vectorizer, documents[0])["body:late"] == 2
    assert row(vectorizer, "bus") == {"body:bus": 1}
    assert row(vectorizer, {"title": "bus", "abstract": "late"}) == {"title:bus": 1}


def test_an_ngram_does_not_run_from_one_field_into_the_next() -> None:
    vectorizer = Vectorizer(fields=["title", "body"], ngram_range=(2, 2)).fit([{"title": "aa bb", "body": "cc dd"}])
    assert vectorizer.terms_ == ["body:cc dd", "title:aa bb"]


def test_without_fields_a_document_is_one_text() -> None:
    vectorizer = Vectorizer(ngram_range=(1, 2)).fit([{"title": "late bus", "body": "late"}, "bus"])
    assert vectorizer.terms_ == ["bus", "bus late", "late", "late bus"]
    assert row(vectorizer, {"title": "late bus", "body": "late"})["late"] == 2


def test_stems_are_merged_and_counted_together() -> None:
    vectorizer = Vectorizer(stemmer="english", stop_words=["the"])
    X = vectorizer.fit_transform(["the exports exported", "exporting grains, grain"])
    assert vectorizer.terms_ == ["export", "grain"]
    assert X.toarray().tolist() == [[2, 0], [1, 2]]
    assert vectorizer.document_frequency_.tolist() == [2, 1]


def test_stop_words_are_removed_before_stems_and_ngrams() -> None:
    vectorizer = Vectorizer(stemmer="english", stop_words=["of"], ngram_range=(2, 2)).fit(["exports of grains"])
    assert vectorizer.terms_ == ["export grain"]


def test_a_stop_word_is_compared_with_words_not_with_stems() -> None:
    vectorizer = Vectorizer(stemmer="english", stop_words=["export"]).fit(["export exports"])
    assert vectorizer.terms_ == ["export"]
    assert row(vectorizer, "export exports") == {"export": 1}


@pytest.mark.parametrize("settings", [{"tokens": r"\S+"}, {"analyzer": "char", "ngram_range": (3, 5)}])
def test_terms_of_two_fields_that_read_the_same_share_a_column(settings: dict[str, Any]) -> None:
    document = {"x": "y:z", "x:y": "z" if "tokens" in settings else "z::"}
    vectorizer = Vectorizer(fields=["x", "x:y"], **settings).fit([document, {"x": "y:z::"}])
    assert len(set(vectorizer.terms_)) == len(vectorizer.terms_)
    assert "x:y:z" in vectorizer.terms_
    assert row(vectorizer, document)["x:y:z"] == (2 if "tokens" in settings else 1)


def test_a_word_no_stemmer_can_read_stays_as_it_is() -> None:
    assert stem(["a\ud800s", "grains"], "english") == ["a\ud800s", "grain"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_stop_words_are_lower_case_tokens(language: str) -> None:
    words = stop_words(language)
    assert 60 <= len(words) <= 260
    assert all(word == word.lower() and word.isalpha() for word in words)


@pytest.mark.parametrize(
    ("language", "text", "left"),
    [
        ("english", "the price of the grain", ["grain", "price"]),
        ("german", "der Preis für das Getreide", ["getreide", "preis"]),
        ("french", "le prix de la récolte", ["prix", "récolte"]),
        ("spanish", "el precio de los cereales", ["cereales", "precio"]),
        ("italian", "il prezzo del grano", ["grano", "prezzo"]),
        ("dutch", "de prijs van het graan", ["graan", "prijs"]),
        ("portuguese", "o preço dos cereais", ["cereais", "preço"]),
        ("swedish", "priset på den säd som såldes", ["priset", "säd", "såldes"]),
    ],
)
def test_each_language_has_its_stop_words(language: str, text: str, left: list[str]) -> None:
    assert Vectorizer(stop_words=language).fit([text]).terms_ == left


def test_hashing_needs_no_vocabulary() -> None:
    vectorizer = Vectorizer(n_hashes=8, fields=["title", "body"])
    X = vectorizer.partial_fit([TEXTS[0]]).partial_fit(TEXTS[1:]).transform(TEXTS)
    assert X.shape == (3, 8)
    assert vectorizer.terms_ == []
    assert vectorizer.n_documents_ == 3
    assert vectorizer.n_features_out_ == 8
    assert vectorizer.get_feature_names_out().tolist() == [f"hash{i}" for i in range(8)]
    assert X.sum() == Vectorizer().fit_transform(TEXTS).sum()


def test_among_equally_frequent_terms_the_first_in_the_alphabet_are_kept() -> None:
    assert Vectorizer(max_features=2).fit(["dd cc bb aa", "dd"]).terms_ == ["aa", "dd"]


def test_learning_goes_on_after_fit_and_after_restoring() -> None:
    whole = Vectorizer().fit(TEXTS)
    fitted = Vectorizer().fit(TEXTS[:1]).partial_fit(TEXTS[1:])
    restored = Vectorizer().restore(Vectorizer().fit(TEXTS[:1]).learned_state()).partial_fit(TEXTS[1:])
    for vectorizer in (fitted, restored):
        assert vectorizer.terms_ == whole.terms_
        assert vectorizer.document_frequency_.tolist() == whole.document_frequency_.tolist()
        assert vectorizer.n_documents_ == 3


def test_a_restored_vectorizer_that_pruned_cannot_go_on_learning() -> None:
    vectorizer = Vectorizer(min_df=2).fit(TEXTS)
    restored = Vectorizer(min_df=2).restore(vectorizer.learned_state())
    with pytest.raises(DataError, match="cannot go on learning"):
        restored.partial_fit(TEXTS)


def test_learned_attributes_are_plain() -> None:
    state = Vectorizer().fit(TEXTS).learned_state()
    assert set(state) == {"terms_", "document_frequency_", "n_documents_"}
    assert {type(value) for value in state.values()} == {list, np.ndarray, int}
    assert Vectorizer().learned_state() == {}


def test_it_is_a_scikit_learn_estimator() -> None:
    vectorizer = Vectorizer(min_df=2, stop_words=["the"])
    assert set(vars(vectorizer)) == set(vectorizer.get_params())
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    V = make_pipeline(vectorizer, Weighting()).fit_transform(TEXTS)
    assert V.shape == (3, 3)


def test_zero_documents_and_empty_documents() -> None:
    vectorizer = Vectorizer().fit(TEXTS)
    assert vectorizer.transform([]).shape == (0, len(vectorizer.terms_))
    assert vectorizer.transform(["", "x", "unknown words"]).nnz == 0
    assert Vectorizer(ngram_range=(1, 3)).fit(["", "aa"]).transform(["", "aa aa"]).toarray().tolist() == [
        [0],
        [2],
    ]
    for empty in ([], ["", "x"]):
        with pytest.raises(DataError):
            Vectorizer().fit(empty)
    with pytest.raises(DataError, match="no documents"):
        Vectorizer().partial_fit([]).finish()


@pytest.mark.parametrize("wrong", [None, 3.5, b"bytes", ["list"], float("nan")])
def test_errors_name_the_position_of_what_is_not_a_text(wrong: Any) -> None:
    with pytest.raises(DataError, match="Document 1 is"):
        Vectorizer().fit(["fine", wrong])
    with pytest.raises(DataError, match="Field 'title' of document 1 is"):
        Vectorizer(fields=["title"]).fit(["fine", {"title": wrong}])


@pytest.mark.parametrize("single", ["one text", {"title": "one"}, b"bytes"])
def test_a_single_text_is_not_a_list_of_texts(single: Any) -> None:
    with pytest.raises(DataError, match="Put the document in a list"):
        Vectorizer().fit(single)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tokens": "[unclosed"}, "tokens must be"),
        ({"tokens": "(a)(b)"}, "at most one group"),
        ({"tokens": "(a+)+$"}, "backtracks"),
        ({"tokens": r"(?:\w+\s?)*!"}, "backtracks"),
        ({"tokens": "(" * 1500}, "tokens must be"),
        ({"ngram_range": (1, 2**31)}, "ngram_range must be"),
        ({"analyzer": "words"}, "Did you mean 'word'"),
        ({"ngram_range": (2, 1)}, "ngram_range must be"),
        ({"ngram_range": (0, 1)}, "ngram_range must be"),
        ({"stop_words": "klingon"}, "stop_words must be"),
        ({"strip_accents": "yes"}, "strip_accents must be"),
        ({"min_df": 1.5}, "min_df must be"),
        ({"min_df": 0}, "min_df must be"),
        ({"min_df": 3, "max_df": 2}, "Lower min_df"),
        ({"max_features": 0}, "max_features must be"),
        ({"fields": "title"}, "fields must be"),
        ({"n_hashes": 8, "min_df": 2}, "no vocabulary to prune"),
        ({"n_hashes": 8, "min_df": 1.0}, "no vocabulary to prune"),
        ({"n_hashes": 8, "max_df": 1}, "no vocabulary to prune"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_settings_raise_an_error_that_explains_them(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Vectorizer(**settings).fit(TEXTS)


def test_the_error_for_an_unknown_stemmer_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="'english'"):
        Vectorizer(stemmer="englisch").fit(TEXTS)
    with pytest.raises(UnknownNameError, match="'german'"):
        stop_words("germn")


def test_before_fit_there_is_nothing_to_transform() -> None:
    with pytest.raises(NotFittedError):
        Vectorizer().transform(TEXTS)
    with pytest.raises(NotFittedError):
        Vectorizer().terms_  # noqa: B018


def test_prune_needs_the_matrix_of_count() -> None:
    vectorizer = Vectorizer()
    X = vectorizer.count(TEXTS)
    with pytest.raises(ParameterError, match="matrix that count returned"):
        vectorizer.prune(X[:, :2])


def test_an_interrupt_stops_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kernels, "tokenize", interrupted)
    for n_jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            Vectorizer(n_jobs=n_jobs).fit(["a long text " * 50_000] * 4)


def test_importing_the_features_imports_neither_scikit_learn_nor_the_stemmer() -> None:
    code = (
        "import sys; from manylabel.features import Vectorizer; Vectorizer().fit(['aa']).transform(['aa']);"
        "print([name for name in ('sklearn', 'Stemmer', 'pandas', 'scipy.stats') if name in sys.modules])"
    )
    path = "import sys; sys.path[:0] = " + repr(sys.path) + "; "
    run = subprocess.run([sys.executable, "-c", path + code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_language_is_guessed_and_kept() -> None:
    vectorizer = Vectorizer(stemmer="auto").fit(["the holes in the roads", "late buses and a late bus"])
    assert vectorizer.stemmer_ == "english"
    assert row(vectorizer, "hole, bus, roads") == {"hole": 1, "bus": 1, "road": 1}
    again = Vectorizer(stemmer="auto").restore(vectorizer.learned_state())
    assert again.stemmer_ == "english"
    assert row(again, "holes") == {"hole": 1}
    german = Vectorizer(stemmer="auto").fit(["die Löcher in der Straße und auf dem Platz", "der Bus ist nicht da"])
    assert german.stemmer_ == "german"
    assert german.fit(["bus late holes roads"]).stemmer_ is None  # learned anew: no function words, no language
    assert german.terms_ == ["bus", "holes", "late", "roads"]


def test_batches_are_stemmed_as_the_first_one_is() -> None:
    vectorizer = Vectorizer(stemmer="auto").partial_fit(["the holes in the roads"]).partial_fit(["der Bus ist da"])
    assert vectorizer.stemmer_ == "english"


def test_an_unknown_language_raises_an_error() -> None:
    state = Vectorizer(stemmer="auto").fit(["the bus is in the road"]).learned_state()
    with pytest.raises(UnknownNameError, match="klingon"):
        Vectorizer(stemmer="auto").restore({**state, "stemmer_": "klingon"})
    with pytest.raises(UnknownNameError, match="english"):
        Vectorizer(stemmer="englsh").fit(["the bus"])
