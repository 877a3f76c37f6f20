"""Laws of the vectorizer and the weighting, for texts in any mixture of scripts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.features import Vectorizer, Weighting, terms
from manylabel.kernels import text as kernels
from manylabel.kernels import text_reference as reference

NAMES = ("tokenize", "character_ngrams", "hash_terms", "count_terms", "column_totals", "intern_pairs")
ODD = "aAbB zZ09_-'İIıΣσςßẞſKÅ éÉÀÿ日本語यह1٣²½Ⅷ\n\t\u00a0\u2003\u200d\ud800\udfff\0😀𝔘𐐀"
MIXED = st.text(st.one_of(st.characters(), st.sampled_from(ODD)), max_size=40)
WORDY = st.lists(st.sampled_from(["bus", "Bus", "road", "été", "日本", "a", "the", "ΣΑΣ", "late"])).map(" ".join)
TEXTS = st.lists(MIXED | WORDY, min_size=1, max_size=6)
KERNELS = pytest.mark.parametrize("which", ["compiled", "plain Python"])
SETTINGS = st.fixed_dictionaries(
    {
        "analyzer": st.sampled_from(["word", "char", "char_wb"]),
        "lowercase": st.booleans(),
        "strip_accents": st.sampled_from([None, "unicode", "ascii"]),
        "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 3)]),
        "min_df": st.sampled_from([1, 2, 0.3]),
        "max_df": st.sampled_from([1.0, 0.7]),
    }
)


@contextmanager
def using(which: str) -> Iterator[None]:
    if which == "compiled" and not kernels.COMPILED:
        pytest.skip("the kernels were not compiled here")
    with pytest.MonkeyPatch.context() as patch:
        for name in NAMES if which == "plain Python" else ():
            patch.setattr(kernels, name, getattr(reference, name))
        yield


def learned(vectorizer: Vectorizer) -> tuple[Any, ...]:
    return vectorizer.terms_, vectorizer.document_frequency_.tolist(), vectorizer.n_documents_


def same(a: Any, b: Any) -> bool:
    return bool(a.shape == b.shape and (a != b).nnz == 0)


@KERNELS
@settings(max_examples=100, deadline=None)
@given(texts=TEXTS)
def test_tokens_are_those_of_re(which: str, texts: list[str]) -> None:
    with using(which):
        ids, starts, packed = kernels.tokenize(texts, "words", True)
        words = kernels.spelled(packed)
    found = [[words[i] for i in ids[a:b]] for a, b in itertools.pairwise(starts)]
    assert found == [re.findall(r"(?u)\b\w\w+\b", text.lower()) for text in texts]


@KERNELS
@settings(max_examples=120, deadline=None)
@given(texts=TEXTS, options=SETTINGS)
def test_the_vectorizer_is_count_vectorizer(which: str, texts: list[str], options: dict[str, Any]) -> None:
    theirs = CountVectorizer(**options)
    with using(which):
        mine = Vectorizer(**options)
        try:
            expected = theirs.fit_transform(texts)
        except ValueError:  # no term left: both must refuse
            with pytest.raises(ValueError):
                mine.fit_transform(texts)
            return
        X = mine.fit_transform(texts)
        assert same(X, expected)
        assert mine.terms_ == theirs.get_feature_names_out().tolist()
        assert same(mine.transform(texts), X)


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, options=SETTINGS, data=st.data())
def test_learning_in_batches_equals_learning_at_once(
    texts: list[str], options: dict[str, Any], data: st.DataObject
) -> None:
    ends = sorted(data.draw(st.lists(st.integers(0, len(texts)), max_size=3)))
    bounds = [0, *ends, len(texts)]
    batches = Vectorizer(**options)
    for start, end in itertools.pairwise(bounds):
        batches.partial_fit(texts[start:end])
    try:
        whole = Vectorizer(**options).fit(texts)
    except ValueError as error:
        with pytest.raises(type(error)):
            batches.terms_  # noqa: B018
        return
    assert learned(batches) == learned(whole)
    assert same(batches.transform(texts), whole.transform(texts))


@settings(max_examples=40, deadline=None)
@given(texts=TEXTS, options=SETTINGS, n_jobs=st.integers(2, 4), fields=st.sampled_from([None, ("title", "body")]))
def test_threads_do_not_change_the_result(
    texts: list[str], options: dict[str, Any], n_jobs: int, fields: tuple[str, ...] | None
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms, "MIN_CHARACTERS", 4)  # otherwise so short a text stays with one thread
        patch.setattr(terms, "MAX_CHARACTERS", 16)
        documents = [{"title": text[:3], "body": text[3:]} for text in texts] if fields else texts
        one, many = (Vectorizer(fields=fields, n_jobs=n, **options) for n in (1, n_jobs))
        try:
            X = one.fit_transform(documents)
        except ValueError:
            return
        assert same(many.fit_transform(documents), X)
        assert learned(many) == learned(one)
        assert same(many.transform(documents), X)


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS)
def test_a_document_counts_the_same_alone_and_among_others(texts: list[str]) -> None:
    try:
        vectorizer = Vectorizer().fit(texts)
    except DataError:
        return
    X = vectorizer.transform(texts)
    for row, text in enumerate(texts):
        assert same(vectorizer.transform([text]), X[row : row + 1])


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, options=SETTINGS)
def test_saving_and_restoring_is_the_identity(texts: list[str], options: dict[str, Any]) -> None:
    try:
        vectorizer = Vectorizer(**options).fit(texts)
    except ValueError:
        return
    restored = Vectorizer(**vectorizer.get_params()).restore(vectorizer.learned_state())
    assert learned(restored) == learned(vectorizer)
    assert same(restored.transform(texts), vectorizer.transform(texts))


COUNTS = st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=1, max_size=8).map(np.array)
WEIGHTS = st.fixed_dictionaries(
    {
        "tf": st.sampled_from(["raw", "log", "binary"]),
        "idf": st.sampled_from(["none", "plain", "smooth"]),
        "norm": st.sampled_from([None, "l1", "l2"]),
    }
)


@settings(max_examples=100, deadline=None)
@given(counts=COUNTS, options=WEIGHTS, n_first=st.integers(0, 8))
def test_weights_learned_in_batches_and_from_any_matrix_are_equal(
    counts: Any, options: dict[str, str], n_first: int
) -> None:
    whole = Weighting(**options).fit(Csr(counts))
    batches = Weighting(**options).partial_fit(Csr(counts[:n_first])).partial_fit(Csr(counts[n_first:]))
    expected = whole.transform(Csr(counts)).toarray()
    assert np.isfinite(expected).all()
    unsorted = Csr(counts)
    for start, end in zip(unsorted.indptr[:-1], unsorted.indptr[1:], strict=True):
        unsorted.indices[start:end] = unsorted.indices[start:end][::-1].copy()
        unsorted.data[start:end] = unsorted.data[start:end][::-1].copy()
    unsorted.has_sorted_indices = False
    for X in (counts, Csr(counts), Csr(counts).tocsc(), unsorted):
        np.testing.assert_allclose(batches.transform(X).toarray(), expected, rtol=1e-12)


@settings(max_examples=100, deadline=None)
@given(counts=COUNTS, options=WEIGHTS)
def test_documents_have_length_one_or_zero(counts: Any, options: dict[str, str]) -> None:
    if options["norm"] is None:
        return
    V = Weighting(**options).fit_transform(Csr(counts)).toarray()
    lengths = np.abs(V).sum(axis=1) if options["norm"] == "l1" else np.sqrt((V**2).sum(axis=1))
    assert all(length == pytest.approx(1) or length == 0 for length in lengths)
