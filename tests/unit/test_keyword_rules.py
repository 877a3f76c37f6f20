"""Keyword rules: the meaning of queries, the error messages, and the rules in a pipeline."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from forging import forge
from manylabel import TextClassifier
from manylabel.exceptions import DataError, ManylabelWarning, ModelFileError, ParameterError, UnknownNameError
from manylabel.features.keyword_queries import And, Not, Or, Phrase, Prefix, Query, Word, parse_query
from manylabel.features.keyword_rules import (
    UnknownRuleLabelWarning,
    parse_rules,
    rules_text,
    suggest_keywords,
    warn_of_labels,
)
from manylabel.features.keywords import KeywordMatcher
from manylabel.models.keyword_rules import KeywordRules
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes

TEXTS = ["the bus was late", "a hole in the road", "late bus, bad road", "good morning", "bus stop", "road works"] * 4
LABELS = [["buses"], ["roads"], ["buses", "roads"], [], ["buses"], ["roads"]] * 4
wheat, corn, rain = Word("wheat"), Word("corn"), Word("rain")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("wheat", wheat),
        ("(wheat OR corn) AND NOT rain", And((Or((wheat, corn)), Not(rain)))),
        ("wheat OR corn AND rain", Or((wheat, And((corn, rain))))),
        ("wheat corn NOT rain", And((wheat, corn, Not(rain)))),
        ("NOT NOT wheat", Not(Not(wheat))),
        ("((wheat))", wheat),
        ('"wheat corn" trad*', And((Phrase((wheat, corn)), Prefix("trad")))),
        ('"wheat" "interest rat*"', And((wheat, Phrase((Word("interest"), Prefix("rat")))))),
        (r"f\(x\) \"q\" a\* \\", And((Word("f(x)"), Word('"q"'), Word("a*"), Word("\\")))),
        ('"and" OR "NOT"', Or((Word("and"), Word("NOT")))),
        ("wheat(corn)", And((wheat, corn))),
    ],
)
def test_queries(text: str, query: Query) -> None:
    assert parse_query(text) == query


@pytest.mark.parametrize(
    ("text", "column", "sentence"),
    [
        ("", 1, r"The query ends at column 1 where a word, a phrase in quotes, NOT or \( was expected"),
        ("wheat OR", 9, "ends at column 9"),
        ("wheat AND OR corn", 11, r"There is OR at column 11 where a word"),
        ("(wheat OR corn", 15, r"where \) for the \( at column 1 was expected"),
        ("wheat) corn", 6, r"There is \) at column 6 where AND, OR, a further word or the end was expected"),
        ('wheat "interest rate', 7, "The quote opened at column 7 is never closed"),
        ('wheat " "', 7, "The quotes at column 7 are empty"),
        ("wh*at", 3, "is inside a word"),
        ("wheat *", 7, "The star at column 7 has no word before it"),
        ("wheat \\", 7, "The backslash at column 7 is alone"),
        ("wheat or corn", 7, "has 'or': write OR for the operator, or \"or\" for the word"),
    ],
)
def test_errors_show_the_position(text: str, column: int, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence) as caught:
        parse_query(text)
    assert str(caught.value).endswith(f":\n    {text}\n    {' ' * (column - 1)}^")


def test_a_file_of_rules() -> None:
    text = '# remarks\n\nwheat: wheat OR durum\r\ncorn:corn\nwheat: bushel*\n"time: \\"past\\"" : ago\n'
    rules = parse_rules(text)
    assert rules == {
        "wheat": Or((Or((wheat, Word("durum"))), Prefix("bushel"))),
        "corn": corn,
        'time: "past"': Word("ago"),
    }


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("wheat: wheat\ncorn corn", 2, "A colon was expected at column 10, after the label"),
        (": wheat", 1, "A label was expected before the colon at column 1"),
        ('"wheat: wheat', 1, "The quote opened at column 1 is never closed"),
        ('"wheat" wheat', 1, "A colon was expected at column 9"),
        ("# one\nwheat: (corn", 2, "The query ends at column 13"),
    ],
)
def test_errors_of_a_file_name_the_line(text: str, line: int, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=sentence) as caught:
        rules_text(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")


def test_files_that_are_not_keyword_rules(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# nothing\n")
    (tmp_path / "latin").write_bytes("wheat: blé".encode("latin-1"))
    for name, sentence in (
        ("empty", "There is no keyword rule"),
        ("latin", "not UTF-8 text"),
        ("gone", "There is no file"),
    ):
        with pytest.raises(DataError, match=sentence):
            rules_text(tmp_path / name)
    with pytest.raises(ParameterError, match="not int"):
        rules_text(3)
    with pytest.raises(ParameterError, match="must be a query or a list"):
        rules_text({"wheat": 3})
    assert parse_rules(rules_text({"wheat": ["wheat", "durum"]})) == {"wheat": Or((wheat, Word("durum")))}


def matches(query: str, *texts: str, **settings: object) -> list[bool]:
    found = KeywordMatcher(f"x: {query}", **settings).fit(["x"]).transform(texts)  # type: ignore[arg-type]
    return [bool(hit) for hit in found.toarray()[:, 0]]


def test_words_are_matched_as_texts_are_split() -> None:
    assert matches("WHEAT", "Wheat!", "buckwheat", "") == [True, False, False]
    assert matches("oil-price", "the oil price", "oil and price") == [True, False]
    assert matches("trad*", "traders", "a trad", "tra") == [True, True, False]
    assert matches('"cost of liv*"', "the cost of living", "cost living") == [True, False]
    assert matches('"one two"', "one", "two one", "one\ntwo") == [False, False, True]
    assert matches("cafe", "a café", strip_accents="unicode") == [True]
    assert matches("exports", "exported", "exporting", "sport", stemmer="english") == [True, True, False]
    assert matches("exporte*", "exported", "exporting", stemmer="english") == [True, False]
    assert matches("one two", "one two", "two 2 one", "one", tokens="letters") == [True, True, False]
    assert matches("NOT one", "one", "") == [False, True]
    with pytest.raises(DataError, match="contains x, which would never be found"):
        matches("x", "x")
    with pytest.raises(DataError, match=r"contains \+x\*, which"):
        matches("+x*", "x", tokens="nothing")


def test_counts_are_matched_by_the_names_of_their_terms() -> None:
    X = sparse.csr_array(np.array([[1, 0, 0], [0, 2, 0], [0, 0, 1]]))
    terms = ["Wheat", "corn", "interest rate"]
    rules = 'a: wheat\nb: cor* OR "interest rate"'
    assert KeywordMatcher(rules).fit(["a", "b"], terms).transform(X).toarray().tolist() == [[1, 0], [0, 1], [0, 1]]
    with pytest.raises(DataError, match="counts of terms without names"):
        KeywordMatcher(rules).fit(["a", "b"]).transform(X)
    with pytest.raises(DataError, match='phrase "wheat corn" cannot be looked up'):
        KeywordMatcher('a: "wheat corn"').fit(["a"], terms).transform(X)
    model = TextClassifier("rules", features={"rules": {"a": "wheat", "b": "cor*"}})
    model.fit(X, [["a"], ["b"], []], terms=terms)
    assert model.predict(X) == [["a"], ["b"], []]


def test_suggested_words_raise_f1_one_after_the_other() -> None:
    """Word 0 finds 3 of 4 (F1 6/7); word 1 the fourth and one other (8/9); word 2 everywhere would lower it."""
    X = sparse.csr_array(np.array([[1, 0, 1], [1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1], [0, 0, 1]]))
    Y = sparse.csr_array(np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0, 0], [0, 0]]))
    assert suggest_keywords(X, Y, min_documents=1).toarray().tolist() == [[1, 2, 0], [0, 0, 0]]
    assert suggest_keywords(X, Y, most=1, min_documents=1).toarray().tolist() == [[1, 0, 0], [0, 0, 0]]
    assert suggest_keywords(X, Y, min_documents=2).toarray().tolist() == [[1, 0, 0], [0, 0, 0]]


def test_rules_alone_and_before_a_model() -> None:
    """Two words and rules for labels 0 and 1; label 2 has none."""
    X = np.array([[3.0, 0.0, 0, 1], [3.0, 0.0, 0, 0], [0.0, 3.0, 1, 0], [0.0, 3.0, 0, 0]])
    Y = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 0], [0, 1, 0]])
    alone = KeywordRules().fit(X, Y, rule_labels=[0, 1])
    assert alone.scores(X).tolist() == [[-1, 1, -1], [-1, -1, -1], [1, -1, -1], [-1, -1, -1]]
    learned = LinearSVM().fit(X[:, :2], Y).scores(X[:, :2])
    give = KeywordRules(LinearSVM()).fit(X, Y, rule_labels=[0, 1])
    hits = np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)
    np.testing.assert_array_equal(give.scores(X), np.where(hits, np.inf, learned))
    assert give.predict(X).tolist() == [[1, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0]]
    require = KeywordRules(LinearSVM(), effect="require").fit(X, Y, rule_labels=[0, 1])
    np.testing.assert_array_equal(require.scores(X)[:, 2], learned[:, 2])
    assert np.isneginf(require.scores(X)[:, :2][~hits[:, :2]]).all()
    assert require.predict(X).tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    for model in (give, require):
        np.testing.assert_array_equal(model.natural_decision(model.scores(X)), model.predict(X))


def test_posteriors_and_wrong_rules_raise_errors() -> None:
    X, Y = np.eye(3), np.eye(3, dtype=int)
    with pytest.raises(ParameterError, match="its scores are posteriors"):
        KeywordRules(MultinomialNaiveBayes()).fit(X, Y, rule_labels=[0])
    with pytest.raises(DataError, match="X has 3 columns"):
        KeywordRules().fit(X, Y, rule_labels=[0, 1, 2])
    with pytest.raises(DataError, match="out of bounds"):
        KeywordRules().fit(X, Y, rule_labels=[3])


def test_evidence_is_the_words_of_the_rule() -> None:
    features = {"rules": {"buses": "(bus OR tram*) AND stop", "roads": "potholes"}}
    model = TextClassifier("rules", features=features).fit(TEXTS, LABELS)
    rules, terms = model.decided_.model_, model.features_.vectorizer_.terms_
    table = rules.evidence(model.transform(["bus stop and road"])).toarray()
    assert {terms[column]: table[0, column] for column in np.flatnonzero(table[0])} == {"bus": 1.0, "stop": 1.0}
    assert not table[1].any()
    table = rules.evidence(model.transform(["potholes"])).toarray()
    assert np.flatnonzero(table[1]).tolist() == [len(terms) + 1], "no training document has the word"
    learned = TextClassifier("rules").fit(TEXTS, LABELS)
    table = learned.decided_.model_.evidence(learned.transform(["bus"])).toarray()
    assert [learned.features_.vectorizer_.terms_[column] for column in np.flatnonzero(table[0])] == ["bus"]


@pytest.mark.parametrize("method", ["svm", "nb", "mnb-vw-cc", "ensemble-votes"])
def test_rules_before_a_method_are_kept_in_the_model_file(method: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text('roads: tramway* OR "light rail"\n')
    model = TextClassifier(method, features={"rules": str(path)}).fit(TEXTS, LABELS)
    texts = ["tramways", "the light rail", "rail light"]
    predicted = model.predict(texts)
    assert "roads" in predicted[0]
    assert "roads" in predicted[1]
    model.save(tmp_path / "model")
    path.unlink()
    loaded = TextClassifier.load(tmp_path / "model")
    assert loaded.predict(texts) == predicted
    assert loaded.recipe.features["rules"] == str(path)


@pytest.mark.parametrize(
    ("setting", "problem"),
    [({"tokens": "q+"}, "is not a word as texts are split"), ({"rules": "a: b\nc: d\n"}, "other rules")],
)
def test_forged_rules_are_refused(setting: dict[str, str], problem: str, tmp_path: Path) -> None:
    """No word of the rules is left, or a label has none."""
    path = tmp_path / "model"
    TextClassifier("nb", features={"rules": {"roads": "tramway* OR tram"}}).fit(TEXTS, LABELS).save(path)

    def change(header: dict[str, Any], arrays: Any) -> None:
        matcher = header["tree"]["state"]["features_"]["state"]["keywords_"]
        matcher["params"] |= setting

    with pytest.raises(ModelFileError, match=problem):
        TextClassifier.load(forge(path, tmp_path / "forged", change))


def test_a_required_rule_holds_labels_back() -> None:
    features = {"rules": {"buses": "stop"}, "rules_effect": "require"}
    model = TextClassifier("svm", features=features).fit(TEXTS, LABELS)
    assert model.predict(["late bus", "bus stop", "road works"]) == [[], ["buses"], ["roads"]]


def test_rules_may_give_labels_that_training_never_saw() -> None:
    model = TextClassifier("svm", features={"rules": {"trams": "tram*", "road": "avenue"}})
    with pytest.warns(UnknownRuleLabelWarning, match=r"trams, road \(did you mean roads\?\)"):
        model.fit(TEXTS, LABELS)
    assert issubclass(UnknownRuleLabelWarning, ManylabelWarning)
    assert model.labels_ == ["buses", "roads", "trams", "road"]
    assert model.predict(["a tram stop"])[0][-1] == "trams"
    assert not any("trams" in names for names in model.predict(TEXTS))
    with pytest.raises(UnknownNameError, match="keyword rule"):
        model.fit(TEXTS, sparse.csr_array(np.eye(24, 2, dtype=int)), label_names=["buses", "roads"])


def test_rules_of_very_many_words_are_refused_soon(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("a: x\nb: " + " OR ".join(f"w{n}" for n in range(50_000)) + "\n")
    with pytest.raises(DataError, match=r"rules.txt, line 2: The keyword rules have more than 50,000 words"):
        parse_rules(path.read_text(), path)


def test_beginnings_match_the_same_words_whatever_the_order_of_names() -> None:
    matcher = KeywordMatcher("a: tra*\nb: trad*\nc: zz*").fit(["a", "b", "c"])
    found = matcher.transform(["trade", "a train", "tr", "contra", "TRADING trams"])
    assert found.toarray().tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0]]


def test_a_short_or_otherwise_written_label_is_recognised() -> None:
    offered = r"VPN \(did you mean vpn\?\), mial \(did you mean mail\?\), tax\."
    with pytest.warns(UnknownRuleLabelWarning, match=offered):
        warn_of_labels(["VPN", "mial", "tax"], ["vpn", "mail", "print"])
