"""The first hour with one's own texts: empty documents, languages, markup, honest thresholds and any numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from manylabel import TextClassifier

TEXTS = ["the bus was late again", "a deep hole in the road", "no bus, and holes in the road", "a late bus"] * 6
LABELS = [["buses"], ["roads"], ["buses", "roads"], ["buses"]] * 6
WITHOUT_TERMS = ["", "  \n", "zzz qqq xyzzy", "?!"]


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("auto", {}),
        ("svm", {}),
        ("knn", {}),
        ("nb", {}),
        ("nb-app", {}),
        ("mnb-vw", {}),
        ("pmm1", {}),
        ("trees", {}),
        ("svm", {"decision": {"rule": "top-k", "k": 1}}),
        ("svm", {"decision": {"fallback": "argmax"}}),
    ],
)
def test_point_9_a_document_without_known_words_gets_no_label(
    method: str, settings: dict[str, object], tmp_path: Path
) -> None:
    """Point 9: nothing is predicted for empty documents and unknown words, one by one, in a batch, and stored."""
    model = TextClassifier(method, folds=2, **settings).fit(TEXTS, LABELS)  # type: ignore[arg-type]
    model.save(tmp_path / "model.mlm")
    stored = TextClassifier.load(tmp_path / "model.mlm")
    for one in (model, stored):
        assert [one.predict([text]) for text in WITHOUT_TERMS] == [[[]]] * 4
        batch = one.predict(TEXTS + WITHOUT_TERMS)
        assert batch[-4:] == [[]] * 4
        assert any(batch[:-4])
        assert [answer.labels for answer in one.iter_predictions(WITHOUT_TERMS)] == [[]] * 4


def test_point_9_absent_words_are_evidence_to_bernoulli_naive_bayes() -> None:
    """Point 9: by Manning, Raghavan & Schütze 2008, section 13.3, an empty document lacks every word, which counts."""
    texts, labels = ["bus late", "bus", "late bus", ""], [["buses"], ["buses"], ["buses"], ["silence"]]
    model = TextClassifier("nb-bernoulli", folds=2, decision={"rule": "threshold", "value": 0.5})
    assert model.fit(texts * 5, labels * 5).predict([""]) == [["silence"]]
