"""Each compiled text kernel against its plain twin."""

from __future__ import annotations

import importlib
import inspect
import os
import subprocess
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manylabel.kernels import active
from manylabel.kernels import text as kernels
from manylabel.kernels import text_reference as reference

HOMES = {
    "tokenize": "tokens",
    "character_ngrams": "characters",
    "hash_terms": "characters",
    "merge_words": "words",
    "spelled": "words",
    "count_terms": "counting",
    "column_totals": "counting",
    "intern_pairs": "counting",
}
ODD = "aAbB zZ09_-'İIıΣσςßẞſKÅ éÉÀÿ日本語यह1٣²½Ⅷ\n\t\r\x1c\x85\u00a0\u2003\u200d\u3000\ud800\udfff\0😀𝔘𐐀"
MIXED = st.text(st.one_of(st.characters(), st.sampled_from(ODD)), max_size=40)
TEXTS = st.lists(MIXED, max_size=6)
MODES = [("words", True), ("words", False), ("letters", True), ("letters", False)]


def compiled(name: str) -> Any:
    try:
        module: ModuleType = importlib.import_module(f"manylabel.kernels.{HOMES[name]}")
    except ImportError:
        pytest.skip("the kernels were not compiled here")
    return getattr(module, name)


def assert_same(ours: tuple[Any, ...], twin: tuple[Any, ...]) -> None:
    assert len(ours) == len(twin)
    for a, b in zip(ours, twin, strict=True):
        if isinstance(b, list):
            assert kernels.spelled(a) == b
        else:
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", HOMES)
def test_twins_have_the_same_parameters(name: str) -> None:
    twin = inspect.signature(getattr(reference, name)).parameters
    assert list(inspect.signature(compiled(name)).parameters) == list(twin)


@pytest.mark.parametrize(("mode", "lowercase"), MODES)
@settings(max_examples=150, deadline=None)
@given(texts=TEXTS)
def test_tokenize_equals_its_twin(mode: str, lowercase: bool, texts: list[str]) -> None:
    assert_same(compiled("tokenize")(texts, mode, lowercase), reference.tokenize(texts, mode, lowercase))


@pytest.mark.parametrize(("mode", "lowercase"), MODES)
def test_tokenize_classes_every_code_point_as_re_does(mode: str, lowercase: bool) -> None:
    texts = [
        "".join(f"{chr(code)}x {chr(code)}Y," for code in range(start, start + 4096))
        for start in range(0, 0x110000, 4096)
        # private planes 4 to 13 hold no assigned character: one block of each is enough
        if not 0x40000 <= start < 0xE0000 or start % 0x10000 == 0
    ]
    assert_same(compiled("tokenize")(texts, mode, lowercase), reference.tokenize(texts, mode, lowercase))


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""],
        ["a"],
        ["_"],
        ["ab"],
        ["a", "b", ""],
        ["ab" * 50_000, "ab" * 50_000 + "c", "ab" * 50_000],
        ["12345678 123456789 1234567 12345678x 123456789"],
        ["é" * 8, "é" * 9, "日" * 2, "日" * 3, "日é", "é日"],
        ["ΑΣ ΑΣΑ", "İİ II ıı", "K k"],
        ["x\0y zz\0zz"],
        ["\ud800\udc00 ab\ud800cd"],
        ["straße 日本 STRASSE 😀ab😀"],
    ],
)
@pytest.mark.parametrize(("mode", "lowercase"), MODES)
def test_tokenize_at_its_edges(texts: list[str], mode: str, lowercase: bool) -> None:
    assert_same(compiled("tokenize")(texts, mode, lowercase), reference.tokenize(texts, mode, lowercase))


def test_the_same_word_has_one_number_in_strings_of_each_width() -> None:
    narrow, two, four = "cafe été", "cafe été 日", "cafe été 😀"
    ids, _, words = compiled("tokenize")([narrow, two, four], "words", True)
    assert kernels.spelled(words) == ["cafe", "été"]
    assert ids.tolist() == [0, 1] * 3


def test_tables_grow_with_the_vocabulary() -> None:
    texts = [" ".join(f"word{number}" for number in range(start, start + 1000)) for start in range(0, 150_000, 1000)]
    texts += [*texts[:3], "日本" + texts[0]]
    assert_same(compiled("tokenize")(texts, "words", True), reference.tokenize(texts, "words", True))


@settings(max_examples=200, deadline=None)
@given(stretches=st.lists(TEXTS, max_size=4), ngrams=st.booleans())
def test_merged_words_are_in_the_order_of_python(stretches: list[list[str]], ngrams: bool) -> None:
    """Words of all widths, runs of characters with blanks and NUL among them."""
    name, options = ("character_ngrams", (1, 3, False)) if ngrams else ("tokenize", ("words", False))
    packed = [compiled(name)(texts, *options)[2] for texts in stretches]
    names, places = compiled("merge_words")(packed)
    expected, expected_places = reference.merge_words([reference.spelled(words) for words in packed])
    assert names == expected == sorted(set(names))
    for words, place, twin in zip(packed, places, expected_places, strict=True):
        assert compiled("spelled")(words) == reference.spelled(words) == [names[at] for at in place]
        np.testing.assert_array_equal(place, twin)
        assert place.dtype == twin.dtype


def test_many_words_of_one_beginning_are_sorted() -> None:
    texts = [" ".join(f"identical{number * 7919 % 5003:05d}" for number in range(5003)), "identical identic ident"]
    names, _ = compiled("merge_words")([compiled("tokenize")([text], "words", True)[2] for text in texts])
    assert names == sorted(set(" ".join(texts).split()))


@pytest.mark.parametrize("which", ["merge_words", "spelled"])
def test_words_whose_starts_do_not_fit_are_refused(which: str) -> None:
    wrong = (np.zeros(3, np.uint8), np.array([0, 4], np.int64), np.zeros(1, np.uint8))
    with pytest.raises(IndexError, match="starts"):
        compiled(which)([wrong] if which == "merge_words" else wrong)


@pytest.mark.parametrize(("mode", "lowercase"), MODES)
@settings(max_examples=100, deadline=None)
@given(known=TEXTS, texts=TEXTS)
def test_a_word_counter_counts_as_its_twin(mode: str, lowercase: bool, known: list[str], texts: list[str]) -> None:
    words = kernels.spelled(reference.tokenize(known, mode, lowercase)[2])
    compiled("tokenize")
    ours, twin = (module.WordCounter(words, mode, lowercase) for module in (kernels, reference))
    for text in [*texts, *known, " ".join(known * 3), ""]:
        assert_same(ours.count(text), twin.count(text))


@pytest.mark.parametrize("words", [["bus", "bus"], ["bus", ""]])
def test_a_word_counter_takes_each_word_once(words: list[str]) -> None:
    for counter in (kernels.WordCounter, reference.WordCounter):
        with pytest.raises(ValueError, match=r"Word 1, .*, is empty or there twice"):
            counter(words, "words", True)


@settings(max_examples=100, deadline=None)
@given(cells=st.lists(st.tuples(st.integers(0, 6), st.integers(-3, 1 << 40)), max_size=30))
def test_column_totals_equal_their_twin(cells: list[tuple[int, int]]) -> None:
    table = np.array(cells, dtype=np.int64).reshape(-1, 2)
    arguments = (table[:, 0].astype(np.int32), np.ascontiguousarray(table[:, 1]), 7)
    assert_same(compiled("column_totals")(*arguments), reference.column_totals(*arguments))
    if len(cells):
        for totals in (compiled("column_totals"), reference.column_totals):
            with pytest.raises(IndexError, match="out of bounds"):
                totals(arguments[0] + np.int32(7), arguments[1], 7)


def test_a_text_may_be_of_a_class_derived_from_str() -> None:
    class Title(str):
        __slots__ = ()

    for text in (Title("big bus"), np.str_("big bus")):
        assert kernels.spelled(compiled("tokenize")([text], "words", True)[2]) == ["big", "bus"]


@pytest.mark.parametrize("wrong", [None, 3, b"bytes", ["list"]])
def test_what_is_no_text_is_named_by_its_position(wrong: object) -> None:
    with pytest.raises(TypeError, match="Document 1 is"):
        compiled("tokenize")(["fine", wrong], "words", True)


@pytest.mark.parametrize("which", [reference, None])
def test_an_unknown_mode_is_refused(which: ModuleType | None) -> None:
    tokenize = reference.tokenize if which else compiled("tokenize")
    with pytest.raises(ValueError, match="'words' or 'letters'"):
        tokenize(["a"], "sentences", True)


@settings(max_examples=150, deadline=None)
@given(texts=TEXTS, n_min=st.integers(1, 4), more=st.integers(0, 8), within=st.booleans())
def test_character_ngrams_equal_their_twin(texts: list[str], n_min: int, more: int, within: bool) -> None:
    arguments = (texts, n_min, n_min + more, within)
    assert_same(compiled("character_ngrams")(*arguments), reference.character_ngrams(*arguments))


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("texts", [[], [""], [" "], ["a"], ["a\0", "a"], ["  a \n\n b "], ["ab" * 3000]])
def test_character_ngrams_at_their_edges(texts: list[str], within: bool) -> None:
    for n_min, n_max in [(1, 1), (1, 3), (3, 9), (12, 12)]:
        ours = compiled("character_ngrams")(texts, n_min, n_max, within)
        assert_same(ours, reference.character_ngrams(texts, n_min, n_max, within))


@settings(max_examples=100, deadline=None)
@given(st.lists(MIXED, max_size=10))
def test_hashes_equal_their_twin(terms: list[str]) -> None:
    np.testing.assert_array_equal(compiled("hash_terms")(terms), reference.hash_terms(terms))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2**31 - 1) | st.integers(0, 3), st.integers(0, 3)), max_size=50))
def test_pairs_equal_their_twin(pairs: list[tuple[int, int]]) -> None:
    left = np.array([pair[0] for pair in pairs], dtype=np.int32)
    right = np.array([pair[1] for pair in pairs], dtype=np.int32)
    assert_same(compiled("intern_pairs")(left, right), reference.intern_pairs(left, right))


def test_pairs_beyond_the_first_table() -> None:
    left = np.random.default_rng(0).integers(0, 300, 50_000, dtype=np.int32)
    right = np.random.default_rng(1).integers(0, 300, 50_000, dtype=np.int32)
    assert_same(compiled("intern_pairs")(left, right), reference.intern_pairs(left, right))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_counts_equal_their_twin(data: st.DataObject) -> None:
    n_ids = data.draw(st.integers(1, 20))
    n_columns = data.draw(st.sampled_from([1, 2, 63, 64, 65, 4095, 4096, 4097, 300_000]))
    documents = data.draw(st.lists(st.lists(st.integers(0, n_ids - 1), max_size=12), max_size=6))
    columns = data.draw(st.lists(st.integers(-1, n_columns - 1), min_size=n_ids, max_size=n_ids))
    ids = np.array([token for document in documents for token in document], dtype=np.int32)
    starts = np.cumsum([0] + [len(document) for document in documents])
    arguments = (ids, starts, np.array(columns, dtype=np.int32), n_columns)
    assert_same(compiled("count_terms")(*arguments), reference.count_terms(*arguments))


@pytest.mark.parametrize("which", ["compiled", "plain"])
@pytest.mark.parametrize(
    ("ids", "starts", "columns"),
    [
        ([5], [0, 1], [0]),
        ([-1], [0, 1], [0]),
        ([0], [0, 1], [7]),
        ([0], [0, 2], [0]),
        ([0, 0], [0, 2, 1], [0]),
    ],
)
def test_counting_refuses_numbers_out_of_bounds(
    which: str, ids: list[int], starts: list[int], columns: list[int]
) -> None:
    count = compiled("count_terms") if which == "compiled" else reference.count_terms
    with pytest.raises(IndexError):
        count(np.array(ids, np.int32), np.array(starts, np.int64), np.array(columns, np.int32), 7)


def test_the_arrays_are_wide_enough_for_any_corpus() -> None:
    for name in ("tokenize", "character_ngrams"):
        arguments = (["ab"], "words", True) if name == "tokenize" else (["ab"], 1, 2, False)
        ids, indptr, _ = compiled(name)(*arguments)
        assert (ids.dtype, indptr.dtype) == (np.int32, np.int64)


@pytest.mark.parametrize(("plain", "expected"), [("1", "plain Python"), ("0", None), ("", None)])
def test_the_plain_twins_can_be_requested(plain: str, expected: str | None) -> None:
    code = "from manylabel.kernels import active, text; print(active(), text.COMPILED)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"MANYLABEL_PLAIN": plain, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    expected = expected or (
        "plain Python" if importlib.util.find_spec("manylabel.kernels.tokens") is None else "compiled"
    )
    assert run.stdout.strip() == f"{expected} {expected == 'compiled'}"


def test_active_names_the_kernels_in_use() -> None:
    assert active() == ("compiled" if kernels.COMPILED else "plain Python")
