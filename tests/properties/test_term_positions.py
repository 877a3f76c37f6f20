"""Laws of positions: every count of a term has its place in the text, and the characters there produce the term."""

import html
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manylabel.estimator import Csr
from manylabel.features.pipeline import FeaturePipeline
from manylabel.features.positions import Aligned, term_places, vectorizer_places
from manylabel.features.scripts import without_markup
from manylabel.features.vectorize import Vectorizer

WORDS = [
    "Buses", "bus", "late", "LATE", "Straße", "İstanbul", "ΟΔΟΣ", "οδός", "café", "CAFE\u0301", "naïve", "łódź",
    "公交车晚点", "バスが遅れた", "बस देर से", "הרכבת", "القطار", "x2", "a", "ﬁne", "Å", "½ hour", "don't", "😀",
    "e\u0301\u0323", "می\u200cخواهم",
]  # fmt: skip
BETWEEN = [" ", "  ", "\n", "\t \u00a0", ", ", "-", ""]
MARKUP = ["<p>", "<br/>", "</p>", "&amp;", "&nbsp;", "&eacute;", "&#246;", "&#x1F600;", "&notit;", "<!-- bus -->", "<"]
texts = st.lists(st.tuples(st.sampled_from([*WORDS, *MARKUP]), st.sampled_from(BETWEEN)), max_size=12).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)
SETTINGS: list[dict[str, Any]] = [
    {},
    {"stemmer": "english", "stop_words": ["late"]},
    {"stemmer": "german", "ngram_range": (1, 3)},
    {"lowercase": False, "ngram_range": (2, 2)},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii", "tokens": "letters"},
    {"tokens": "letters"},
    {"tokens": "letters", "lowercase": False},
    {"tokens": "pairs"},
    {"tokens": "marked", "markup": "strip"},
    {"tokens": r"(\w)\w*", "ngram_range": (1, 2)},
    {"markup": "strip", "strip_accents": "unicode", "stemmer": "english"},
    {"analyzer": "char", "ngram_range": (2, 3)},
    {"analyzer": "char_wb", "ngram_range": (2, 4), "markup": "strip"},
    {"analyzer": "char_wb", "ngram_range": (3, 3), "strip_accents": "unicode"},
    {"n_hashes": 64},
]
pytestmark = pytest.mark.filterwarnings("ignore::manylabel.exceptions.ManylabelWarning")
some = settings(max_examples=40, deadline=None)


def counts(vectorizer: Vectorizer, document: Any) -> dict[int, int]:
    X = vectorizer.transform([document])
    return dict(zip(X.indices.tolist(), X.data.tolist(), strict=True))


def slices(document: Any, pieces: Any) -> list[str]:
    fields = [document] if isinstance(document, str) else list(document.values())
    return [fields[field][start:end] for field, start, end in pieces]


@pytest.mark.parametrize("given_settings", SETTINGS, ids=repr)
@some
@given(text=texts)
def test_every_count_has_a_place(given_settings: dict[str, Any], text: str) -> None:
    vectorizer = Vectorizer(**given_settings).fit([text, "bus " * 3])
    places = vectorizer_places(vectorizer, text)
    assert {column: len(found) for column, found in places.items()} == counts(vectorizer, text)
    for found in places.values():
        for pieces in found:
            assert all(0 <= start < end <= len(text) for _, start, end in pieces)


@pytest.mark.parametrize("given_settings", [one for one in SETTINGS if one.get("analyzer") is None], ids=repr)
@some
@given(text=texts)
def test_the_words_at_a_place_produce_the_term(given_settings: dict[str, Any], text: str) -> None:
    """The words alone, a blank between them, have the same term; and each word is whole, but for a pattern's group."""
    vectorizer = Vectorizer(**given_settings).fit([text, "bus " * 3])
    grouped = "(" in vectorizer.tokens_
    for column, found in vectorizer_places(vectorizer, text).items():
        for pieces in found:
            if grouped or not pieces:
                continue
            alone = " ".join(slices(text, pieces))
            assert column in counts(vectorizer, alone), (vectorizer.get_feature_names_out()[column], alone)


@some
@given(text=texts)
def test_runs_of_characters_stand_where_they_were_read(text: str) -> None:
    """A run of plain characters is the very stretch, but for lower case and joined blanks."""
    vectorizer = Vectorizer(analyzer="char", ngram_range=(2, 3)).fit([text, "bus"])
    names = vectorizer.get_feature_names_out()
    for column, found in vectorizer_places(vectorizer, text).items():
        for pieces in found:
            (piece,) = slices(text, pieces)
            assert (
                "İ" in piece
                or " ".join(piece.lower().split()) == " ".join(names[column].split())
                or "ς" in piece + names[column]
            )


@some
@given(texts)
def test_markup_is_removed_as_the_vectorizer_does(text: str) -> None:
    aligned = Aligned.of(text).without_markup()
    assert aligned.text == without_markup(text)
    assert len(aligned.starts) == len(aligned.ends) == len(aligned.text)
    assert list(aligned.starts) == sorted(aligned.starts)


@some
@given(title=texts, body=texts)
def test_fields(title: str, body: str) -> None:
    document = {"title": title, "body": body}
    for fields in (None, ("title", "body"), ("title", "*")):
        vectorizer = Vectorizer(fields=fields).fit([document, "bus"])
        places = vectorizer_places(vectorizer, document)
        names = vectorizer.get_feature_names_out()
        assert {column: len(found) for column, found in places.items()} == counts(vectorizer, document)
        for column, found in places.items():
            term = names[column].removeprefix("title:").removeprefix("body:")
            for pieces in found:
                assert [piece.lower() for piece in slices(document, pieces)] == [term] or "İ" in title + body


def test_a_run_over_joined_fields_is_divided() -> None:
    document = {"title": "late bus", "body": "again"}
    vectorizer = Vectorizer(ngram_range=(2, 2)).fit([document])
    found = vectorizer_places(vectorizer, document)[vectorizer.vocabulary_["bus again"]]
    assert found == [((0, 5, 8), (1, 0, 5))]


def test_references_are_placed_whole() -> None:
    text = "caf&eacute; <b>bus</b>"
    vectorizer = Vectorizer(markup="strip").fit([text])
    places = {
        vectorizer.terms_[column]: slices(text, found[0])
        for column, found in vectorizer_places(vectorizer, text).items()
    }
    assert places == {"café": ["caf&eacute;"], "bus": ["bus"]}
    assert html.unescape(places["café"][0]) == "café"


def test_keyword_rules_and_selected_columns() -> None:
    texts = ["the late bus", "a road with holes", "bus and road", "late again"]
    Y = Csr(np.array([[1, 0], [0, 1], [1, 1], [1, 0]]))
    rules = 'buses: "late bus" OR tram\nroads: road AND NOT bus\n'
    pipeline = FeaturePipeline({"n_hashes": 64}, {"function": "chi2", "k": 4})
    X = pipeline.fit_transform(texts, Y, rules=rules, labels=["buses", "roads"]).X
    document = "The LATE bus on the road"
    places = term_places(pipeline, document)
    assert X.shape[1] == 6
    assert [slices(document, pieces) for pieces in places[4]] == [["LATE", "bus"]]
    assert [slices(document, pieces) for pieces in places[5]] == [["road"]]
    row = pipeline.transform([document])
    assert {column for column in places if column < 4} == {column for column in row.indices.tolist() if column < 4}
