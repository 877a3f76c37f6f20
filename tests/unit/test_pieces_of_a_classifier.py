"""A classifier that learns in batches, or is merged from others, equals one fitted on all documents."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from manylabel.classifier import TextClassifier
from manylabel.data import load
from manylabel.exceptions import ManylabelError, ParameterError

TOWNHALL = load("townhall").corpus.split("train").subset(range(120))
NAMES = sorted({name for names in TOWNHALL.label_sets for name in names})
HASHED = {"features": {"n_hashes": 4096}}


def fitted(method: str, rows: Sequence[int], **settings: Any) -> TextClassifier:
    part = TOWNHALL.subset(rows)
    return TextClassifier(method, **settings).fit(part.texts, part.label_sets, label_names=NAMES)


@pytest.mark.parametrize("method", ["nb-binary", "nb-unilabel", "nb-bernoulli-unilabel"])
def test_pieces_equal_the_whole(method: str) -> None:
    whole = fitted(method, range(120), **HASHED)
    model = TextClassifier(method, **HASHED)
    for rows in (range(50), range(50, 90), range(90, 120)):
        piece = TOWNHALL.subset(rows)
        model.partial_fit(piece.texts, piece.label_sets, label_names=NAMES)
        model.predict(piece.texts[:2])  # by the short way, which must not outlive the next piece
    assert model.n_documents_ == 120
    np.testing.assert_array_equal(model.label_counts_, whole.label_counts_)
    np.testing.assert_array_equal(model.predict_scores(TOWNHALL.texts), whole.predict_scores(TOWNHALL.texts))
    assert model.predict(TOWNHALL.texts[:5]) == whole.predict(TOWNHALL.texts)[:5]


@pytest.mark.parametrize("method", ["nb-binary", "nb-unilabel"])
def test_merged_classifiers_equal_the_whole(method: str, tmp_path: Any) -> None:
    one, two = (fitted(method, rows, **HASHED) for rows in (range(70), range(70, 120)))
    two.save(tmp_path / "two")
    merged, whole = one.merge(TextClassifier.load(tmp_path / "two")), fitted(method, range(120), **HASHED)
    assert merged.n_documents_ == 120
    np.testing.assert_array_equal(merged.label_counts_, whole.label_counts_)
    np.testing.assert_array_equal(merged.predict_scores(TOWNHALL.texts), whole.predict_scores(TOWNHALL.texts))
    assert one.n_documents_ == 70


def test_without_hashes_the_first_piece_fixes_the_terms() -> None:
    model = fitted("nb-binary", range(60))
    terms = model.features_.vectorizer_.terms_  # type: ignore[union-attr]
    piece = TOWNHALL.subset(range(60, 120))
    model.partial_fit(piece.texts, piece.label_sets)
    assert model.features_.vectorizer_.terms_ == terms  # type: ignore[union-attr]
    assert model.n_documents_ == 120


@pytest.mark.parametrize("method", ["auto", "svm", "nb", "knn"])
def test_what_cannot_learn_in_pieces_is_refused_in_a_sentence(method: str) -> None:
    with pytest.raises(ParameterError, match="cannot learn in batches"):
        TextClassifier(method).partial_fit(TOWNHALL.texts[:20], TOWNHALL.label_sets[:20])


def test_other_labels_and_other_terms_are_refused() -> None:
    model = fitted("nb-binary", range(60))
    with pytest.raises(
        ManylabelError, match=r"later batch: 'unheard-of'\. Name all labels in the first batch: partial_fit\("
    ):
        model.partial_fit(["a letter"], [["unheard-of"]])
    with pytest.raises(ParameterError, match="same settings, labels, terms and weights"):
        model.merge(fitted("nb-binary", range(60, 120)))


def test_merging_asks_for_a_method_that_can_and_does_not_look_at_threads() -> None:
    with pytest.raises(ParameterError, match="cannot learn in batches"):
        fitted("svm", range(60)).merge(fitted("svm", range(60)))
    one, two = (fitted("nb-binary", range(60), n_jobs=threads, **HASHED) for threads in (1, 2))
    assert one.merge(two).n_documents_ == 120


def test_a_fitted_classifier_keeps_the_recipe_it_was_fitted_with(tmp_path: Any) -> None:
    model = fitted("nb-binary", range(60)).set_params(method="svm")
    assert model.recipe.method == "nb-binary"
    model.save(tmp_path / "m")
    assert TextClassifier.load(tmp_path / "m").recipe.method == "nb-binary"
