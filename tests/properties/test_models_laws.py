"""Laws of the models that hold for all inputs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from corpora import corpora
from manylabel.models.base import MultiLabelModel
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.score_kinds import posteriors
from manylabel.models.smoothing import discount
from manylabel.strategies.label_powerset import LabelPowerset

MODELS: list[Any] = [
    MultinomialNaiveBayes(),
    MultinomialNaiveBayes(smoothing="laplace", unigram_docs="all"),
    MultinomialNaiveBayes(unigram="documents", counts="class", no_class=True, prior="uniform"),
    BinaryNaiveBayes(),
    BinaryNaiveBayes(smoothing="lidstone", alpha=0.1, unlabelled="negative"),
    BinaryNaiveBayes(unigram="replicated", b=1.0, unlabelled="ignore"),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


def _fresh(model: Any) -> Any:
    return type(model)(**model.get_params())


def _same(first: np.ndarray, second: np.ndarray) -> None:
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-9)


@each_model
@given(corpora())
@settings(max_examples=25)
def test_empty_documents_have_the_prior(model: Any, corpus: Any) -> None:
    X, Y = corpus
    fitted = _fresh(model).fit(X, Y)
    empty = fitted.scores(np.zeros((1, X.shape[1])))[0]
    if isinstance(fitted, BinaryNaiveBayes):
        np.testing.assert_array_equal(empty, fitted.intercept_)  # type: ignore[attr-defined]
    elif not fitted.no_class and Y.any():
        _same(empty, np.exp(fitted.intercept_))


@each_model
@given(corpora(), st.data())
@settings(max_examples=25)
def test_unseen_labels_are_never_predicted(model: Any, corpus: Any, data: st.DataObject) -> None:
    X, Y = corpus
    unseen = data.draw(st.integers(0, Y.shape[1] - 1))
    Y = Y.copy()
    Y[:, unseen] = 0
    fitted = _fresh(model).fit(X, Y)
    anything = data.draw(hnp.arrays(np.int64, (3, X.shape[1]), elements=st.integers(0, 50)))
    assert not fitted.predict(anything)[:, unseen].any()
    assert not fitted.predict_proba(anything)[:, unseen].any()


@given(corpora())
@settings(max_examples=25)
def test_posteriors_sum_to_one(corpus: Any) -> None:
    X, Y = corpus
    sums = MultinomialNaiveBayes().fit(X, Y).scores(X).sum(axis=1)
    np.testing.assert_allclose(sums, 1.0 if Y.any() else 0.0, rtol=1e-12)


@given(hnp.arrays(np.float64, (3, 4), elements=st.floats(-1e5, 1e5)), st.floats(-1e6, 1e6))
def test_posteriors_do_not_depend_on_a_common_factor(joint: np.ndarray, factor: float) -> None:
    np.testing.assert_allclose(posteriors(joint), posteriors(joint + factor), atol=1e-9)


@given(st.dictionaries(st.integers(3, 40), st.integers(0, 50), max_size=6), st.integers(1, 200), st.integers(1, 200))
def test_discounts_are_ordered(rest: dict[int, int], n1: int, n2: int) -> None:
    """A-4: lower_safe ≤ loo ≤ upper ≤ printed23, all in [.001, 1]."""
    n = {1: n1, 2: n2, **rest}
    safe, loo, upper, printed = (discount(n, method).b for method in ("lower_safe", "loo", "upper", "printed23"))
    assert 1e-3 <= safe <= loo + 1e-12
    assert loo <= upper + 1e-12
    assert upper <= printed <= 1


@given(corpora())
@settings(max_examples=25)
def test_powerset_predicts_only_sets_it_saw(corpus: Any) -> None:
    X, Y = corpus
    if not Y.any():
        return
    model: MultiLabelModel = LabelPowerset(MultinomialNaiveBayes()).fit(X, Y)
    seen = {tuple(row) for row in Y.tolist()}
    assert {tuple(row) for row in model.predict(X).tolist()} <= seen
