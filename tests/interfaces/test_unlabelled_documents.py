"""Documents without a label: examples to which no label applies, or left out with --drop-unlabelled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from manylabel.cli.run import run
from manylabel.data import load
from manylabel.exceptions import DataError

ROWS = ["printer jams again,printer", "vpn is slow,vpn", "nobody tagged this,", "another one,", "both are,printer;vpn"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "tickets.csv"
    path.write_text("\n".join(["text,tags", *ROWS * 4]) + "\n", encoding="utf-8")
    return path


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[str, str]:
    assert run([str(one) for one in arguments]) == 0
    told = capsys.readouterr()
    return told.out, told.err


def test_many_of_them_are_reported_where_a_model_learns_from_them(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, told = printed(capsys, "train", table, "--method", "nb", "--model", tmp_path / "m.manylabel")
    assert "8 of 20 documents have no label, and count as documents to which no label applies" in told
    assert "use --drop-unlabelled" in told


def test_they_are_left_out(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--method", "nb", "--drop-unlabelled"]
    text, told = printed(capsys, "train", table, *options, "--model", tmp_path / "m.manylabel")
    assert "12 documents (0 without a label)" in text
    assert "8 documents without a label are left out" in told
    assert "use --drop-unlabelled" not in told
    found = json.loads(printed(capsys, "evaluate", table, *options, "--json")[0])
    assert found["results"][0]["test"]["unlabelled"] == 0


def test_python_leaves_them_out_and_names_a_file_without_labels(table: Path, tmp_path: Path) -> None:
    assert len(load(table, drop_unlabelled=True).corpus) == 12
    bare = tmp_path / "bare.csv"
    bare.write_text("text,tags\na,\nb,\n", encoding="utf-8")
    with pytest.raises(DataError, match="No document has a label"):
        load(bare, drop_unlabelled=True)


def test_an_update_leaves_them_out_where_the_training_did(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, new, more = tmp_path / "m.manylabel", tmp_path / "n.manylabel", tmp_path / "more.csv"
    rows = ["the scanner is broken,scanner", "a scanner beeps,scanner", "a scanner hums,scanner", "who knows,"]
    more.write_text("\n".join(["text,tags", *rows]) + "\n", encoding="utf-8")
    update = ("update", model, more, "--with", table, "--output", new)

    printed(capsys, "train", table, "--method", "svm", "--model", model)
    text, told = printed(capsys, *update)
    assert "4 new documents and 20 former ones" in text
    assert f"{more}: 1 of 4 documents have no label, and count as documents to which no label applies" in told
    assert f"{table}: 8 of 20 documents have no label" in told
    assert "use --drop-unlabelled" in told
    assert "3 new documents and 12 former ones" in printed(capsys, *update, "--drop-unlabelled")[0]

    printed(capsys, "train", table, "--method", "svm", "--drop-unlabelled", "--model", model)
    assert "drop_unlabelled = True; new data are read in the same way" in printed(capsys, "inspect", model)[0]
    text, told = printed(capsys, *update)
    assert "3 new documents and 12 former ones" in text
    assert "8 documents without a label are left out" in told
    found = json.loads(printed(capsys, "evaluate", table, "--model", model, "--json")[0])
    assert found["results"][0]["test"]["unlabelled"] == 0
    assert len(printed(capsys, "predict", model, table)[0].splitlines()) == 20
