"""`ArrowPredictor` predicts what `manylabel predict` does, whatever the form of the batch."""

import json
import sys
from pathlib import Path

import pytest

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from manylabel import TextClassifier  # noqa: E402
from manylabel.cli.run import run  # noqa: E402
from manylabel.exceptions import DataError, MissingDataError, MissingExtraError, ParameterError  # noqa: E402
from manylabel.integrations import ArrowPredictor, arrow  # noqa: E402

ROWS = [
    ("the bus was late", ["buses"]),
    ("a hole in the road", ["roads"]),
    ("late bus, bad road", ["buses", "roads"]),
    ("no bin, and litter", ["waste"]),
]
TEXTS = ["Is the bus late?", "", "the late bus, and the bad road", "litter", "nothing that is known"]


@pytest.fixture(scope="module")
def model() -> TextClassifier:
    texts, labels = zip(*(ROWS * 5), strict=True)
    return TextClassifier("svm", model={"C": 1.0}).fit(list(texts), list(labels))


@pytest.fixture(scope="module")
def saved(model: TextClassifier, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "letters.manylabel"
    model.save(path)
    return path


def labels_of(batch):
    return batch.column("labels").to_pylist()


def test_labels_and_scores_are_those_of_the_command(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = tmp_path / "new.jsonl"
    lines.write_text("".join(json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(TEXTS)))
    assert run(["predict", str(saved), str(lines), "--scores", "--runners-up", "0"]) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    batch = pyarrow.record_batch({"id": list(range(len(TEXTS))), "text": TEXTS})
    found = ArrowPredictor(saved, scores="scores").predict(batch)
    assert labels_of(found) == [line["labels"] for line in printed]
    assert found.column("scores").to_pylist() == [[one["score"] for one in line["scores"]] for line in printed]
    assert len(labels_of(found)[2]) > 1
    assert found.schema.names == ["id", "text", "labels", "scores"]


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary", "view", "chunks"])
def test_the_form_of_the_texts_does_not_matter(kind: str, model: TextClassifier) -> None:
    texts = pyarrow.array([*TEXTS, None])
    whole = {
        "string": lambda: texts,
        "large_string": lambda: texts.cast(pyarrow.large_string()),
        "dictionary": texts.dictionary_encode,
        "view": lambda: texts.cast(pyarrow.string_view()),
        "chunks": lambda: pyarrow.chunked_array([texts[:2], texts[2:2], texts[2:]]),
    }
    if kind == "view" and int(pyarrow.__version__.split(".")[0]) < 18:
        pytest.skip("this pyarrow cannot cast to string_view")
    found = ArrowPredictor(model).predict(pyarrow.table({"text": whole[kind]()}))
    wanted = ArrowPredictor(model).predict(pyarrow.record_batch({"text": texts}))
    assert labels_of(found) == labels_of(wanted)
    assert labels_of(wanted)[1] == []
    assert labels_of(wanted)[-1] is None
    assert [sorted(labels) for labels in labels_of(wanted)[:-1]] == model.predict(TEXTS)


def test_batches_without_rows_and_without_texts(model: TextClassifier) -> None:
    predictor = ArrowPredictor(model, scores="scores")
    empty = pyarrow.record_batch({"text": pyarrow.array([], pyarrow.string())})
    found = predictor.predict(empty)
    assert found.num_rows == 0
    assert found.schema == predictor.schema(empty.schema)
    assert predictor.predict(pyarrow.Table.from_batches([], schema=empty.schema)).num_rows == 0
    assert labels_of(predictor.predict(pyarrow.record_batch({"text": pyarrow.nulls(3)}))) == [None] * 3


def test_few_rows_are_python_objects_at_a_time(model: TextClassifier, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    predict = arrow._predict_documents

    def counted(classifier, documents, known):
        sizes.append(len(known))
        return predict(classifier, documents, known)

    monkeypatch.setattr(arrow, "_predict_documents", counted)
    batch = pyarrow.record_batch({"text": [*TEXTS, None] * 10})
    wanted = labels_of(ArrowPredictor(model).predict(batch))
    monkeypatch.setattr(arrow, "ROWS", 7)
    assert labels_of(ArrowPredictor(model).predict(batch)) == wanted
    monkeypatch.setattr(arrow, "TEXT_BYTES", 100)
    assert labels_of(ArrowPredictor(model).predict(batch)) == wanted
    assert sizes[:2] == [60, 7]
    assert max(sizes[10:]) < 7


def test_fields_are_read_as_in_training(tmp_path: Path) -> None:
    rows = [{"title": "bus", "body": "late again"}, {"title": "road", "body": "a hole"}] * 6
    trained = TextClassifier("nb-binary", features={"fields": ["title", "body"]})
    trained.fit(rows, [["buses"], ["roads"]] * 6)
    batch = pyarrow.record_batch({"title": ["bus", None, None], "body": [None, "a hole", None]})
    found = ArrowPredictor(trained, ["title", "body"]).predict(batch)
    assert labels_of(found)[:2] == trained.predict([{"title": "bus", "body": ""}, {"title": "", "body": "a hole"}])
    assert labels_of(found)[2] is None


def test_columns_are_those_of_the_training(tmp_path: Path) -> None:
    data, path = tmp_path / "letters.csv", tmp_path / "letters.manylabel"
    data.write_text("headline,message,labels\n" + "bus,late again,buses\nroad,a hole,roads\n" * 6)
    options = ["--text-column", "headline", "--text-column", "message", "--method", "nb-binary"]
    assert run(["train", str(data), "--model", str(path), *options]) == 0
    batch = pyarrow.record_batch({"message": ["the late bus", "hole"], "headline": ["bus", "road"]})
    assert labels_of(ArrowPredictor(path).predict(batch)) == [["buses"], ["roads"]]
    with pytest.raises(DataError, match=r"no column 'headline'\. Columns: 'message'\. Name the columns"):
        ArrowPredictor(path).predict(batch.select(["message"]))


def test_a_process_reads_a_model_once_and_again_when_it_changes(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.manylabel"
    path.write_bytes(saved.read_bytes())
    first = ArrowPredictor(path).classifier()
    assert ArrowPredictor(str(path), "body").classifier() is first
    TextClassifier("nb-binary").fit(["bus", "road"], [["buses"], ["roads"]]).save(path)
    assert ArrowPredictor(path).classifier().labels_ == ["buses", "roads"]


def test_what_cannot_be_predicted_is_refused(model: TextClassifier, tmp_path: Path) -> None:
    batch = pyarrow.record_batch({"text": ["a"], "labels": [["b"]], "number": [1]})
    with pytest.raises(ParameterError, match=r"have a column 'labels' already\. Give another name"):
        ArrowPredictor(model).predict(batch)
    found = ArrowPredictor(model, labels="predicted").predict(batch)
    assert found.schema.names == ["text", "labels", "number", "predicted"]
    with pytest.raises(DataError, match="'number' holds int64, not texts"):
        ArrowPredictor(model, "number", labels="predicted").predict(batch)
    with pytest.raises(MissingDataError, match="no such model file"):
        ArrowPredictor(tmp_path / "none.manylabel").predict(pyarrow.record_batch({"text": ["a"]}))


def test_a_missing_package_is_named_with_its_remedy(model: TextClassifier, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = pyarrow.record_batch({"text": ["a"]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'manylabel\[arrow\]'"):
        ArrowPredictor(model).predict(batch)
