"""Methods that users write: what is reported where their scores have the wrong form."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from manylabel.decisions import DecidedModel, PerLabelThreshold
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.kernels.score_batches import batch_scores
from manylabel.models import LinearSVM, MultiLabelModel

X = Csr(np.tile(np.eye(4), (5, 1)))
Y = Csr(np.tile(np.eye(4, 3, dtype=int), (5, 1)))
FORMS: dict[str, Any] = {
    "transposed": lambda scores: scores.T,
    "flat": lambda scores: scores[:, 0],
    "narrow": lambda scores: scores[:, :2],
    "short": lambda scores: scores[:1],
    "sparse": sparse.csr_array,
    "list": lambda scores: scores.tolist(),
    "nothing": lambda scores: None,
    "nan": lambda scores: np.where(np.arange(scores.size).reshape(scores.shape) == 7, np.nan, scores),
    "impossible": lambda scores: np.where(np.arange(scores.size).reshape(scores.shape) == 4, -np.inf, scores),
}


@pytest.mark.parametrize("form", [list, np.array, lambda texts: np.array(texts, dtype=object)])
def test_texts_are_refused_where_numbers_are_read(form: Any) -> None:
    """The error of NumPy is the whole text of the first document."""
    with pytest.raises(DataError, match=r"LinearSVM reads numbers, but X holds texts.*Vectorizer"):
        LinearSVM().fit(form(["late bus", "bad road"]), np.eye(2, dtype=int))


class Counts(MultiLabelModel):
    """Scores a label by the terms of its documents, and returns the scores in a form of choice."""

    def __init__(self, form: str) -> None:
        self.form = form

    def learn(self, X: Csr, Y: Csr) -> None:
        self.counts_ = (Y.T @ X).toarray()

    def score_batch(self, X: Csr) -> Any:
        return FORMS[self.form](X @ self.counts_.T)


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ("transposed", r"a ndarray of shape \(3, 20\)"),
        ("flat", r"a ndarray of shape \(20,\)"),
        ("narrow", r"a ndarray of shape \(20, 2\)"),
        ("short", r"a ndarray of shape \(1, 3\)"),
        ("sparse", r"a csr_array of shape \(20, 3\)"),
        ("list", "list"),
        ("nothing", "NoneType"),
    ],
)
def test_scores_of_another_shape_are_refused_with_the_shape_that_is_wanted(form: str, found: str) -> None:
    expected = rf"Counts.score_batch has to return a NumPy array of shape \(20, 3\).* It returned {found}\.$"
    fitted = Counts(form).fit(X, Y)
    for ask in (fitted.predict, fitted.decision_function):
        with pytest.raises(DataError, match=expected):
            ask(X)
    with pytest.raises(DataError, match=r"Counts.score_batch has to return a NumPy array of shape \(\d+, 3\)"):
        DecidedModel(Counts(form), PerLabelThreshold()).fit(X, Y)


def test_scores_that_are_no_numbers_are_refused() -> None:
    fitted = Counts("nan").fit(X, Y)
    for ask in (fitted.predict, fitted.decision_function):
        with pytest.raises(DataError, match=r"Counts.score_batch returned NaN for label 1 of document 2 of a batch"):
            ask(X)
    with pytest.raises(DataError, match=r"Counts.score_batch returned NaN"):
        DecidedModel(Counts("nan"), PerLabelThreshold()).fit(X, Y)
    assert Counts("impossible").fit(X, Y).predict(X).nnz < Y.nnz


def test_a_kind_of_scores_that_is_a_string_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"Own.score_kind must be a ScoreKind, not 'margin'.*ScoreKind.MARGIN"):
        type("Own", (Counts,), {"score_kind": "margin"})


@pytest.mark.parametrize("documents", [np.ones(4), np.ones((2, 5))])
def test_documents_of_another_shape_are_refused_with_the_shape_that_is_wanted(documents: Any) -> None:
    with pytest.raises(DataError) as refused:
        batch_scores(documents, np.ones((4, 3)))
    assert str(refused.value) == (
        "The documents have to be a matrix of documents × terms with 4 columns; found: an array of shape "
        f"{documents.shape}."
    )
