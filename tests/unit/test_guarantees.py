"""A guarantee in a whole classifier: what was held out, what is kept with the model, and what is measured."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manylabel.classifier import TextClassifier
from manylabel.data import load as load_corpus
from manylabel.data.splits import holdout
from manylabel.evaluation.experiment import evaluate
from manylabel.tasks.models import inspect

DECISION = {"rule": "guarantee", "level": 0.8}


@pytest.fixture(scope="module")
def letters() -> Any:
    return load_corpus("townhall").corpus.split("train")


@pytest.fixture(scope="module")
def model(letters: Any) -> TextClassifier:
    return TextClassifier("svm", decision=DECISION, folds=3, seed=2).fit(letters.texts, letters.label_sets)


def test_words_of_held_out_documents_are_unknown(letters: Any, model: TextClassifier) -> None:
    """Vocabulary, weights and model are those of a classifier that was given the other documents only."""
    kept, held = holdout(len(letters), 0.2, seed=2)
    alone = TextClassifier("svm", seed=2).fit(
        [letters.texts[row] for row in kept],
        [letters.label_sets[row] for row in kept],
        label_names=model.labels_,
    )
    np.testing.assert_array_equal(
        model.predict_scores(letters.texts, raw=True), alone.predict_scores(letters.texts, raw=True)
    )
    guarantee = model.guarantee
    assert guarantee is not None
    assert guarantee.documents == sum(1 for row in held if letters.label_sets[row])
    assert guarantee.bound <= 0.2
    assert (model.n_documents_, model.label_counts_.sum()) == (len(letters), sum(map(len, letters.label_sets)))


def test_the_guarantee_is_stored_with_the_model(model: TextClassifier, letters: Any, tmp_path: Path) -> None:
    model.save(tmp_path / "m.manylabel")
    loaded = TextClassifier.load(tmp_path / "m.manylabel")
    assert loaded.guarantee == model.guarantee
    assert loaded.predict(letters.texts) == model.predict(letters.texts)
    assert [loaded.predict([text])[0] for text in letters.texts[:40]] == model.predict(letters.texts[:40])
    found = inspect(tmp_path / "m.manylabel")
    assert model.guarantee is not None
    assert found.guarantee == model.guarantee.as_dict()
    assert found.thresholds is None


def test_an_evaluation_measures_what_was_guaranteed(model: TextClassifier) -> None:
    test = load_corpus("townhall").corpus.split("test")
    result = evaluate(model, test.texts, test.label_sets, ids=test.ids, data="townhall", split="test")
    guarantee = result.remarks["guarantee"]
    given = model.predict(test.texts)
    shares = [
        len(set(names) & set(true)) / len(true) for names, true in zip(given, test.label_sets, strict=True) if true
    ]
    assert guarantee["measured"] == pytest.approx(np.mean(shares))
    assert guarantee["measured_on"] == len(shares)
    assert guarantee["measured"] == pytest.approx(result.metrics["labelled"]["sample-recall"])


def test_counts_are_held_out_as_texts_are(letters: Any) -> None:
    X = np.random.default_rng(0).integers(0, 3, size=(len(letters), 30))
    for level in (0.5, 0.7):
        decision = {"rule": "guarantee", "metric": "recall", "level": level, "probabilities": "logistic"}
        guarantee = TextClassifier("nb", decision=decision, folds=2).fit(X, letters.label_sets).guarantee
        assert guarantee is not None
        assert guarantee.bound <= 1 - level + 1e-12


def test_other_rules_guarantee_nothing(letters: Any) -> None:
    assert TextClassifier("svm").fit(letters.texts, letters.label_sets).guarantee is None
    assert TextClassifier("knn-majority").fit(letters.texts, letters.label_sets).guarantee is None
