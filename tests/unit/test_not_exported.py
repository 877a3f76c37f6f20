"""Models that hold something without an exported form are refused, with the cause and what to do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manylabel import TextClassifier
from manylabel.exceptions import UnsupportedError
from manylabel.exporting.targets import TARGETS
from manylabel.features.pipeline import FeaturePipeline
from manylabel.features.ready_vectors import ReadyVectors

TEXTS = ["late bus", "a hole in the road", "bus and road", "late late bus", "road works"] * 4
LABELS = [["b"], ["r"], ["b", "r"], ["b"], ["r"]] * 4


def encode(texts: list[str]) -> Any:
    return np.array([[2.0 * ("bus" in text), 1.0 * ("road" in text)] for text in texts])


def refusal(model: TextClassifier, folder: Path, target: str = "json") -> str:
    with pytest.raises(UnsupportedError) as error:
        model.export(folder / "model", target)
    assert list(folder.iterdir()) == []
    return str(error.value)


@pytest.mark.parametrize("method", ["svm", "logistic", "rocchio", "auto"])
def test_an_encoder_is_the_cause(method: str, tmp_path: Path) -> None:
    model = TextClassifier(method, encoder=encode).fit(TEXTS, LABELS)
    for target in TARGETS if method == "svm" else ["json"]:
        sentence = refusal(model, tmp_path, target)
        assert "an encoder or ready vectors (function) cannot be exported" in sentence
        assert "Train it without an encoder." in sentence
        assert "one of the methods that can" not in sentence


def test_ready_vectors_are_refused(tmp_path: Path) -> None:
    vectors = ReadyVectors(TEXTS, encode(TEXTS))
    assert "(ready vectors) cannot be exported" in refusal(
        TextClassifier("svm", encoder=vectors).fit(TEXTS, LABELS), tmp_path
    )


def test_label_descriptions_are_the_cause(tmp_path: Path) -> None:
    described = {"b": "bus", "r": "road", "t": "tram"}
    for method in ("auto", "svm"):
        sentence = refusal(TextClassifier(method).fit(TEXTS, LABELS, descriptions=described), tmp_path)
        assert "label descriptions cannot be exported. Train it without descriptions." in sentence


def test_a_part_of_the_pipeline_that_has_no_form_is_refused_whatever_it_is(tmp_path: Path) -> None:
    model = TextClassifier("nb-binary").fit(TEXTS, LABELS)
    model.features_.later_ = object()  # type: ignore[attr-defined]
    assert "A model with later_ in its feature pipeline cannot be exported" in refusal(model, tmp_path)


@pytest.mark.parametrize("name", sorted(FeaturePipeline.learned))
def test_every_part_of_the_pipeline_is_in_the_form_or_refused(name: str, tmp_path: Path) -> None:
    model = TextClassifier("nb-binary").fit(TEXTS, LABELS)
    if name not in ("vectorizer_", "weighting_"):
        setattr(model.features_, name, object())
        assert "cannot be exported" in refusal(model, tmp_path)


def test_columns_beside_the_terms_are_refused(tmp_path: Path) -> None:
    model = TextClassifier("nb-binary").fit(TEXTS, LABELS)
    model.decided_.n_features_in_ += 2
    assert "Only models of terms alone can be exported" in refusal(model, tmp_path)


def test_labels_that_an_update_added_to_a_member_are_refused(tmp_path: Path) -> None:
    """The exported scores of the new labels were those of other labels."""
    model = TextClassifier("ensemble", model={"members": ["svm", "mnb-vw"]}).fit(TEXTS, LABELS)
    model.update(TEXTS, [[*labels, "new"] if "b" in labels else labels for labels in LABELS])
    assert "ensemble can be exported, but not this model of it" in refusal(model, tmp_path)


def test_settings_of_a_method_that_can_be_exported_are_the_cause(tmp_path: Path) -> None:
    model = TextClassifier("rocchio", model={"distance": "euclidean"}).fit(TEXTS, LABELS)
    sentence = refusal(model, tmp_path)
    assert "rocchio can be exported, but not this model of it: its settings" in sentence
    assert "one of the methods that can" not in sentence
