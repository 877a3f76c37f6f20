"""Labels learned from descriptions: files of them, models with few or no documents, and what is said about them."""

from pathlib import Path

import numpy as np
import pytest

from manylabel import TextClassifier
from manylabel.cli.run import run
from manylabel.data import read_label_descriptions
from manylabel.data.label_descriptions import checked_descriptions, is_vocabulary
from manylabel.data.label_vocabulary import addresses_of
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.described import DescribedModel
from manylabel.decisions.threshold import GlobalThreshold
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, DecisionError, ParameterError, UnsupportedError
from manylabel.models import LinearSVM
from manylabel.models.score_kinds import ScoreKind
from manylabel.strategies import DescribedLabels
from manylabel.tasks.corpora import Source, described_corpus

NAMES = {
    "buses": "late bus, bus stop",
    "roads": "hole in the road",
    "lamps": "street light is out",
    "taxis": "taxi rank",
}
TEXTS = ["the bus was late again", "a deep hole in our road", "no bus, and holes in the road", "the late bus"] * 3
SETS = [["buses"], ["roads"], ["buses", "roads"], ["buses"]] * 3


@pytest.fixture(scope="module")
def few() -> TextClassifier:
    """A model of two labels with documents, and two with descriptions only."""
    return TextClassifier("svm", features={"stemmer": "english"}).fit(TEXTS, SETS, descriptions=NAMES)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "label,name,description\nE1,roads,holes in the road\nlamps,,street light\n"),
        ("a.tsv", "Label\tname\tother\nE1\troads\tholes in the road\nlamps\t\tstreet light\n"),
        ("a.tsv", "E1\troads holes in the road\nlamps\tstreet light\n"),
        (
            "a.jsonl",
            '{"label": "E1", "name": "roads", "more": ["holes in the road"]}\n{"label": "lamps", "x": "street light"}',
        ),
    ],
)
def test_tables_and_json_lines_describe_labels(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    found = read_label_descriptions(path)
    assert found["lamps"] == "lamps street light"
    assert found["E1"].removeprefix("E1 ") == "roads holes in the road"


def test_a_thesaurus_describes_labels_in_one_language(tmp_path: Path) -> None:
    pytest.importorskip("rdflib")
    path = tmp_path / "a.ttl"
    path.write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        '<http://x/1> skos:prefLabel "roads"@en, "Straßen"@de ; skos:altLabel "streets"@en ; skos:note "Wege"@de .'
    )
    assert read_label_descriptions(path, language="en") == {"roads": "roads streets"}
    assert read_label_descriptions(path, labels=["Straßen"]) == {"Straßen": "Straßen Wege"}


THESAURUS = (
    "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    '<http://x/1> skos:prefLabel "roads"@en, "Straßen"@de . <http://x/2> skos:prefLabel "buses"@en, "Busse"@de ;'
    ' skos:altLabel "coaches"@en . <http://x/3> skos:prefLabel "lamps"@en, "Lampen"@de .\n'
)
BOTH = {"roads": "roads", "buses": "buses", "lamps": "lamps"}


@pytest.mark.parametrize(
    ("vocabulary", "name", "text", "described"),
    [
        ("a.tsv", "a.tsv", "<http://x/1>\troads\n<http://x/2>\tbuses\n<http://x/3>\tlamps\n", BOTH),
        (None, "a.tsv", "<http://x/1>\troads\n<http://x/2>\tbuses\n<http://x/3>\tlamps\n", BOTH),
        (None, "a.csv", "uri,notation,label_en\nhttp://x/1,,roads\nhttp://x/2,,buses\nhttp://x/3,,lamps\n", BOTH),
        (
            "v.tsv",
            "a.csv",
            "label,description\nhttp://x/1,holes\nbuses,late\n<http://x/3>,dark\n",
            {"roads": "roads holes", "buses": "buses late", "lamps": "lamps dark"},
        ),
        ("a.ttl", "a.ttl", THESAURUS, {**BOTH, "buses": "buses coaches"}),
        (None, "a.ttl", THESAURUS, {**BOTH, "buses": "buses coaches"}),
    ],
)
def test_descriptions_and_documents_name_a_label_alike_by_address_or_name(
    tmp_path: Path, vocabulary: str | None, name: str, text: str, described: dict[str, str]
) -> None:
    """The vocabulary keeps the address of ``lamps``, which is only described."""
    if name.endswith(".ttl"):
        pytest.importorskip("rdflib")
    (tmp_path / "data").mkdir()
    data = tmp_path / "data" / "d.tsv"
    data.write_text("the roads here\t<http://x/1>\nlate buses today\t<http://x/2>\nmore roads\t<http://x/1>\n")
    (tmp_path / "v.tsv").write_text("<http://x/1>\troads\n<http://x/2>\tbuses\n<http://x/3>\tlamps\n")
    (tmp_path / name).write_text(text)
    source = Source(str(data), vocabulary=None if vocabulary is None else str(tmp_path / vocabulary))
    corpus, _, _, texts = described_corpus(source, None, tmp_path / name)
    assert corpus.label_sets == [["roads"], ["buses"], ["roads"]]
    assert texts == described
    assert addresses_of(corpus.vocabulary, texts) == {
        "roads": "http://x/1",
        "buses": "http://x/2",
        "lamps": "http://x/3",
    }


def test_the_language_of_labels_is_chosen_without_documents_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rdflib")
    thesaurus, model = tmp_path / "a.ttl", tmp_path / "m.manylabel"
    thesaurus.write_text(THESAURUS)
    command = ["train", "--label-descriptions", str(thesaurus), "--model", str(model)]
    assert run([*command, "--label-language", "de"]) == 0
    assert TextClassifier.load(model).labels_ == ["Straßen", "Busse", "Lampen"]
    assert run(command) != 0
    assert "Found: 'de', 'en'. Choose one of them (--label-language)." in capsys.readouterr().err


def test_long_texts_beside_addresses_are_descriptions_and_not_names(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("<http://x/1>\tholes in the road and works on it\n<http://x/2>\tbuses that come late or never\n")
    assert not is_vocabulary(path)
    assert list(read_label_descriptions(path)) == ["http://x/1", "http://x/2"]


@pytest.mark.parametrize(("name", "text"), [("a.csv", "label,name\n,roads\n"), ("a.jsonl", '{"name": "roads"}\n')])
def test_a_row_without_a_label_is_reported_with_its_line(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError, match=f"{name}, line {1 + text.startswith('label')}.*names no label"):
        read_label_descriptions(path)


def test_scores_of_descriptions_are_the_formula() -> None:
    """The cosine times 25, less ln(L − 1); a word that two descriptions share counts for less."""
    X = Csr([[1, 1, 0], [0, 1, 1], [0, 1, 1]])
    D = Csr([[1, 0, 0], [0, 1, 1], [0, 0, 1]])
    model = DescribedLabels().fit(X, Csr(np.zeros((3, 3))), descriptions=D)
    idf = np.log(4 / np.array([2, 4, 3])) + 1
    rarity = np.log(4 / np.array([2, 2, 3])) / np.log(4 / 2)
    document, described = np.array([0, 1, 1]) * idf, np.array([0, 1, 1]) * idf * rarity
    cosine = document @ described / np.linalg.norm(document) / np.linalg.norm(described)
    assert model.scores(X)[1].tolist() == pytest.approx(
        [-np.log(2), 25 * cosine - np.log(2), 25 * document[2] / np.linalg.norm(document) - np.log(2)]
    )


def test_the_model_alone_reads_columns_behind_the_terms_of_descriptions() -> None:
    X, Y, D = Csr([[1, 0, 5], [0, 2, 0]] * 3), Csr([[1, 0], [0, 1]] * 3), Csr([[1, 0], [0, 1]])
    inside = LinearSVM().fit(X, Y)
    model = DescribedLabels().fit_beside(X, Y, D, inside, inside.scores(X), np.arange(6))
    assert model.similarity(X).tolist() == DescribedLabels().describe(Csr(X[:, :2]), D).similarity(X).tolist()
    combined = model.weights_[0] * inside.scores(X) + model.weights_[1] * model.similarity(X) + model.intercept_
    assert model.scores(X) == pytest.approx(combined)
    copy = DescribedLabels().restore(model.learned_state())
    copy.check_learned(model.learned_state())


def test_labels_without_any_document_are_predicted_from_their_descriptions(tmp_path: Path) -> None:
    model = TextClassifier(features={"stemmer": "english"}).fit([], [], descriptions=NAMES)
    assert model.predict(["our bus stop was full", "where is a taxi rank?", "hello"]) == [["buses"], ["taxis"], []]
    assert model.described_only == list(NAMES)
    assert model.predict_proba(["our bus stop was full"]).max() < 0.95
    model.save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model")
    assert again.predict(["a late bus"]) == [["buses"]]
    assert again.descriptions_ == model.descriptions_


def test_unlabelled_documents_tell_how_frequent_words_are() -> None:
    model = TextClassifier(features={"stemmer": "english"}).fit(TEXTS, [[] for _ in TEXTS], descriptions=NAMES)
    assert model.label_counts_.tolist() == [0, 0, 0, 0]
    assert model.predict(["a deep hole in our road"]) == [["roads"]]


def test_documents_and_descriptions_are_learned_together(few: TextClassifier, tmp_path: Path) -> None:
    assert few.labels_ == ["buses", "roads", "lamps", "taxis"]
    assert few.described_only == ["lamps", "taxis"]
    texts = ["the bus was late", "the street light is out", "a hole in the road beside the taxi rank"]
    predicted = few.predict(texts)
    assert "buses" in predicted[0]
    assert "lamps" in predicted[1]
    assert {"roads", "taxis"} <= set(predicted[2])
    assert few.expected_ is not None
    few.save(tmp_path / "model")
    assert TextClassifier.load(tmp_path / "model").predict(texts) == predicted


def test_a_weight_is_learned_for_the_description_of_each_label_with_documents(few: TextClassifier) -> None:
    described = few.decided_.model_
    assert isinstance(described, DescribedLabels)
    assert described.documented_.tolist() == [0, 1]
    assert described.weights_[0, 2:].tolist() == [0, 0]
    assert (described.weights_[:, :2] != [[0], [25]]).all()


def test_thresholds_and_curves_of_labels_without_documents_are_fixed(few: TextClassifier) -> None:
    """Learned for the two labels with documents; the others have the threshold of a mention, shown as it is."""
    decided = few.decided_
    rule, mentions = decided.rule_, decided.model_.mention_thresholds  # type: ignore[attr-defined]
    assert rule is not None
    thresholds = rule.score_thresholds(4, ScoreKind.LOG_ODDS)
    assert thresholds is not None
    assert thresholds[2:].tolist() == mentions[2:].tolist()
    assert (thresholds[:2] != mentions[:2]).all()
    assert np.isnan(rule.corrected_thresholds()).all()  # type: ignore[arg-type]
    assert rule.changes() == []
    curves = decided.calibration_
    assert isinstance(curves, Calibration)
    assert (curves.slopes_[2:].tolist(), curves.intercepts_[2:].tolist()) == ([1, 1], [0, 0])
    assert (curves.slopes_[:2] != 1).all()


def test_a_precision_is_reached_by_labels_with_documents(few: TextClassifier, tmp_path: Path) -> None:
    found = few.thresholds_for(precision=0.9)
    assert found
    assert set(found) <= {"buses", "roads"}
    few.save(tmp_path / "model")
    assert TextClassifier.load(tmp_path / "model").thresholds_for(precision=0.9) == found
    names = ["lamps", "buses", "taxis", "roads"]
    other = TextClassifier("svm", features={"stemmer": "english"}, decision={"rule": "seen-sets"})
    other.fit(TEXTS, SETS, descriptions=NAMES, label_names=names)
    assert other.decided_.figures_ is not None
    assert other.decided_.figures_.positives_.tolist() == [0, 9, 0, 6]
    assert set(other.thresholds_for(recall=0.9)) == {"buses", "roads"}


def test_why_there_are_no_thresholds_for_a_precision() -> None:
    alone = TextClassifier("svm", decision={"rule": "per-label"}).fit([], [], descriptions=NAMES)
    with pytest.raises(DecisionError, match=r"label descriptions alone.* at least 5 documents that have labels"):
        alone.thresholds_for(precision=0.9)
    shown = TextClassifier("svm", decision={"rule": "per-label", "probabilities": None}).fit(TEXTS, SETS)
    with pytest.raises(DecisionError, match=r"was trained without probabilities.*{'probabilities': 'logistic'}\.$"):
        shown.thresholds_for(precision=0.9)


def test_documents_count_from_as_many_as_there_are_folds() -> None:
    inside = DecidedModel(LinearSVM(), GlobalThreshold(), folds=3, seed=7, probabilities="logistic")
    model = DescribedModel.of(inside)
    assert (model.folds, model.seed, model.probabilities, model.rule) == (3, 7, "logistic", inside.rule)
    assert model.wants == inside.wants | {"descriptions"}
    assert model.is_documented(Csr([[1], [0], [0]]))
    assert not model.is_documented(Csr([[1], [1]]))
    assert not model.is_documented(Csr((3, 1)))


def test_one_label_per_document_is_chosen_among_all_labels() -> None:
    texts, labels = TEXTS[:2] * 5, [["buses"], ["roads"]] * 5
    model = TextClassifier("svm", features={"stemmer": "english"}).fit(texts, labels, descriptions=NAMES)
    assert all(len(found) == 1 for found in model.predict([*texts, "the street light is out"]))


def test_a_table_is_no_mapping_of_descriptions() -> None:
    frame = pytest.importorskip("pandas").DataFrame({"label": ["roads"], "text": ["holes in the road"]})
    for given in (frame, frame["text"], ["roads"], "labels.csv"):
        with pytest.raises(ParameterError, match=f"^descriptions is a mapping .*, not {type(given).__name__}") as error:
            checked_descriptions(given)
        assert "dict(zip(labels, texts)) makes one of two columns" in str(error.value)
    with pytest.raises(ParameterError, match="not an empty one"):
        checked_descriptions({})


def test_what_cannot_be_combined_with_descriptions_is_refused() -> None:
    with pytest.raises(ParameterError, match="descriptions is a mapping"):
        TextClassifier().fit(TEXTS, SETS, descriptions=["buses"])  # type: ignore[arg-type]
    decision = {"rule": "guarantee", "metric": "recall", "level": 0.8}
    both = r"^A guarantee rests on held-out documents, which label descriptions take no account of\. Use one of them\.$"
    with pytest.raises(UnsupportedError, match=both):
        TextClassifier("svm", decision=decision).fit(TEXTS, SETS, descriptions=NAMES)
    with pytest.raises(UnsupportedError, match="compared with texts"):
        TextClassifier("svm").fit(np.eye(12), SETS, descriptions=NAMES)
    with pytest.raises(UnsupportedError, match="keyword rules"):
        TextClassifier(features={"rules": {"buses": "bus"}}).fit([], [], descriptions=NAMES)
    with pytest.raises(DataError, match="no documents"):
        TextClassifier().fit([], [])
