"""Figures stand side by side only where they were measured alike."""

import json
from dataclasses import replace
from typing import Any

import pytest

from manylabel.classifier import TextClassifier
from manylabel.data.strict_json import finite
from manylabel.evaluation.experiment import evaluate
from manylabel.evaluation.result import Result, check_comparable, check_same_conventions, fingerprint, same_training
from manylabel.exceptions import ComparisonError, DataError, ManylabelError
from manylabel.reports.page import render_text
from manylabel.reports.result_page import result_page
from manylabel.reports.saved_results_page import ranks_page

TEXTS = ["late bus", "bad road", "bus on the road", "the park"]
LABELS = [["buses"], ["roads"], ["buses", "roads"], []]


@pytest.fixture(scope="module")
def result() -> Result:
    model = TextClassifier("nb-binary").fit(TEXTS, LABELS)
    known = fingerprint("abcd", LABELS)
    return evaluate(model, TEXTS, LABELS, ids=list("abcd"), data="mail", split="test", train_sha256=known)


def test_the_same_documents_under_other_methods_may_stand_together(result: Result) -> None:
    other = replace(result, method="svm", seed=3, recipe={}, versions={}, train_sha256=None)
    check_comparable([result, other, other])
    assert same_training([result, other])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"split": "all"}, "the split 'test', the other of 'all'"),
        ({"true_labels_sha256": 64 * "0"}, "true labels differ .*hash 000000000000"),
        ({"conventions": {"micro-f1": "per fold, then the mean"}}, "convention of micro-f1 differs: .*per fold"),
        ({"labels": []}, "one counts 2 labels, the other 0 .'buses' is only in one"),
    ],
)
def test_what_differs_is_named(result: Result, change: dict[str, Any], said: str) -> None:
    other = replace(result, method="svm", **change)
    with pytest.raises(ComparisonError, match=f"nb-binary and svm were not measured alike .*{said}"):
        check_comparable([result, other])
    with pytest.raises(ManylabelError):
        result_page([result, other], "a split")


def test_a_measure_that_only_one_has_is_left_out(result: Result) -> None:
    """Results of an older version, or without a label hierarchy, have fewer metrics."""
    fewer = {name: value for name, value in result.metrics["all"].items() if name != "jaccard"}
    kept = {name: text for name, text in result.conventions.items() if name != "jaccard"}
    older = replace(result, method="old", metrics={"all": fewer, "labelled": fewer}, conventions=kept)
    shown = render_text(result_page([result, older], "a split"))
    assert "Micro F1" in shown
    assert "Jaccard" not in shown


def test_other_training_documents_are_said(result: Result) -> None:
    other = replace(result, method="svm", train_sha256="0")
    assert not same_training([result, other])
    assert "Not all of these were trained on the same documents" in render_text(result_page([result, other], "split"))


def test_ranks_over_data_sets_need_the_same_methods_and_conventions(result: Result) -> None:
    worse = replace(result, method="svm", metrics={"all": dict.fromkeys(result.metrics["all"], 0.5)})
    shown = render_text(ranks_page([[result, worse]] * 3))
    assert "p (Wilcoxon)" in shown
    third = replace(worse, method="knn")
    shown = render_text(ranks_page([[result, worse, third]] * 3))
    assert "no difference shown between svm and knn" in shown.replace("nb-binary, ", "")
    with pytest.raises(ComparisonError, match="mail has nb-binary, svm and mail has nb-binary, knn"):
        ranks_page([[result, worse], [result, third]])
    with pytest.raises(ComparisonError, match="cannot be ranked together"):
        check_same_conventions([result, replace(result, conventions={"micro-f1": "other"})])


def test_a_result_comes_back_from_json(result: Result) -> None:
    undefined = replace(result, metrics={"all": {**result.metrics["all"], "coverage": float("nan")}})
    back = Result.from_dict(json.loads(json.dumps(finite(undefined.as_dict()))))
    assert back.labels == result.labels
    assert back.test == result.test
    assert back.train_sha256 == result.train_sha256
    assert back.metrics["all"]["coverage"] != back.metrics["all"]["coverage"]
    assert back.metrics["all"]["micro-f1"] == result.metrics["all"]["micro-f1"]


def test_json_of_an_older_version_can_be_read_and_other_json_is_refused(result: Result) -> None:
    plain = result.as_dict()
    older = {name: value for name, value in plain.items() if name not in ("train_sha256", "remarks")}
    assert Result.from_dict({**older, "later": 1}).train_sha256 is None
    with pytest.raises(DataError, match="lacks 'true_labels_sha256'"):
        Result.from_dict({name: value for name, value in plain.items() if name != "true_labels_sha256"})
    with pytest.raises(DataError, match="another version"):
        Result.from_dict({**plain, "labels": [{"name": "buses"}]})


def test_the_order_of_documents_and_their_labels_make_the_hash() -> None:
    assert fingerprint(["1", "2"], [["a"], []]) != fingerprint(["2", "1"], [[], ["a"]])
    assert fingerprint(["1"], [["a", "b"]]) == fingerprint(["1"], [["b", "a"]])
