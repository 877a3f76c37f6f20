"""The rule among seen label sets in a whole classifier: named in a recipe, saved, loaded, and asked for one text."""

from pathlib import Path

import numpy as np
import pytest

from manylabel.classifier import TextClassifier
from manylabel.decisions.seen_sets import SeenSets

TEXTS = ["the bus was late", "a hole in the road", "no bus and holes in the road", "late bus", "road works", "bus lane"]
LABELS = [["buses"], ["roads"], ["buses", "roads"], ["buses"], ["roads"], ["buses", "roads"]]


@pytest.mark.parametrize("curve", ["logistic", "isotonic"])
def test_saved_and_loaded(tmp_path: Path, curve: str) -> None:
    decision = {"rule": "seen-sets", "metric": "exact-match", "curve": curve}
    model = TextClassifier("svm", decision=decision, folds=3).fit(TEXTS * 3, LABELS * 3)
    model.save(tmp_path / "bus.manylabel")
    loaded = TextClassifier.load(tmp_path / "bus.manylabel")
    rule, again = model.decided_.rule_, loaded.decided_.rule_
    assert isinstance(rule, SeenSets)
    assert isinstance(again, SeenSets)
    np.testing.assert_array_equal(again.sets_.toarray(), rule.sets_.toarray())
    scores = model.predict_scores(TEXTS)
    kind = model.decided_.score_kind
    np.testing.assert_array_equal(again.set_probabilities(scores, kind), rule.set_probabilities(scores, kind))
    assert loaded.predict(TEXTS) == model.predict(TEXTS) == [loaded.predict([text])[0] for text in TEXTS]
    assert not loaded.thresholds


def test_learning_again_forgets_the_sets() -> None:
    """The table kept for speed is that of the sets learned last."""
    scores = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])
    rule = SeenSets()
    kind = TextClassifier("svm").recipe.build_model().score_kind
    first = rule.fit(scores, np.array([[1, 0], [0, 1], [1, 1]]), kind).set_probabilities(scores, kind)  # type: ignore[arg-type]
    second = rule.fit(scores, np.array([[1, 0], [0, 1], [0, 1]]), kind).set_probabilities(scores, kind)  # type: ignore[arg-type]
    assert (first.shape, second.shape) == ((3, 3), (3, 2))
