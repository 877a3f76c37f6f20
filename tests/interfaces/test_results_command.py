"""``manylabel results``: saved results side by side."""

import json
from pathlib import Path

import pytest

from manylabel.cli.run import run

ROWS = '"the bus was late",buses\n"a hole in the road",roads\n"late bus, bad road",buses;roads\n"nothing",\n'
CSV = "text,labels\n" + 3 * ROWS
FAST = ["--method", "nb-binary", "--json"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("mail.csv").write_text(CSV)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert run(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.strip().splitlines()) == 1
    return captured.err


def saved(capsys: pytest.CaptureFixture[str], name: str, *arguments: str) -> str:
    Path(name).write_text(printed(capsys, "evaluate", *arguments))
    return name


def test_methods_are_separated_by_commas_or_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "evaluate", "mail.csv", "--method", "nb-binary, nb-unilabel", "--methods", "nb", "--json")
    assert [one["method"] for one in json.loads(found)["results"]] == ["nb-binary", "nb-unilabel", "nb"]


@pytest.mark.parametrize("share", ["1.5", "1", "0", "-0.2", "nan"])
@pytest.mark.parametrize("more", [[], ["--repeats", "2"]], ids=["once", "repeated"])
def test_a_share_for_testing_leaves_no_split_empty(
    capsys: pytest.CaptureFixture[str], share: str, more: list[str]
) -> None:
    said = complaint(capsys, "evaluate", "mail.csv", "--method", "nb-binary", "--test-share", share, *more)
    assert said.startswith("manylabel: --test-share must be above 0 and below 1, for example 0.25")
    assert f"not {float(share):g}." in said


def test_a_share_for_testing_that_is_not_used_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    Path("split.csv").write_text("text,labels,split\nlate bus,buses,train\nbad road,roads,train\na bus,buses,test\n")
    evaluate = ["evaluate", "split.csv", *FAST]
    assert run([*evaluate, "--test-share", "0.3"]) == 0
    assert "have a training and a test split, so that --test-share 0.3 is not used." in capsys.readouterr().err
    assert run(evaluate) == 0
    assert "--test-share" not in capsys.readouterr().err
    assert "--test-share" in complaint(capsys, "evaluate", "mail.csv", "--test", "split.csv", "--test-share", "0.3")


def test_two_files_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    a = saved(capsys, "a.json", "mail.csv", *FAST)
    b = saved(capsys, "b.json", "mail.csv", "--method", "nb-unilabel", *FAST)
    shown = printed(capsys, "results", a, b)
    header = next(line for line in shown.splitlines() if line.startswith("metric"))
    assert [title.strip() for title in header.split("  ")[-3:]] == [
        "nb-binary (a.json)",
        "nb-unilabel",
        "nb-binary (b.json)",
    ]
    assert "against nb-binary (a.json)" in shown
    assert "more than chance: manylabel compare DATA --methods nb-binary,nb-unilabel\n" in shown
    together = json.loads(printed(capsys, "results", a, b, "--json"))
    assert [one["method"] for one in together["results"]] == [
        "nb-binary (a.json)",
        "nb-unilabel",
        "nb-binary (b.json)",
    ]
    assert together["results"][0]["train_sha256"] == together["results"][2]["train_sha256"] is not None


def test_a_saved_model_is_measured_alike(capsys: pytest.CaptureFixture[str]) -> None:
    """The model file keeps the hash of its training documents."""
    a = saved(capsys, "a.json", "townhall", "--method", "nb-unilabel", "--json")
    printed(capsys, "train", "townhall", "--method", "nb-unilabel", "--model", "m.manylabel")
    b = saved(capsys, "b.json", "townhall", "--model", "m.manylabel", "--json")
    one, two = json.loads(printed(capsys, "results", a, b, "--json"))["results"]
    assert one["metrics"] == two["metrics"]
    assert one["train_sha256"] == two["train_sha256"]


def test_other_documents_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    a = saved(capsys, "a.json", "mail.csv", *FAST)
    b = saved(capsys, "b.json", "mail.csv", "--seed", "1", "--test-share", "0.5", *FAST)
    said = complaint(capsys, "results", a, b)
    assert "a.json (nb-binary) and b.json (nb-binary) were not measured alike" in said
    assert "true labels differ" in said


def test_several_data_sets_are_compared_within_each(capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.csv").write_text("text,labels\n" + 5 * ROWS)
    a = saved(capsys, "a.json", "mail.csv", "other.csv", *FAST)
    b = saved(capsys, "b.json", "mail.csv", "other.csv", "--method", "nb-unilabel", "--json")
    shown = printed(capsys, "results", a, b)
    assert "Average ranks over 2 data sets" in shown
    c = saved(capsys, "c.json", "mail.csv", *FAST)
    assert "only one of them has other" in complaint(capsys, "results", a, c)


def test_results_of_repeated_splits_are_refused_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    repeated = saved(capsys, "r.json", "mail.csv", *FAST, "--repeats", "2")
    assert "results of `manylabel evaluate --repeats`" in complaint(capsys, "results", repeated)


def test_what_is_no_result_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert "mail.csv, line 1: This file is not JSON" in complaint(capsys, "results", "mail.csv")
    assert "none.json: there is no such file" in complaint(capsys, "results", "none.json")
    Path("x.json").write_text('{"results": [{"method": "svm"}]}')
    assert "x.json: This is not the result of an evaluation: it lacks" in complaint(capsys, "results", "x.json")
    Path("y.json").write_text("[1]")
    assert "y.json: There are no results" in complaint(capsys, "results", "y.json")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("method", ["svm"]),
        ("test", {"documents": 3}),
        ("labels", [{"label": "buses"}]),
        ("labels", 3),
        ("metrics", {"all": [1]}),
        ("metrics", {"some": {}}),
        ("seconds", {"fit": 1.0}),
        ("seconds", {"predict": 10**400}),
        ("seed", "0"),
        ("true_labels_sha256", 7),
        ("conventions", {"jaccard": None}),
        ("unseen_labels", {"a": "b"}),
        ("remarks", {"chosen": {"C": []}}),
        ("remarks", {"guarantee": "recall"}),
    ],
)
def test_a_field_of_another_type_is_named(capsys: pytest.CaptureFixture[str], field: str, value: object) -> None:
    name = saved(capsys, "a.json", "mail.csv", *FAST)
    plain = json.loads(Path(name).read_text())
    plain["results"][0][field] = value
    Path(name).write_text(json.dumps(plain))
    said = complaint(capsys, "results", name)
    assert f"'{field}' does not hold what it should" in said


@pytest.mark.parametrize("text", ["[" * 100_000, '{"results": 5}', '{"results": [' + "9" * 5000 + "]}", "7"])
def test_other_json_is_not_a_result(capsys: pytest.CaptureFixture[str], text: str) -> None:
    Path("a.json").write_text(text)
    assert "a.json" in complaint(capsys, "results", "a.json")
