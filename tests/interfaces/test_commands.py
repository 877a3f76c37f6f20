"""The commands as a user types them: what they print, and what they leave behind."""

import json
from pathlib import Path

import pytest

from manylabel import load_corpus
from manylabel.catalog import METHODS
from manylabel.cli.run import run

ROWS = '"the bus was late",buses\n"a hole in the road",roads\n"late bus, bad road",buses;roads\n"nothing",\n'
CSV = "text,labels\n" + 3 * ROWS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(list(arguments)) == code, capsys.readouterr().err
    return capsys.readouterr().out


def test_train_evaluate_predict_inspect_on_a_csv(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_text(CSV)
    trained = printed(capsys, "train", "mail.csv", "--method", "nb-binary")
    assert "12 documents (3 without a label), 2 labels" in trained
    assert Path("mail.manylabel").is_file()

    measured = printed(capsys, "evaluate", "mail.csv", "--model", "mail.manylabel")
    assert "Micro F1" in measured
    assert "Conventions:" in measured
    assert "memory, not learning" in measured  # the model was trained on these documents

    Path("new.csv").write_text('id,text\n7,"is the bus late"\n8,"the road has a hole"\n')
    lines = printed(capsys, "predict", "mail.manylabel", "new.csv").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": "7", "labels": ["buses"]},
        {"id": "8", "labels": ["roads"]},
    ]

    shown = printed(capsys, "inspect", "mail.manylabel")
    assert "nb-binary" in shown
    assert "buses" in shown


def test_json_of_every_command_can_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_text(CSV)
    trained = json.loads(printed(capsys, "train", "mail.csv", "--json"))
    assert trained["documents"] == 12
    result = json.loads(printed(capsys, "evaluate", "mail.csv", "--method", "nb-app", "--json"))["results"][0]
    assert result["metrics"]["all"].keys() == result["conventions"].keys()
    assert json.loads(printed(capsys, "inspect", "mail.manylabel", "--json"))["labels"] == ["buses", "roads"]
    assert {row["name"] for row in json.loads(printed(capsys, "methods", "--json"))} == set(METHODS)
    assert json.loads(printed(capsys, "convert", "mail.csv", "--json"))["documents"] == 12


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_and_is_measured(method: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    letters = load_corpus("townhall").corpus.subset(range(60))
    texts = [text if isinstance(text, str) else text["body"] for text in letters.texts]
    rows = [{"text": text, "labels": labels} for text, labels in zip(texts, letters.label_sets, strict=True)]
    Path("letters.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert "Micro F1" in printed(capsys, "evaluate", "letters.jsonl", "--method", method)


def test_several_methods_stand_side_by_side(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "evaluate", "townhall", "--method", "nb-app", "--method", "nb-unilabel")
    assert "Measured on 181 labelled test documents" in shown
    header = next(line for line in shown.splitlines() if line.startswith("metric"))
    assert header.split()[1:] == ["nb-app", "nb-unilabel"]


def test_predict_shows_scores_beside_thresholds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_text(CSV)
    printed(capsys, "train", "mail.csv", "--method", "nb-binary")
    Path("new.txt.jsonl").write_text('{"id": "a", "text": "late bus"}\n')
    answer = json.loads(printed(capsys, "predict", "mail.manylabel", "new.txt.jsonl", "--scores"))
    first = answer["scores"][0]
    assert first["label"] == "buses"
    assert first["threshold"] == 0.5
    assert first["score"] >= 0.5
    table = printed(capsys, "predict", "mail.manylabel", "new.txt.jsonl", "--scores", "--to", "tsv").splitlines()
    assert table[0] == "id\tlabels\tscores"
    assert table[1].startswith("a\tbuses\tbuses 0.")
    assert "(threshold 0.500)" in table[1]


def test_predict_writes_csv_to_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_text(CSV)
    printed(capsys, "train", "mail.csv", "--method", "nb-binary")
    printed(capsys, "predict", "mail.manylabel", "mail.csv", "--output", "out.csv", "--to", "csv")
    lines = Path("out.csv").read_text().splitlines()
    assert lines[0] == "text,labels,predicted_labels,scores"
    assert len(lines) == 13


def test_per_label_table_goes_to_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "evaluate", "townhall", "--per-label", "labels.tsv")
    rows = [line.split("\t") for line in Path("labels.tsv").read_text().splitlines()]
    assert rows[0][:3] == ["label", "train", "test"]
    assert len(rows) == 30


def test_demo_trains_measures_labels_and_says_what_is_next(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "demo")
    assert "By label" in shown
    assert "█" in shown
    assert shown.count("✓") >= 3
    assert "What to try next" in shown
    assert Path("demo.manylabel").is_file()


def test_evaluate_trains_on_the_data_and_measures_on_a_test_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mail.csv").write_text(CSV)
    Path("later.csv").write_text("text,labels\nlate bus,buses;trams\nbad road,roads\n")
    printed(capsys, "train", "mail.csv", "--method", "nb-binary")
    of_model = json.loads(printed(capsys, "evaluate", "later.csv", "--model", "mail.manylabel", "--json"))["results"][0]
    command = ("evaluate", "mail.csv", "--method", "nb-binary", "--test", "later.csv")
    evaluated = json.loads(printed(capsys, *command, "--json"))
    result = evaluated["results"][0]
    assert evaluated["split"] == "measured on later.csv"
    assert (result["train"]["documents"], result["test"]["documents"]) == (CSV.count("\n") - 1, 2)
    for same in ("metrics", "labels", "unseen_labels", "true_labels_sha256", "train_sha256"):
        assert result[same] == of_model[same], same
    assert "mail: measured on later.csv" in printed(capsys, *command)


@pytest.mark.parametrize("command", ["evaluate", "compare"])
@pytest.mark.parametrize("names", [("hole", "late"), ("late", "road")])
def test_a_test_file_with_other_columns_than_the_training_file_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, names: tuple[str, str]
) -> None:
    """Columns that were exchanged or renamed would be measured as if they were those of the training."""
    head = "@relation 'letters: -C 2'\n@attribute buses {0,1}\n@attribute roads {0,1}\n"
    for file, own in {"a.arff": ("late", "hole"), "b.arff": names}.items():
        attributes = "".join(f"@attribute {name} numeric\n" for name in own)
        Path(file).write_text(f"{head}{attributes}@data\n1,0,2,0\n0,1,0,2\n1,0,1,0\n0,1,0,1\n")
    assert run([command, "a.arff", "--test", "b.arff", "--method", "nb-binary"]) == 2
    number, trained = (1, "late") if names[0] != "late" else (2, "hole")
    said = f"b.arff: The columns are not those that the model was trained on: column {number} is {names[number - 1]!r}"
    assert f"{said}, in training it was {trained!r}." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["townhall", "--test", "t.csv"], "--test is for one data set; several were given."),
        (["--test", "t.csv", "--model", "m.manylabel"], "manylabel evaluate FILE --model m.manylabel"),
        (["--test", "t.csv", "--repeats", "3"], "Leave out --repeats, --split, --split-by and --test-share."),
        (["--test", "t.csv", "--split-by", "time:date"], "Leave out --repeats, --split, --split-by and --test-share."),
        (["--test", "t.csv", "--vectors", "v.npy"], "Leave out --repeats and --test."),
        (["--test", "t.csv"], "There is no file or folder t.csv"),
        (["--method", "nb", "--split", "train"], "--split names the documents on which a model file is measured"),
    ],
)
def test_a_test_file_that_cannot_be_measured_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert run(["evaluate", "townhall", *options]) == 2
    assert said in capsys.readouterr().err


def test_labels_never_seen_in_training_are_misses_and_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_text(CSV)
    Path("later.csv").write_text("text,labels\nlate bus,buses;trams\nbad road,roads\n")
    printed(capsys, "train", "mail.csv", "--method", "nb-binary")
    shown = printed(capsys, "evaluate", "later.csv", "--model", "mail.manylabel")
    assert (
        "1 label of the test documents never occurred in training and counts as missed (1 assignment): 'trams'."
        in shown
    )
    result = json.loads(printed(capsys, "evaluate", "later.csv", "--model", "mail.manylabel", "--json"))["results"][0]
    assert result["unseen_labels"] == {"trams": 1}
    assert result["metrics"]["all"]["micro-recall"] == pytest.approx(2 / 3)


def test_a_metric_of_a_model_file_is_none_to_train_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", str(folder / "mail.csv"), "--model", "m", "--metric", "precision@5"]) == 2
    assert "--metric is what training optimises for" in capsys.readouterr().err


def test_settings_reach_the_pipeline_and_the_model_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_text(CSV)
    printed(
        capsys,
        "train",
        "mail.csv",
        "--method",
        "nb-binary",
        "-s",
        "decision.value=0.9",
        "-s",
        "features.min_df=2",
    )
    recipe = json.loads(printed(capsys, "inspect", "mail.manylabel", "--json"))["facts"]["recipe"]
    assert recipe["decision"] == {"rule": "threshold", "value": 0.9}
    assert recipe["features"] == {"tokens": "letters", "min_df": 2}


def test_a_seed_gives_the_same_file_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "train", "townhall", "--model", "a.manylabel", "--seed", "3")
    printed(capsys, "train", "townhall", "--model", "b.manylabel", "--seed", "3", "-j", "1")
    assert Path("a.manylabel").read_bytes() == Path("b.manylabel").read_bytes()


def test_several_data_sets_end_with_average_ranks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_text(CSV)
    methods = ["--method", "mnb-vwco", "--method", "nb-unilabel"]
    shown = printed(capsys, "evaluate", "mail.csv", "townhall", *methods)
    assert "Average ranks over 2 data sets" in shown
    assert shown.count("rounds per document") == 2
    ranks = shown[shown.index("Average ranks") :].splitlines()
    hamming = next(line for line in ranks if line.startswith("Hamming loss")).split()
    assert sum(float(rank) for rank in hamming[-3:-1]) == 3.0  # 1 + 2, or 1.5 each; p comes last


def test_evaluate_splits_by_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "townhall", "--method", "nb", "--split-by", "time:date", "-j", "1"]) == 0
    assert "a split by time (date), the latest 25 % for testing" in capsys.readouterr().out
    assert run(["evaluate", "townhall", "--method", "nb", "--split-by", "time:dat"]) == 2
    assert "Did you mean 'date'?" in capsys.readouterr().err
