"""Corpora that do not fit in the memory given: the same commands train and predict from disk, with the same results."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from manylabel.classifier import TextClassifier
from manylabel.cli.run import run
from manylabel.data import load, read, write
from manylabel.scale import shards


@pytest.fixture(scope="module", autouse=True)
def small_shards() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD_BYTES", 20_000)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_shards: None) -> Path:
    """Letters as CSV, in several shards, and the models of a training in memory and of one from disk."""
    place = tmp_path_factory.mktemp("large")
    letters = load("townhall").corpus
    write(letters.split("train").subset(range(120)), place / "letters.csv")
    write(letters.split("test").subset(range(40)), place / "new.csv")
    for name, memory in (("memory", "8GB"), ("disk", "20kB")):
        arguments = ["--model", str(place / f"{name}.manylabel"), "--method", "nb-binary", "--memory", memory]
        assert run(["train", str(place / "letters.csv"), *arguments, "--split", "all"]) == 0
    return place


def test_a_training_from_disk_gives_the_labels_of_one_in_memory(folder: Path) -> None:
    texts = read(folder / "new.csv").corpus.texts
    models = [TextClassifier.load(folder / f"{name}.manylabel") for name in ("memory", "disk")]
    assert models[0].predict(texts) == models[1].predict(texts)
    assert models[0].reading == models[1].reading
    assert not (folder / "disk.manylabel.work").exists()


@pytest.mark.parametrize("name", ["found.jsonl", "found.csv", "found.tsv", "found.parquet"])
def test_predictions_from_disk_are_those_in_memory(folder: Path, name: str) -> None:
    written = []
    for memory in ("8GB", "1kB"):
        target = folder / f"{memory}-{name}"
        arguments = [str(folder / "memory.manylabel"), str(folder / "new.csv"), "--output", str(target)]
        assert run(["predict", *arguments, "--memory", memory]) == 0
        written.append(read(target).corpus.columns if name.endswith("parquet") else target.read_text())
    assert written[0] == written[1]
    assert len(read(folder / f"1kB-{name}").corpus) == 40


def test_several_files_are_one_corpus(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    letters = read(folder / "letters.csv").corpus
    for start in (0, 40, 80):
        write(letters.subset(range(start, start + 40)), tmp_path / f"part-{start}.jsonl")
    model = tmp_path / "parts.manylabel"
    arguments = ["--model", str(model), "--method", "nb-binary", "--memory", "1GB", "--split", "all"]
    for data in (tmp_path, tmp_path / "part-*.jsonl"):
        assert run(["train", str(data), *arguments]) == 0
        assert TextClassifier.load(model).n_documents_ == 120
    assert "120 documents" in capsys.readouterr().out
    with (tmp_path / "part-40.jsonl").open("a") as stream:
        stream.write("{oops\n")
    assert run(["train", str(tmp_path), *arguments]) == 2
    assert "part-40.jsonl, line 41: The line is not JSON" in capsys.readouterr().err
    assert run(["train", str(tmp_path), *arguments, "--on-error", "skip", "--json"]) == 0
    assert [len(json.loads(capsys.readouterr().out)["skipped"])] == [1]


def test_what_needs_all_documents_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["train", str(folder / "letters.csv"), "--model", str(folder / "x.manylabel"), "--memory", "20kB"]
    assert run([*arguments, "--merge-labels"]) == 2
    assert "--merge-labels needs all documents in memory" in capsys.readouterr().err
    assert run([*arguments, "--method", "knn"]) == 2
    assert "raise --memory" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_a_made_up_corpus_begins_like_a_shorter_one(tmp_path: Path, name: str) -> None:
    arguments = ["--labels", "20", "--terms", "300", "--words", "12", "--seed", "3"]
    found = []
    for documents in ("30", "50"):
        path = tmp_path / f"{documents}-{name}"
        assert run(["synthesize", str(path), "--documents", documents, *arguments]) == 0
        found.append(read(path).corpus)
    assert [len(corpus) for corpus in found] == [30, 50]
    assert found[1].texts[:30] == found[0].texts
    assert found[1].label_sets[:30] == found[0].label_sets
    assert all(found[0].label_sets)


def test_a_made_up_corpus_has_a_name_with_a_known_ending(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["synthesize", str(tmp_path / "a.txt"), "--documents", "3"]) == 2
    assert "ends in .jsonl, .csv, .tsv or .parquet" in capsys.readouterr().err


def test_a_plan_grows_with_the_corpus(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = []
    for documents in ("1000000", "2000000"):
        assert run(["plan", "--documents", documents, "--labels", "500", "--method", "nb-binary", "--json"]) == 0
        seconds.append(json.loads(capsys.readouterr().out)["methods"][0]["seconds"])
    assert seconds[1] == pytest.approx(2 * seconds[0], rel=0.1)
    assert run(["plan", str(folder / "letters.csv"), "--json"]) == 0
    extent = json.loads(capsys.readouterr().out)["extent"]
    assert extent["documents"] == pytest.approx(120, rel=0.5)
    assert run(["plan"]) == 2


def test_workers_give_the_same_model(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    model = tmp_path / "model.manylabel"
    arguments = ["--model", str(model), "--method", "nb-binary", "--split", "all"]
    assert run(["train", "letters.csv", *arguments, "--workers", "1"]) == 0
    assert model.read_bytes() == Path("disk.manylabel").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workers", "2", "--cluster", "tcp://127.0.0.1:1"], "Give one"),
        (["--cluster", "nowhere"], "Dask"),
    ],
)
def test_engines_that_cannot_be_used_are_refused(
    arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", str(folder / "letters.csv"), "--model", str(folder / "no.manylabel"), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_data_set_by_name_is_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "townhall", "--workers", "2"]) == 2
    assert "manylabel convert townhall townhall.jsonl" in capsys.readouterr().err
