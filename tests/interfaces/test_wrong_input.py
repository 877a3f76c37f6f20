"""Wrong input: one sentence that names file, line and remedy, exit code 2, and nothing that was there is lost."""

from pathlib import Path

import pytest

from manylabel.cli.run import run

GOOD = "text,labels\nlate bus,buses\nbad road,roads\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert run(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.strip().splitlines()
    # Data that could be read are announced in one line before the error.
    said = "\n".join(line for line in lines if ": read as " not in line)
    assert "Traceback" not in said
    assert len(said.splitlines()) == 1
    return said


def test_missing_column(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text("subject,tags\nlate bus,buses\n")
    said = complaint(capsys, "train", "a.csv", "--text-column", "content")
    assert "a.csv" in said
    assert "content" in said
    assert "subject" in said


@pytest.mark.parametrize("command", ["train", "evaluate", "tune"])
def test_a_seed_below_0_is_named_as_the_option(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "townhall", "--seed", "-1"]) == 2
    said = capsys.readouterr().err
    assert "'--seed'" in said
    assert "TextClassifier" not in said


def test_broken_utf8(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_bytes(b"text,labels\nlate bus,buses\ncaf\xe9,food\n")
    said = complaint(capsys, "train", "a.csv")
    assert "a.csv, line 3" in said
    assert "--encoding" in said


def test_truncated_model_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text(GOOD)
    assert run(["train", "a.csv", "--method", "nb-binary"]) == 0
    whole = Path("a.manylabel").read_bytes()
    for length in (0, 5, 200, len(whole) // 2, len(whole) - 1):
        Path("cut.manylabel").write_bytes(whole[:length])
        for command in (["predict", "cut.manylabel", "a.csv"], ["inspect", "cut.manylabel"]):
            said = complaint(capsys, *command)
            assert "cut.manylabel" in said
            assert "Train it again" in said


def test_changed_model_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text(GOOD)
    assert run(["train", "a.csv", "--method", "nb-binary"]) == 0
    content = bytearray(Path("a.manylabel").read_bytes())
    content[-3] ^= 1
    Path("a.manylabel").write_bytes(content)
    assert "checksum" in complaint(capsys, "predict", "a.manylabel", "a.csv")
    assert "checksum" in complaint(capsys, "inspect", "a.manylabel")


def test_arff_with_a_bad_value_on_line_12(capsys: pytest.CaptureFixture[str]) -> None:
    head = "@relation 'mail: -C 2'\n@attribute buses {0,1}\n@attribute roads {0,1}\n" + "".join(
        f"@attribute w{i} numeric\n" for i in range(4)
    )
    rows = ["1,0,1,0,0,2", "0,1,0,1,1,0", "1,1,1,1,0,0", "1,0,x,0,0,1"]
    Path("a.arff").write_text(head + "@data\n" + "\n".join(rows) + "\n")
    said = complaint(capsys, "train", "a.arff", "--method", "nb-binary")
    assert "a.arff, line 12" in said
    assert "x" in said


def test_empty_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text("")
    said = complaint(capsys, "train", "a.csv")
    assert "a.csv" in said


def test_unknown_method_offers_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text(GOOD)
    said = complaint(capsys, "train", "a.csv", "--method", "nb-bin")
    assert "Did you mean 'nb-binary'?" in said


@pytest.mark.parametrize("command", ["evaluate", "describe", "convert", "labels", "plan", "audit", "select"])
def test_what_is_too_long_for_a_name_is_no_file(capsys: pytest.CaptureFixture[str], command: str) -> None:
    said = complaint(capsys, command, 50 * "Late bus. ")
    assert "There is no file or folder Late bus. " in said
    assert len(said) < 1000


def test_a_long_text_is_not_repeated_as_a_whole(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text(GOOD)
    assert run(["train", "a.csv", "--method", "nb-binary"]) == 0
    said = complaint(capsys, "predict", "a.manylabel", 50 * "Late bus. ")
    assert "There is no file or folder Late bus. " in said
    assert said.endswith("echo 'A text' | manylabel predict a.manylabel")
    assert len(complaint(capsys, "train", "a.csv", "--rules", 50 * "Late bus. ")) < 300


def test_unknown_setting_offers_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, "train", "townhall", "-s", "features.min_dff=2")
    assert "Did you mean 'min_df'?" in said


def test_a_setting_without_its_section_names_the_sections(capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, "train", "townhall", "-s", "C=1")
    assert "model.C=0.5" in said
    assert "The sections are features, selection, weighting, model and decision." in said


def test_no_such_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nowhere.csv" in complaint(capsys, "train", "nowhere.csv")
    assert "nowhere.manylabel" in complaint(capsys, "predict", "nowhere.manylabel", "townhall")


def test_a_model_given_as_data_and_data_given_as_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text(GOOD)
    assert "a.csv" in complaint(capsys, "predict", "a.csv", "a.csv")


def test_failure_leaves_the_old_model(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text(GOOD)
    assert run(["train", "a.csv", "--method", "nb-binary"]) == 0
    before = Path("a.manylabel").read_bytes()
    Path("a.csv").write_bytes(b"text,labels\n\xff,buses\n")
    complaint(capsys, "train", "a.csv", "--method", "nb-binary")
    assert Path("a.manylabel").read_bytes() == before
    assert sorted(path.name for path in Path().iterdir()) == ["a.csv", "a.manylabel"]


def test_skipping_bad_lines_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.jsonl").write_text(
        '{"text": "late bus", "labels": ["buses"]}\n{"text": "bad\n{"text": "bad road", "labels": ["roads"]}\n'
    )
    assert "a.jsonl, line 2" in complaint(capsys, "train", "a.jsonl", "--method", "nb-binary")
    assert run(["train", "a.jsonl", "--method", "nb-binary", "--on-error", "skip"]) == 0
    said = capsys.readouterr().out
    assert "1 bad line was skipped" in said
    assert "a.jsonl, line 2" in said


def test_documents_without_labels_cannot_be_learned_from(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text("text\nlate bus\n")
    assert "a.csv" in complaint(capsys, "train", "a.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--precision", "0,95"], "'0,95' is not a number. Write decimals with a point, for example 0.95."),
        (["--recall=95%"], "'95%' is not a number."),
    ],
)
def test_a_wrong_number_is_named(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert run(["thresholds", "x.manylabel", *arguments]) == 2
    printed = capsys.readouterr().err
    assert message in printed or "is not a valid float" in printed  # older versions of Typer name it themselves


@pytest.mark.parametrize("command", ["train", "evaluate"])
@pytest.mark.parametrize("option", ["--folds", "--cv"])
def test_cross_validation_is_found(capsys: pytest.CaptureFixture[str], command: str, option: str) -> None:
    """By its letters, Typer would offer --jobs for --folds."""
    assert run([command, "townhall", option, "5"]) == 2
    said = capsys.readouterr().err
    assert f"No such option: {option}. To cross-validate methods: manylabel compare DATA" in said
    assert "--jobs" not in said
