"""``manylabel convert``, ``fetch`` and ``reproduce``; what is printed when something fails; progress on a terminal."""

import io
import json
import shutil
from pathlib import Path

import pytest

from manylabel.cli import run as running
from manylabel.cli.display import progress
from manylabel.cli.options import default_model_path
from manylabel.cli.run import run
from manylabel.evaluation.findings import Claim, Experiment, Reproduction, Verdict
from manylabel.papers import PAPERS
from manylabel.progress import stage
from manylabel.tasks import built_in, data_sets

CSV = "text,labels\nlate bus,buses\nbad road,roads\nlate bus on a bad road,buses;roads\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mail.csv").write_text(CSV)
    return tmp_path


def test_convert_says_where_uris_are_replaced_by_names(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "small.tsv").write_text("late bus\t<http://x.org/1>\na hole\t<http://x.org/2>\n")
    (folder / "names.tsv").write_text("<http://x.org/1>\tbuses\n<http://x.org/2>\troads\n")
    told = "out.csv: 2 labels are written by name, without the URI"
    for more, is_told in (([], False), (["--vocabulary", "names.tsv"], True)):
        assert run(["convert", "small.tsv", "out.csv", *more]) == 0
        assert (told in (printed := capsys.readouterr().err)) == is_told
        assert ("Annif's TSV (convert: --to annif)" in printed) == is_told
        for target in (["full"], ["out.tsv", "--to", "annif"]):
            assert run(["convert", "small.tsv", *target, *more]) == 0
            assert "without the URI" not in capsys.readouterr().err
        assert (folder / "out.tsv").read_text() == (folder / "small.tsv").read_text()
        name = "\tbuses" if more else ""
        assert (folder / "full" / "1.tsv").read_text() == f"<http://x.org/1>{name}\n"
        shutil.rmtree(folder / "full")


def test_convert_writes_and_describes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "mail.csv", "mail.jsonl"]) == 0
    assert "Written to mail.jsonl." in capsys.readouterr().out
    rows = [json.loads(line) for line in Path("mail.jsonl").read_text().splitlines()]
    assert [row["labels"] for row in rows] == [["buses"], ["roads"], ["buses", "roads"]]
    assert run(["convert", "mail.jsonl"]) == 0
    assert "Written" not in capsys.readouterr().out
    assert run(["convert", "mail.csv", "mail.xyz"]) == 2
    assert "'.xyz'" in capsys.readouterr().err


def test_a_corrected_copy_has_a_model_of_its_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.corrected.csv").write_text(CSV.replace("bad road", "good road"))
    for data, model in {"mail.csv": "mail.manylabel", "mail.corrected.csv": "mail.corrected.manylabel"}.items():
        assert run(["train", data, "--method", "nb-binary"]) == 0
        assert f"The model is in {model}." in capsys.readouterr().out
    assert Path("mail.manylabel").read_bytes() != Path("mail.corrected.manylabel").read_bytes()
    for data in ("mail.csv.gz", "MAIL.CSV", "there/mail.jsonl.zst", "mail.tar.gz", "mail", "mail/"):
        assert str(default_model_path(data)).lower() == "mail.manylabel"
    assert str(default_model_path("mail.2026/")) == "mail.2026.manylabel"


def test_empty_rows_are_left_out_but_have_their_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What docs/formats.md says."""
    Path("letters.csv").write_text("text,labels\nlate bus,buses\n\n,\na letter of thanks,\n,roads\n\n,\n")
    assert run(["train", "letters.csv", "--method", "nb-binary"]) == 0
    assert "3 documents (1 without a label), 2 labels" in capsys.readouterr().out
    assert run(["describe", "letters.csv"]) == 0
    assert "1 document has no words." in capsys.readouterr().out
    assert run(["predict", "letters.manylabel", "letters.csv"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["id"] for one in found] == ["2", "3", "4", "5", "6"]
    assert [one["labels"] for one in found[1:3]] == [[], []]


def test_fetch_prints_where_the_data_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(data_sets, "fetch", lambda name, source: folder / name)
    assert run(["fetch", "reuters21578", "--from", "there.tar.gz"]) == 0
    assert "Next: manylabel evaluate reuters21578" in capsys.readouterr().out
    assert run(["fetch", "reuters21578", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"name": "reuters21578", "path": str(folder / "reuters21578")}


def test_reproduce_writes_every_form(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = Claim("a claim", Verdict.REPRODUCED, "seen here")
    experiment = Experiment("a setting", claims=[claim], key="X-0", title="a title")
    found = Reproduction("vilar2004", "a paper", [experiment])
    monkeypatch.setattr(built_in, "reproduce", lambda papers, **settings: [found])
    for name in ("page.html", "page.md", "page.txt", "page.json"):
        assert run(["reproduce", "vilar2004", "--quick", "--report", name]) == 0
        assert "a claim" in capsys.readouterr().out
    assert Path("page.txt").read_text().startswith("The papers, reproduced\n===")
    assert json.loads(Path("page.json").read_text())[0]["paper"] == "vilar2004"
    assert "made by `manylabel reproduce vilar2004 --quick --report page.md`" in Path("page.md").read_text()
    assert "a claim" in Path("page.html").read_text()
    assert run(["reproduce", "vilar2004", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["paper"] == "vilar2004"
    assert run(["reproduce", "vilar2004", "--report", "nowhere/page.html"]) == 2


def test_one_experiment_of_a_paper_is_reproduced(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(built_in, "cache_folder", lambda: folder)
    assert run(["reproduce", "lecture", "--list"]) == 0
    listed = capsys.readouterr().out
    assert "X-12c" in listed
    assert "The lecture's worked examples" in listed
    assert "manylabel reproduce lecture --only X-12a" in listed
    assert run(["reproduce", "all", "--list", "--json"]) == 0
    every = json.loads(capsys.readouterr().out)
    assert {one["paper"] for one in every} == set(PAPERS)
    assert all(one["jobs"] > 0 and one["seconds"] > 0 for one in every)
    assert run(["reproduce", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == every
    assert run(["reproduce"]) == 2
    assert "No paper was given. Papers: vilar2004" in capsys.readouterr().err
    assert run(["reproduce", "all", "--only", "X-12c", "--json"]) == 0  # five made-up documents: no data needed
    [paper] = json.loads(capsys.readouterr().out)
    assert (paper["paper"], [one["key"] for one in paper["experiments"]]) == ("lecture", ["X-12c"])
    assert paper["experiments"][0]["claims"][0]["verdict"] == "reproduced"
    assert run(["reproduce", "lecture", "--only", "X-12"]) == 2
    assert "Did you mean 'X-12" in capsys.readouterr().err


def failing(error: BaseException) -> object:
    def raise_it(*_: object, **__: object) -> None:
        raise error

    return raise_it


@pytest.mark.parametrize(
    ("error", "code", "printed"),
    [
        (KeyboardInterrupt(), running.INTERRUPTED, "stopped. Unfinished files were not written."),
        (PermissionError(13, "Permission denied", "mail.csv"), 2, "mail.csv: Permission denied."),
        (MemoryError("Unable to allocate 2 GiB"), 2, "memory ran out: the system gave no more to this process."),
        (OSError(12, "Cannot allocate memory"), 2, "memory ran out: the system gave no more to this process."),
        (ZeroDivisionError("why"), 1, "something went wrong inside manylabel (ZeroDivisionError: why)."),
    ],
)
def test_errors_are_one_sentence_and_a_code(
    error: BaseException,
    code: int,
    printed: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(data_sets, "convert", failing(error))
    assert run(["convert", "mail.csv"]) == code
    assert printed in capsys.readouterr().err
    if isinstance(error, Exception):
        with pytest.raises(type(error)):
            run(["convert", "mail.csv", "--debug"])


def test_progress_is_drawn_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress(), stage("Counting", 2) as advance:
        advance(1)
        advance(1)
    assert "Counting" in terminal.getvalue()
