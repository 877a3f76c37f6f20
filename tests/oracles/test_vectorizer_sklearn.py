"""The vectorizer against scikit-learn's CountVectorizer and HashingVectorizer, compiled and plain alike."""

from __future__ import annotations

import gzip
import html
import json
import os
import re
import tarfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer

from manylabel.estimator import Csr
from manylabel.features import Vectorizer, Weighting
from manylabel.kernels import text as kernels
from manylabel.kernels import text_reference as reference

TEXTS = [
    "The bus was late again: Straße, ΣΑΣ and İstanbul.",
    "",
    "late bus x y zz \n\n zz! über, lade_lade 12 1",
    "the the the bus late, Bus late",
    "日本語テキスト été déjà  ß naïve ﬁne ①②",
    "x",
    "K Å ſ 😀 😀😀 a\0b \ud800ab नमस्ते दुनिया",
]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"lowercase": False},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 4)},
    {"stop_words": ["bus", "the"], "ngram_range": (1, 3)},
    {"analyzer": "char"},
    {"analyzer": "char", "ngram_range": (1, 4)},
    {"analyzer": "char", "ngram_range": (3, 3), "lowercase": False},
    {"analyzer": "char_wb", "ngram_range": (2, 5)},
    {"analyzer": "char_wb", "ngram_range": (9, 12)},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii"},
    {"strip_accents": "unicode", "lowercase": False},
    {"strip_accents": "unicode", "analyzer": "char_wb", "ngram_range": (2, 3)},
    {"min_df": 2},
    {"max_df": 2},
    {"min_df": 0.2, "max_df": 0.4},
    {"min_df": 2, "ngram_range": (1, 2)},
    {"max_features": 2},
    {"token_pattern": r"(?u)\b\w+\b"},
    {"token_pattern": r"[^\s,.:!]+", "ngram_range": (1, 2)},
    {"token_pattern": r"(\w)\w*", "ngram_range": (1, 2)},
    {"token_pattern": r"late bus|\w\w+", "ngram_range": (1, 2)},  # the token "late bus" reads like a pair of tokens
]


@pytest.fixture(params=["compiled", "plain Python"], autouse=True)
def chosen(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run every test with the compiled kernels and with their twins."""
    if request.param == "compiled" and not kernels.COMPILED:
        pytest.skip("the kernels were not compiled here")
    if request.param == "plain Python":
        for name in ("tokenize", "character_ngrams", "hash_terms", "count_terms", "column_totals", "intern_pairs"):
            monkeypatch.setattr(kernels, name, getattr(reference, name))
    return request.param


def ours(settings: dict[str, Any], **more: Any) -> Vectorizer:
    names = {"token_pattern": "tokens"}
    return Vectorizer(**{names.get(name, name): value for name, value in settings.items()}, **more)


def assert_equal(a: Any, b: Any) -> None:
    """The same matrix, array by array; scikit-learn leaves rows unsorted, ours are sorted."""
    b = b.sorted_indices()
    assert a.shape == b.shape
    assert a.dtype == b.dtype
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_counts_names_and_transform_are_those_of_count_vectorizer(settings: dict[str, Any]) -> None:
    theirs, mine = CountVectorizer(**settings), ours(settings)
    expected = theirs.fit_transform(TEXTS)
    X = mine.fit_transform(TEXTS)
    assert_equal(X, expected)
    assert mine.terms_ == theirs.get_feature_names_out().tolist() == mine.get_feature_names_out().tolist()
    assert mine.vocabulary_ == theirs.vocabulary_
    new = ["Unknown words, the bus", "", "déjà vu, late late"]
    assert_equal(mine.transform(new), theirs.transform(new))


@pytest.mark.filterwarnings("ignore:tokens = 'letters' reads only")
def test_letters_are_the_pattern_a_to_z() -> None:
    """D-2: the tokens assumed for Vilar, Castro & Sanchis 2004."""
    theirs = CountVectorizer(token_pattern="[a-z]+")
    assert_equal(Vectorizer(tokens="letters").fit_transform(TEXTS), theirs.fit_transform(TEXTS))
    theirs = CountVectorizer(token_pattern="[A-Za-z]+", lowercase=False)
    assert_equal(Vectorizer(tokens="letters", lowercase=False).fit_transform(TEXTS), theirs.fit_transform(TEXTS))


@pytest.mark.parametrize("settings", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char", "ngram_range": (2, 3)}])
@pytest.mark.parametrize("n_hashes", [1, 16, 1000, 2**20])
def test_hashed_columns_are_those_of_hashing_vectorizer(settings: dict[str, Any], n_hashes: int) -> None:
    texts = [text.replace("\ud800", "") for text in TEXTS]  # it cannot hash half a surrogate pair
    theirs = HashingVectorizer(n_features=n_hashes, alternate_sign=False, norm=None, **settings)
    X, expected = ours(settings, n_hashes=n_hashes).fit_transform(texts), theirs.transform(texts)
    assert X.shape == expected.shape
    assert (expected != X).nnz == 0


@pytest.mark.parametrize("sublinear", [False, True])
@pytest.mark.parametrize("norm", [None, "l1", "l2"])
def test_smooth_weights_are_those_of_tfidf_transformer(sublinear: bool, norm: str | None) -> None:
    X = Csr(np.random.default_rng(3).poisson(0.3, (40, 30)))
    theirs = TfidfTransformer(smooth_idf=True, sublinear_tf=sublinear, norm=norm).fit_transform(X)
    mine = Weighting(tf="log" if sublinear else "raw", idf="smooth", norm=norm).fit_transform(X)
    np.testing.assert_allclose(mine.toarray(), theirs.toarray(), rtol=1e-12)


def data_file(name: str) -> Path:
    folder = os.environ.get("MANYLABEL_DATA")
    if not folder:
        pytest.skip("MANYLABEL_DATA is not set: the real corpora are not at hand")
    path = Path(folder) / name
    if not path.exists():
        pytest.skip(f"{name} is not in MANYLABEL_DATA")
    return path


@lru_cache(maxsize=1)
def reuters(path: Path) -> list[str]:
    texts: list[str] = []
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            if member.name.endswith(".sgm") and (stream := archive.extractfile(member)):
                sgml = stream.read().decode("latin-1")
                texts += [html.unescape(text) for text in re.findall(r"<TEXT.*?>(.*?)</TEXT>", sgml, re.DOTALL)]
    return texts


@lru_cache(maxsize=1)
def debtags(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [" ".join(str(value) for value in json.loads(line).values()) for line in lines]


@lru_cache(maxsize=4)
def expected_counts(corpus: str, path: Path) -> tuple[Any, list[str]]:
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(reuters(path) if corpus == "reuters" else debtags(path))
    return X, vectorizer.get_feature_names_out().tolist()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_reuters_counts_are_those_of_count_vectorizer(n_jobs: int) -> None:
    path = data_file("reuters21578/reuters21578.tar.gz")
    X, names = expected_counts("reuters", path)
    vectorizer = Vectorizer(n_jobs=n_jobs)
    assert_equal(vectorizer.fit_transform(reuters(path)), X)
    assert vectorizer.terms_ == names


def test_debtags_counts_are_those_of_count_vectorizer() -> None:
    folder = data_file("debtags")
    path = next(folder.glob("*.gz"), None)
    if path is None:
        pytest.skip("debtags has no .gz file")
    X, names = expected_counts("debtags", path)
    vectorizer = Vectorizer()
    assert_equal(vectorizer.fit_transform(debtags(path)), X)
    assert vectorizer.terms_ == names
