"""What commands print beside their figures, so that a new user is not led astray."""

import json
import re
from pathlib import Path

import pytest

from manylabel.classifier import TextClassifier
from manylabel.cli.run import run
from manylabel.evaluation.expected import ExpectedFigure, ExpectedQuality
from manylabel.exceptions import UnknownNameError
from manylabel.metrics import compute_metrics
from manylabel.metrics.targets import find_target_metric
from manylabel.reports.model_page import expected_text

ROWS = (
    "the bus was late,buses\na hole in the road,roads\nlate bus and bad road,buses;roads\nnothing here,\n"
    "the bus never came,buses\nholes in this road,roads\n"
)


@pytest.fixture
def letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("letters.csv").write_text("text,labels\n" + 5 * ROWS)
    return Path("letters.csv")


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert run(list(map(str, arguments))) == 0, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("omikuji", "label-tree"),
        ("yake", "training with descriptions compares texts with label names"),
        ("pav", "calibrated probabilities"),
        ("tfidf", "rocchio"),
        ("TF-IDF", "rocchio"),
        ("fastText", "auto, svm and logistic"),
        ("mllm", "with descriptions"),
        ("svc", "svm here, with single_label=True"),
        ("nn_ensemble", "ensemble-stacked"),
        ("BR", "svm, logistic, nb-binary"),
        ("CC", "mnb-vw-cc"),
        ("ClassifierChain", "mnb-vw-cc"),
        ("ECC", "mnb-vw-ecc"),
        ("LP", "nb-powerset"),
        ("PS", "model={'min_count': 3}"),
        ("RAkEL", "not included"),
        ("rakel-d", "not included"),
        ("MLkNN", "ml-knn"),
        ("BRkNNaClassifier", "knn-majority"),
        ("HOMER", "label-tree"),
    ],
)
def test_methods_of_other_tools_are_answered_with_ours(name: str, ours: str) -> None:
    with pytest.raises(UnknownNameError) as raised:
        TextClassifier(name).fit(["a", "b"], [["x"], ["y"]])
    first, hint, rest = re.split(r"(?<=\.) ", str(raised.value), maxsplit=2)
    assert first == f"Unknown method: {name!r}."
    assert ours in hint
    assert rest.startswith("Known: auto,")


def test_a_misspelt_method_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'label-tree'"):
        TextClassifier("label-trees").fit(["a", "b"], [["x"], ["y"]])


def test_names_of_scikit_learn_have_the_same_hint_in_all_places() -> None:
    model = TextClassifier("nb-binary").fit(["a bus", "b road"], [["x"], ["y"]])
    for ask in (
        lambda: model.score(["a bus"], [["x"]], metric="accuracy"),
        lambda: compute_metrics([[1, 0]], [[1, 0]], ["accuracy"]),
        lambda: find_target_metric("accuracy"),
    ):
        with pytest.raises(UnknownNameError, match="accuracy of label sets is 'exact-match' here"):
            ask()
    with pytest.raises(UnknownNameError, match="recall@ takes any number from 1 on"):
        find_target_metric("recall")


def test_training_reports_documents_without_text(letters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", str(letters), "--method", "nb-binary"]) == 0
    assert "no text" not in capsys.readouterr().err
    letters.write_text("text,labels\n" + 5 * ROWS.replace("nothing here,", '" ",buses'))
    assert run(["train", str(letters), "--method", "nb-binary"]) == 0
    assert "5 of 30 documents have no text: no term is learned from them" in " ".join(capsys.readouterr().err.split())


def test_training_gives_the_reason_for_measuring_a_sample() -> None:
    figure = ExpectedFigure(metric="micro-f1", title="Micro F1", value=0.5, low=0.4, high=0.6)
    expected = ExpectedQuality(documents=117, figures=[figure])
    sampled = "out of fold on a sample of 117 of 6,980 documents, because there are 9,021 labels."
    assert expected_text(expected, documents=6980, labels=9021).endswith(sampled)
    many = "out of fold on a sample of 117 of 900,000 documents."
    assert expected_text(expected, documents=900_000, labels=3).endswith(many)
    assert expected_text(expected, documents=120, labels=3).endswith("out of fold on 117 documents.")


def test_rankings_say_that_documents_without_labels_are_left_out(
    letters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = r"documents? without a label (is|are) left out of the rankings \(one-error to coverage"
    for methods in (["--method", "nb-binary"], ["--method", "nb-binary", "--method", "svm"]):
        shown = printed(capsys, "evaluate", letters, *methods)
        assert len(re.findall(note, shown)) == 1
    shown = printed(capsys, "train", letters, "--method", "svm", "--metric", "recall@1")
    assert "measured out of fold on 30 documents, recall at 1 on the 25 with a label." in shown
    assert "with a label" not in printed(capsys, "train", letters, "--method", "svm")
    shown = printed(capsys, "learning-curve", letters, "--metric", "recall@1", "--method", "nb-binary", "--steps", "3")
    assert "Recall at 1: over the test documents with a label." in shown
    letters.write_text("text,labels\n" + 5 * ROWS.replace("nothing here,\n", ""))
    assert not re.search(note, printed(capsys, "evaluate", letters, "--method", "nb-binary"))


ARFF = "@relation {}\n@attribute a {{0,1}}\n@attribute b {{0,1}}\n@attribute x numeric\n@attribute {}\n@data\n"


@pytest.mark.parametrize(
    ("relation", "last", "row", "options", "found"),
    [
        ("'mail: -C 2'", "y numeric", "1,0,1,2", [], "the first 2 attributes, by -C 2 in @relation"),
        ("'mail: -C -1'", "y {0,1}", "1,0,1,1", [], "the last attribute, by -C -1 in @relation"),
        ("mail", "y numeric", "1,0,1,2", ["-o", "label_count=1"], "the first attribute, by -o label_count=1"),
        ("mail", "class {p,q}", "1,0,1,q", [], "the values of attribute 'class', by its name"),
        ("mail", "kind {p,q,r}", "1,0,1,q", [], "the values of attribute 'kind', the last one"),
    ],
)
def test_arff_says_how_labels_were_chosen(
    relation: str,
    last: str,
    row: str,
    options: list[str],
    found: str,
    letters: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("mail.arff").write_text(ARFF.format(relation, last) + f"{row}\n" * 3)
    assert run(["describe", "mail.arff", *options]) == 0
    shown = capsys.readouterr()
    assert re.search(rf"^labels +{re.escape(found)}\. +-o label_count=…, -o label_file=…$", shown.out, re.MULTILINE)
    assert f"labels: {found};" in shown.err


def test_arff_names_the_label_file(letters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.arff").write_text(ARFF.format("mail", "y numeric") + "1,0,1,2\n")
    Path("mail.xml").write_text('<labels><label name="b"></label></labels>')
    assert "the attributes that mail.xml names." in printed(capsys, "describe", "mail.arff")


def test_plan_counts_the_documents_that_train_uses(letters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    splits = ["train", "train", "test"] * 10
    rows = [f"{row},{split}" for row, split in zip((5 * ROWS).splitlines(), splits, strict=True)]
    letters.write_text("text,labels,split\n" + "\n".join(rows) + "\n")
    assert "20 documents of the train split, 2 labels" in printed(capsys, "plan", letters, "--method", "nb")
    assert "20 documents (" in printed(capsys, "train", letters, "--method", "nb")
    letters.write_text("text,labels\n" + 5 * ROWS)
    assert "30 documents, 2 labels" in printed(capsys, "plan", letters, "--method", "nb")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("with_ids", [False, True])
def test_true_labels_have_one_fingerprint_from_disk_and_from_memory(
    ending: str, with_ids: bool, tmp_path: Path, letters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Documents without ids are known by their lines, which the files of two splits share."""
    model = tmp_path / "letters.manylabel"
    printed(capsys, "train", letters, "--method", "nb", "--model", model)
    folder = tmp_path / "corpus"
    folder.mkdir()
    for split in ("train", "test"):
        rows = [row.rsplit(",", 1) for row in (2 * ROWS).splitlines()]
        records = [{"text": text, "labels": labels.split(";") if labels else []} for text, labels in rows]
        if with_ids:
            records = [{"id": f"{split}-{number}", **record} for number, record in enumerate(records)]
        if ending == "jsonl":
            lines = [json.dumps(record) for record in records]
        else:
            lines = [",".join(records[0])]
            lines += [
                ",".join([*(str(r[key]) for key in r if key != "labels"), ";".join(r["labels"])]) for r in records
            ]
        (folder / f"{split}.{ending}").write_text("\n".join(lines) + "\n")
    hashes = [
        json.loads(printed(capsys, "evaluate", folder, "--model", model, "--json", "--split", split, *memory))
        for split in ("train", "test")
        for memory in ([], ["--memory", "1MB"])
    ]
    train, train_from_disk, test, test_from_disk = (one["results"][0]["true_labels_sha256"] for one in hashes)
    assert train == train_from_disk
    assert test == test_from_disk
    assert train != test


def test_train_doubts_its_estimate_where_labels_have_few_documents(
    letters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doubt = "This is probably too high: labels have 3.0 training documents on average"
    rows = [f"word{label} text{number},label{label}" for label in range(6) for number in range(3)]
    letters.write_text("text,labels\n" + "\n".join(rows) + "\n")
    assert doubt in printed(capsys, "train", letters, "--multi-label")
    fixed = printed(capsys, "train", letters, "--multi-label", "--method", "svm")  # nothing is searched for
    assert "probably too high" not in fixed
    letters.write_text("text,labels\n" + 5 * ROWS)
    assert "probably too high" not in printed(capsys, "train", letters)
