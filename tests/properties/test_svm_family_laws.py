"""Laws of SVM-HF, BandSVM, ConfMat and the tuned SVMs that hold for all data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manylabel.estimator import Csr, unfitted_copy
from manylabel.exceptions import DataError, ParameterError
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.tuned_svm import TunedSVM
from manylabel.strategies.band_svm import BandSVM
from manylabel.strategies.conf_mat import ConfMat, confusion_percent
from manylabel.strategies.svm_hf import SVMHF, haar_basis, heterogeneous

SVM = LinearSVM(tol=1e-7, max_iter=100_000, n_jobs=1, C=0.1)
FIXED: list[Any] = [
    SVMHF(SVM, f=0.7),
    SVMHF(SVM, f=0.4, scaling="literal_unit", rounds=2, oof_folds=2, zero_text="unit"),
    BandSVM(SVM, band=0.2),
    BandSVM(SVM, band=0.1, unit="quantile", side="one"),
    ConfMat(SVM, beta=20.0, confusion=2),
]
TUNED: list[Any] = [
    SVMHF(SVM, grid=(1.0, 0.5)),
    BandSVM(SVM, grid=(0.0, 0.2), per_label=True, min_positives=1),
    ConfMat(SVM, grid=(100.0, 10.0), validation=2, confusion=2, multi=True),
    TunedSVM(SVM, grid_C=(0.1, 1.0), grid_J=(1.0, 2.0), validation=2),
]
each = pytest.mark.parametrize("model", [*FIXED, *TUNED], ids=repr)


@st.composite
def corpora(draw: st.DrawFn, least: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, terms, labels = draw(st.integers(least, 14)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    X = rng.integers(0, 4, (n, terms)) * (rng.random((n, terms)) < 0.6)
    return X.astype(float), (rng.random((n, labels)) < draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))).astype(int)


@given(st.integers(1, 80), st.integers(0, 1000))
def test_the_basis_is_a_rotation(n_labels: int, seed: int) -> None:
    """R Rᵀ = 1, and a document's block has one number for the constant and log₂ L or fewer for each of its labels."""
    basis = haar_basis(n_labels)
    np.testing.assert_allclose((basis @ basis.T).toarray(), np.eye(n_labels), atol=1e-12)
    assert np.diff(basis.indptr).max() <= 1 + int(np.ceil(np.log2(n_labels)))
    P = (np.random.default_rng(seed).random((3, n_labels)) < 0.3).astype(int)
    Z = heterogeneous(Csr((3, 1)), Csr(P), 0.0)
    signs = (2.0 * P - 1) / np.sqrt(n_labels)
    np.testing.assert_allclose((Z @ Z.T).toarray(), signs @ signs.T, atol=1e-12)


@each
@given(corpora())
@settings(max_examples=8)
def test_every_small_corpus_has_predictions(model: Any, corpus: Any) -> None:
    X, Y = corpus
    fitted = unfitted_copy(model).fit(X, Y)
    scores = fitted.scores(np.vstack([X, np.zeros_like(X[:1])]))
    assert np.isfinite(scores).all()
    nobody, everybody = ~Y.any(axis=0), Y.all(axis=0)
    assert (scores[:, nobody] <= 0).all()
    assert (scores[:, everybody] > 0).all()


@pytest.mark.parametrize("model", [FIXED[0], FIXED[2], FIXED[3]], ids=repr)
@given(corpora(least=4), st.randoms(use_true_random=False))
@settings(max_examples=8)
def test_permuting_labels_permutes_columns(model: Any, corpus: Any, random: Any) -> None:
    """Where nothing is held out: splits are stratified label by label, and so know their order."""
    X, Y = corpus
    order = random.sample(range(Y.shape[1]), Y.shape[1])
    expected = unfitted_copy(model).fit(X, Y).scores(X)[:, order]
    np.testing.assert_allclose(unfitted_copy(model).fit(X, Y[:, order]).scores(X), expected, atol=1e-4)


@each
@given(corpora(least=4))
@settings(max_examples=5)
def test_the_form_of_the_input_does_not_matter(model: Any, corpus: Any) -> None:
    X, Y = corpus
    expected = unfitted_copy(model).fit(X, Y).scores(X)
    for form in (sparse.csr_array(X), sparse.csc_array(X)):
        found = unfitted_copy(model).fit(form, sparse.csr_array(Y)).scores(form)
        np.testing.assert_array_equal(found, expected)


@each
@given(corpora(least=4))
@settings(max_examples=5)
def test_evidence_adds_up(model: Any, corpus: Any) -> None:
    """Bias and words, and for SVM-HF the labels of the stage before, are the score."""
    X, Y = corpus
    fitted = unfitted_copy(model).fit(X, Y)
    words = fitted.evidence(X[:1]).toarray()
    assert words.shape == (Y.shape[1], X.shape[1])
    assert not words[:, X[0] == 0].any()
    rest = (
        fitted.stages_[-1].intercept_ + fitted.label_evidence(X[:1]).sum(axis=1) if isinstance(fitted, SVMHF) else None
    )
    total = words.sum(axis=1) + (fitted.model_.intercept_ if rest is None else rest)
    np.testing.assert_allclose(total, fitted.scores(X[:1])[0], atol=1e-5)
    some = fitted.evidence(X[:1], labels=[0]).toarray()
    np.testing.assert_array_equal(some, words[:1])


@given(corpora(least=4), st.sampled_from([0.0, 0.05, 0.2, 1.0]))
@settings(max_examples=20)
def test_a_wider_band_never_removes_less(corpus: Any, band: float) -> None:
    X, Y = corpus
    removed = [BandSVM(SVM, band=width).fit(X, Y).removed_ for width in (band, band + 0.1)]
    assert (removed[0] <= removed[1]).all()
    assert (removed[1] <= np.maximum((Y == 0).sum(axis=0) - 1, 0)).all()


@given(corpora(), corpora())
def test_confusions_are_percentages(first: Any, second: Any) -> None:
    n, labels = min(len(first[1]), len(second[1])), min(first[1].shape[1], second[1].shape[1])
    M = confusion_percent(Csr(first[1][:n, :labels]), Csr(second[1][:n, :labels])).toarray()
    assert ((M >= 0) & (M <= 100 + 1e-9)).all()
    assert not M.diagonal().any()


def test_wrong_settings_are_refused() -> None:
    X, Y = np.eye(3), np.eye(3, dtype=int)
    with pytest.raises(ParameterError, match="f must be one of 'tuned' or a number from 0 to 1, not 2"):
        SVMHF(SVM, f=2).fit(X, Y)
    with pytest.raises(ParameterError, match="model must be a LinearSVM"):
        SVMHF(object()).fit(X, Y)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="one for each of the 3 labels"):
        BandSVM(SVM, band=[0.1, 0.2]).fit(X, Y)
    with pytest.raises(ParameterError, match="a quantile is a number from 0 to 1, not 2"):
        BandSVM(SVM, band=2.0, unit="quantile").fit(X, Y)
    with pytest.raises(DataError, match=r"related has shape \(2, 2\), but there are 3 labels"):
        ConfMat(SVM, related=np.eye(2)).fit(X, Y)
    with pytest.raises(ParameterError, match="grid_C must be a list of numbers above 0"):
        TunedSVM(SVM, grid_C=(0.0, 1.0)).fit(X, Y)


def test_a_label_may_have_its_own_band() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.random((30, 5)), (rng.random((30, 2)) < 0.4).astype(int)
    assert BandSVM(SVM, band=[0.0, 9.0]).fit(X, Y).removed_.tolist() == [0, (Y[:, 1] == 0).sum() - 1]
