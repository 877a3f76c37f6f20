"""`label_matrix`: one label per document, labels that are not among the names, and input that is refused."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

from manylabel import Corpus, TextClassifier
from manylabel.data import label_matrix
from manylabel.evaluation import evaluate
from manylabel.exceptions import DataError, ManylabelWarning, ParameterError

TEXTS, LABELS = ["late bus", "a hole in the road", "no bus"], ["buses", "roads", "buses"]


@pytest.mark.parametrize("labels", [LABELS, tuple(LABELS), np.array(LABELS), [[one] for one in LABELS], iter(LABELS)])
def test_strings_are_one_label_per_document(labels: Any) -> None:
    assert label_matrix(labels, ["b", "roads", "buses"]).toarray().tolist() == [[0, 0, 1], [0, 1, 0], [0, 0, 1]]


def test_numbers_are_one_label_per_document() -> None:
    assert label_matrix(np.array([2, 10]), [2, 10]).toarray().tolist() == [[1, 0], [0, 1]]  # type: ignore[arg-type,list-item]


def test_predictions_of_one_label_are_measured_as_labels() -> None:
    model = TextClassifier("nb-binary").fit(TEXTS, LABELS)
    predicted, given = (label_matrix(labels, model.labels_).toarray() for labels in (model.predict(TEXTS), LABELS))
    np.testing.assert_array_equal(predicted, given)
    found = evaluate(model, TEXTS, LABELS, ids=["1", "2", "3"], data="", split="")  # type: ignore[arg-type]
    assert (found.metrics["all"]["exact-match"], found.unseen_labels) == (1, {})


@pytest.mark.parametrize(
    ("labels", "names", "error", "message"),
    [
        (["a"], "ab", ParameterError, "names must be a list of all labels, not 'ab'"),
        (["a"], None, ParameterError, "names must be a list of all labels, not None"),
        (["a"], ["a", "b", "a"], ParameterError, "names holds 'a' more than once"),
        (None, ["a"], DataError, "A list with the labels of each document is expected, not None"),
        ("a", ["a"], DataError, "A list with the labels of each document is expected, not 'a'"),
        (np.eye(2), ["a", "b"], DataError, "A list with the labels of each document is expected, not a matrix"),
        (["a", None], ["a"], DataError, "document 1 has None (documents count from 0)"),
        ([["a"], "a"], ["a"], DataError, "document 1 has 'a' (documents count from 0)"),
        ([["a"], {"a": 1}], ["a"], DataError, "document 1 has {'a': 1}"),
    ],
)
def test_what_is_no_list_of_labels_is_refused(labels: Any, names: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        label_matrix(labels, names)


def test_labels_that_are_not_among_the_names_are_warned_of() -> None:
    labels = [[name, "a"] for name in "bcdefghb"]
    message = re.escape("7 labels are left out, because names lacks them: 'b', 'c', 'd', 'e', 'f' and 2 more (8 times)")
    with pytest.warns(ManylabelWarning, match=message):
        assert label_matrix(labels, ["a"]).nnz == 8
    corpus = Corpus(list("12345678"), labels=labels)
    with pytest.warns(ManylabelWarning, match="1 label is left out, because names lacks it: 'a'"):
        corpus.label_matrix(list("bcdefgh"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert corpus.label_matrix(["a"], others="omit").nnz == label_matrix(labels, ["a"], others="omit").nnz == 8
        model = TextClassifier("nb-binary").fit(TEXTS, LABELS)
        assert model.score(TEXTS, ["buses", "others", "buses"]) == pytest.approx(2 / 3)
