"""X-2, X-3 and X-4: the calibration numbers on Reuters-21578, where the data is at hand."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from manylabel.data import read
from manylabel.data.labels import label_matrix
from manylabel.decisions.accumulated_posterior import AccumulatedPosterior
from manylabel.decisions.threshold import Threshold
from manylabel.estimator import Csr
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.multinomial_nb import MultinomialNaiveBayes


@pytest.fixture(scope="module")
def reuters(data_folder: Path) -> dict[str, Csr]:
    archive = data_folder / "reuters21578" / "reuters21578.tar.gz"
    if not archive.exists():
        pytest.skip("Reuters-21578 is not in MANYLABEL_DATA")
    corpus = read(archive).corpus
    texts = [" ".join(parts).lower() for parts in zip(*corpus.fields.values(), strict=True)]
    train = np.flatnonzero(np.asarray(corpus.split_names) == "train")
    test = np.flatnonzero(np.asarray(corpus.split_names) == "test")
    vectorizer = CountVectorizer(token_pattern="[a-z]+")
    X = Csr(vectorizer.fit_transform([texts[row] for row in train]))
    Y = label_matrix(corpus.label_sets, corpus.label_names)
    return {
        "X": X,
        "Y": Csr(Y[train]),
        "X_test": Csr(vectorizer.transform([texts[row] for row in test])),
        "Y_test": Csr(Y[test]),
    }


def _errors(decided: Csr, truth: Csr) -> float:
    return float(np.mean((decided.toarray() != truth.toarray()).any(axis=1)))


def _micro(decided: Csr, truth: Csr) -> tuple[float, float]:
    right = decided.multiply(truth).sum()
    return round(float(right / decided.sum()), 3), round(float(right / truth.sum()), 3)


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({}, 222),
        ({"b": "printed23"}, 224),
        ({"b": "lower_printed"}, 242),
        ({"b": 0.95}, 259),
        ({"smoothing": "laplace"}, 401),
    ],
)
def test_unilabel_error(reuters: dict[str, Csr], options: dict[str, object], wrong: int) -> None:
    """X-2: 8.60 % (222 of 2582) with b = .5595; 8.68, 9.37, 10.03 and, with Laplace, 15.53 %."""
    one, one_test = np.diff(reuters["Y"].indptr) == 1, np.diff(reuters["Y_test"].indptr) == 1
    X = reuters["X"][one]
    words = np.flatnonzero(X.sum(axis=0))
    assert len(words) == 22312
    model = MultinomialNaiveBayes(**options).fit(X[:, words], reuters["Y"][one].indices)  # type: ignore[arg-type]
    predicted = model.predict(reuters["X_test"][one_test][:, words])
    assert int((predicted != reuters["Y_test"][one_test].indices).sum()) == wrong


def test_accumulated_posterior(reuters: dict[str, Csr]) -> None:
    """X-3, X-4: unigram over all training documents once, b = .551."""
    model = MultinomialNaiveBayes(unigram="documents", unigram_docs="all").fit(reuters["X"], reuters["Y"])
    assert model.discount_ == pytest.approx(0.551, abs=5e-4)
    scores, truth = model.scores(reuters["X_test"]), reuters["Y_test"]
    for tau, micro, error in (
        (0.1, (0.810, 0.713), 0.295),
        (0.9, (0.768, 0.734), 0.302),
        (0.99, (0.709, 0.750), 0.320),
    ):
        decided = AccumulatedPosterior(tau).decide(scores, model.score_kind)
        assert _micro(decided, truth) == micro
        assert _errors(decided, truth) == pytest.approx(error, abs=5e-4)


def test_binary_classifiers(reuters: dict[str, Csr]) -> None:
    """X-3, X-4: binary classifiers, unlabelled documents in the smoothing only."""
    model = BinaryNaiveBayes().fit(reuters["X"], reuters["Y"])
    scores, truth = model.scores(reuters["X_test"]), reuters["Y_test"]
    for tau, micro, error in (
        (0.1, (0.443, 0.897), 0.433),
        (0.5, (0.478, 0.890), 0.407),
        (0.9, (0.509, 0.880), 0.382),
    ):
        decided = Threshold(tau).decide(scores, model.score_kind)
        assert _micro(decided, truth) == micro
        assert _errors(decided, truth) == pytest.approx(error, abs=5e-4)
