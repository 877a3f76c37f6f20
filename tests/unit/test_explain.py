"""`TextClassifier.explain`: every method, places in the text, what-if, neighbours, rules, members, other documents."""

import re
from dataclasses import replace
from functools import cache
from html import escape
from typing import Any

import numpy as np
import pytest

from manylabel import TextClassifier, load_corpus
from manylabel.catalog import METHODS
from manylabel.exceptions import DataError, ParameterError, UnknownNameError
from manylabel.explanation import Explanation, TermEvidence, marked_text
from smaller import smaller

LETTER = "The bus was late again, and the BINS on Mill Road were not emptied; one bin has no lid."
pytestmark = [
    pytest.mark.filterwarnings("ignore::manylabel.exceptions.ManylabelWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn"),
]


@cache
def letters() -> tuple[list[Any], list[list[str]], dict[str, str]]:
    """Letters of eight labels, and the parent of each label."""
    corpus = load_corpus("townhall").corpus.split("train")
    chosen = ("transport/buses", "environment/waste", "streets/lighting", "streets/parking", "leisure/events")
    rows = [row for row, names in enumerate(corpus.label_sets) if set(names) & set(chosen)][:110]
    sets = [[name for name in corpus.label_sets[row] if name in chosen] for row in rows]
    return [corpus.texts[row] for row in rows], sets, {name: name.partition("/")[0] for name in chosen}


@cache
def fitted(method: str, **settings: Any) -> TextClassifier:
    texts, sets, parents = letters()
    return smaller(method, **settings).fit(texts, sets, hierarchy=parents)


def total(one: Any) -> float:
    parts = [*one.terms, *one.labels]
    return float(one.intercept + sum(part.contribution for part in parts))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_explains(method: str) -> None:
    found = fitted(method).explain(LETTER, runners_up=3)
    assert isinstance(found, Explanation)
    assert len(found.labels) >= 3
    assert [one.label for one in found.labels if one.predicted] == fitted_order(method)
    for one in found.labels:
        if one.intercept is not None and np.isfinite(one.total):
            assert total(one) == pytest.approx(one.total, abs=1e-9)
        for term in one.terms:
            for pieces in term.occurrences:
                assert all(LETTER[start:end].strip() == LETTER[start:end] != "" for _, start, end in pieces)


@pytest.mark.parametrize("labels", ["transport/buses", 3])
def test_labels_to_explain_are_a_list(labels: Any) -> None:
    """The characters of one name would be taken for labels."""
    with pytest.raises(ParameterError, match=r"labels must be a list of names, not .* For one name, give \["):
        fitted("svm").explain(LETTER, labels=labels)


def test_labels_that_are_numbers_are_named_by_them() -> None:
    """Predictions, explanations and thresholds name a label alike."""
    model = TextClassifier("svm", folds=2).fit(["late bus", "bad road", "late road"] * 4, [[7], [12], [7, 12]] * 4)
    assert model.predict(["a late bus"]) == [[7]]
    assert model.explain("a late bus", labels=[7])[7].predicted
    model.thresholds[7] = 0.9
    model.thresholds = {np.int64(12): 0.8}
    assert dict(model.thresholds) == {"7": 0.9, "12": 0.8}
    assert model.thresholds[12] == 0.8
    with pytest.raises(UnknownNameError, match="'8'"):
        model.thresholds[8] = 0.5


def fitted_order(method: str) -> list[str]:
    """The predicted labels, the best score first."""
    model = fitted(method)
    scores = dict(zip(model.labels_, model.predict_scores([LETTER])[0].tolist(), strict=True))
    return sorted(model.predict([LETTER])[0], key=lambda name: -scores[name])


def test_words_stand_where_they_are() -> None:
    found = fitted("auto").explain(LETTER)["environment/waste"]
    (bins,) = (term for term in found.terms if term.term == "bin")
    assert [LETTER[start:end] for ((_, start, end),) in bins.occurrences] == ["BINS", "bin"]
    assert found.terms[0] is bins
    stretches = marked_text(LETTER, 0, found.terms)
    assert "".join(text for text, _ in stretches) == LETTER
    assert sum(value for _, value in stretches) == pytest.approx(sum(term.contribution for term in found.terms))


@pytest.mark.parametrize("method", ["auto", "svm", "knn", "pmm"])
def test_what_if_is_what_the_model_predicts_without_the_words(method: str) -> None:
    model = fitted(method)
    found = [one for one in model.explain(LETTER, runners_up=4).labels if one.what_if is not None]
    assert found
    for one in found:
        assert one.what_if is not None
        text = LETTER
        for word in one.what_if.words:
            text = re.sub(rf"(?i)\b{word}\b", " " * len(word), text)
        without = model.explain(text, labels=[one.label], what_if=False)[one.label]
        assert without.predicted != one.predicted
        assert without.score == pytest.approx(one.what_if.score)


def test_neighbours_and_members() -> None:
    neighbours = fitted("knn").explain(LETTER).neighbours
    texts, sets, _ = letters()
    assert [one.similarity for one in neighbours] == sorted((one.similarity for one in neighbours), reverse=True)
    assert set(neighbours[0].labels) == set(sets[neighbours[0].document - 1])
    body = str(texts[neighbours[0].document - 1]).lower()
    assert all(term in body for term in neighbours[0].terms)
    (first, *_) = fitted("ensemble").explain(LETTER).labels
    assert [share.name for share in first.members] == ["LinearSVM", "BinaryNaiveBayes", "NearestNeighbours"]
    assert fitted("svm").explain(LETTER).neighbours == ()


def test_other_labels_speak_in_a_chain() -> None:
    shares = [share for one in fitted("mnb-vw-cc").explain(LETTER, runners_up=9).labels for share in one.labels]
    assert shares
    assert {share.name for share in shares} <= set(fitted("mnb-vw-cc").labels_)


def test_keyword_rules_that_match(tmp_path: Any) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text('transport/buses: bus* OR tram\nenvironment/waste: "wheelie bin"\n', encoding="utf-8")
    texts, sets, _ = letters()
    for method in ("rules", "svm"):
        model = TextClassifier(method, features={"rules": str(rules)}, folds=2).fit(texts, sets)
        found = model.explain(LETTER, labels=["transport/buses", "environment/waste"])
        assert found["transport/buses"].predicted
        assert found["transport/buses"].rules == ("bus* OR tram",)
        assert found["environment/waste"].rules == ()


def test_removal_says_so() -> None:
    found = fitted("neural").explain(LETTER)
    assert not any(one.exact for one in found.labels)
    assert "removed from the document" in found._repr_html_()
    assert "Contributions are exact" in fitted("svm").explain(LETTER)._repr_html_()


def test_one_label_in_a_notebook() -> None:
    found = fitted("svm").explain(LETTER)
    label = found["transport/buses"]
    shown = label._repr_html_()
    assert shown.startswith("<p><b>transport/buses</b>: predicted (probability ")
    assert "<th>bus</th><td>+" in shown
    assert label.what_if_text is not None
    assert escape(label.what_if_text) in shown
    assert "<mark" not in shown  # the text is the explanation's, not the label's
    assert "<mark" in found._repr_html_()
    hostile = replace(label, label="<b>", terms=(replace(label.terms[0], term="<i>"),), what_if=None)
    assert "<b>&lt;b&gt;</b>" in hostile._repr_html_()
    assert "<th>&lt;i&gt;</th>" in hostile._repr_html_()
    empty = replace(label, terms=())
    assert "<table" not in empty._repr_html_()
    assert "No term of the document speaks" in empty._repr_html_()


def test_fields_hashes_and_html() -> None:
    texts, sets, _ = letters()
    document = {"title": "Late buses", "body": "<p>The bus &amp; the tram</p>"}
    named = TextClassifier("svm", features={"fields": ["title", "*"], "markup": "strip"}, folds=2).fit(texts, sets)
    found = named.explain(document)["transport/buses"]
    places = {term.term: term.occurrences for term in found.terms}
    assert places["title:buses"] == (((0, 5, 10),),)
    assert places["bus"] == (((1, 7, 10),),)
    hashed = TextClassifier("nb-binary", features={"n_hashes": 1 << 12}).fit(texts, sets)
    assert hashed.explain("A late bus")["transport/buses"].terms[0].term == "bus"


def test_documents_that_are_no_texts() -> None:
    X = np.random.default_rng(0).poisson(1.0, (40, 6))
    model = TextClassifier("svm", folds=2).fit(X, [["a"] if row[0] > 1 else ["b"] for row in X])
    found = model.explain(X[:1])
    assert found.fields == ()
    assert {term.term for one in found.labels for term in one.terms} <= {f"x{column}" for column in range(6)}


def test_labels_by_name_and_errors() -> None:
    model = fitted("svm")
    assert [one.label for one in model.explain(LETTER, labels=["leisure/events"]).labels] == ["leisure/events"]
    with pytest.raises(UnknownNameError, match="leisure/events"):
        model.explain(LETTER, labels=["leisure/event"])
    with pytest.raises(DataError, match="2 documents were given"):
        model.explain(["one", "two"])
    with pytest.raises(KeyError, match="labels="):
        model.explain(LETTER, runners_up=0)["leisure/event"]


def test_a_document_without_known_words() -> None:
    found = fitted("auto").explain("")
    assert not any(one.predicted for one in found.labels)
    assert all(one.terms == () for one in found.labels)
    assert found._repr_html_()


def test_plain_data_and_one_label_per_document() -> None:
    plain = fitted("auto").explain(LETTER).as_dict()
    (bus,) = (term for term in plain["labels"][0]["terms"] if term["term"] == "bus")
    assert bus["occurrences"] == [[{"field": None, "start": 4, "end": 7}]]
    single = TextClassifier("svm", folds=2).fit(
        ["late bus", "bad road", "the bus", "a road"], ["bus", "road", "bus", "road"]
    )
    assert [one.predicted for one in single.explain("the late bus").labels] == [True, False]


def test_overlapping_terms_add_up() -> None:
    terms = [TermEvidence("late bus", 1.0, (((0, 0, 4), (0, 5, 8)),)), TermEvidence("bus", 0.5, (((0, 5, 8),),))]
    found = dict(marked_text("late bus", 0, terms))
    assert found == {"late": pytest.approx(4 / 7), " ": 0.0, "bus": pytest.approx(3 / 7 + 0.5)}


def test_runners_up_have_the_highest_scores_as_in_predict() -> None:
    texts, sets, _ = letters()
    model = smaller("svm", decision={"rule": "per-label"}).fit(texts, sets)
    for text in texts[:20]:
        explained = [one for one in model.explain(text, runners_up=3, what_if=False).labels if not one.predicted]
        (row,), (predicted,) = model.predict_scores([text]), model.predict([text])
        order = [model.labels_[column] for column in (-row).argsort(kind="stable")]
        assert [one.label for one in explained] == [label for label in order if label not in predicted][:3]
