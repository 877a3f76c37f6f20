"""Corpora that do not fit in the memory given: the same commands train and predict from disk, with the same results."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from manylabel.classifier import TextClassifier
from manylabel.cli.run import run
from manylabel.data import load, read, write
from manylabel.memory import bytes_of
from manylabel.scale import costs, in_memory, memory_guard, shards
from manylabel.tasks import large_audit, planning

SPLITS = ("train", "test")


@pytest.fixture(scope="module", autouse=True)
def small_shards() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD_BYTES", 20_000)
        patch.setattr(in_memory, "IN_MEMORY", 50_000)  # forty letters take more than 500 MB, all of them less than 8 GB
        patch.setattr(planning, "slowness", lambda: 1.0)  # measuring it takes longer than these trainings
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_shards: None) -> Path:
    """Letters as CSV, in several shards, and the models of a training in memory and of one from disk."""
    place = tmp_path_factory.mktemp("large")
    letters = load("townhall").corpus
    write(letters.split("train").subset(range(120)), place / "letters.csv")
    write(letters.split("test").subset(range(40)), place / "new.csv")
    train, test = ([row for row, own in enumerate(letters.split_names or ()) if own == name] for name in SPLITS)
    write(letters.subset([*train[:90], *test[:30]]), place / "both.csv")
    for name, memory in (("memory", "8GB"), ("disk", "500MB")):
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
    for memory in ("8GB", "500MB"):
        target = folder / f"{memory}-{name}"
        arguments = [str(folder / "memory.manylabel"), str(folder / "new.csv"), "--output", str(target)]
        assert run(["predict", *arguments, "--memory", memory]) == 0
        written.append(read(target).corpus.columns if name.endswith("parquet") else target.read_text())
    assert written[0] == written[1]
    assert len(read(folder / f"500MB-{name}").corpus) == 40


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
    arguments = ["train", str(folder / "letters.csv"), "--model", str(folder / "x.manylabel"), "--memory", "500MB"]
    assert run([*arguments, "--merge-labels"]) == 2
    assert "--merge-labels needs all documents in memory" in capsys.readouterr().err
    assert run([*arguments, "--method", "label-tree"]) == 2
    assert "raise --memory" in capsys.readouterr().err


@pytest.mark.parametrize("trained", [["--method", "nb-binary"], ["--model", "memory.manylabel"]])
def test_an_evaluation_from_disk_gives_the_figures_of_one_in_memory(
    folder: Path, trained: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    found = []
    for memory in ("8GB", "500MB"):
        assert run(["evaluate", "both.csv", *trained, "--memory", memory, "--json"]) == 0
        evaluated = json.loads(capsys.readouterr().out)
        [result] = evaluated["results"]
        same = ("metrics", "labels", "true_labels_sha256", "train_sha256", "test")
        found.append({"seen": evaluated["training_documents"], **{name: result[name] for name in same}})
    assert found[0] == found[1]
    assert found[0]["test"]["documents"] == 30


def test_a_test_file_is_measured_from_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    found = []
    for memory in ("8GB", "500MB"):
        arguments = ["evaluate", "letters.csv", "--method", "nb-binary", "--test", "new.csv"]
        assert run([*arguments, "--memory", memory, "--json"]) == 0
        evaluated = json.loads(capsys.readouterr().out)
        assert evaluated["split"] == "measured on new.csv"
        same = ("metrics", "labels", "true_labels_sha256", "train_sha256", "train", "test")
        found.append({name: evaluated["results"][0][name] for name in same})
    assert found[0] == found[1]
    assert (found[0]["train"]["documents"], found[0]["test"]["documents"]) == (120, 40)


def test_files_named_after_splits_are_evaluated_from_disk(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = read(folder / "both.csv").corpus
    for split in SPLITS:
        write(replace(corpus.split(split), split_names=None), tmp_path / f"{split}.jsonl")
    sizes = {"memory": "8GB", "disk": "500MB"}
    found = {}
    for name, memory in sizes.items():
        assert run(["evaluate", str(tmp_path), "--method", "nb-binary", "--memory", memory, "--json"]) == 0
        found[name] = json.loads(capsys.readouterr().out)["results"][0]["metrics"]
        assert run(["labels", str(tmp_path), "--memory", memory, "--json"]) == 0
        found[name]["labels"] = json.loads(capsys.readouterr().out)["labels"]
    assert found["memory"] == found["disk"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--method", "nb-binary", "--memory", "150MB"], "Training nb-binary from disk would take about"),
        (["compare", "--memory", "500MB"], "too few to compare anything on. Raise --memory."),
        (["tune", "--memory", "500MB"], "too few to compare anything on. Raise --memory."),
        (["audit", "--memory", "150MB"], "The audit of letters.csv from disk would take about"),
        (["audit", "--memory", "500MB", "--apply", "letters.csv"], "manylabel audit --apply reads all documents"),
        (["labels", "--model", "memory.manylabel", "--memory", "500MB"], "labels --model reads all documents"),
        (["evaluate", "--repeats", "2", "--memory", "500MB"], "evaluate --repeats reads all documents into memory"),
        (["evaluate", "--memory", "500MB", "--report", "x.html"], "--report and --tables: all documents must be in"),
        (["evaluate", "--memory", "500MB"], "There are no documents of the split 'test'"),
    ],
)
def test_what_would_take_more_memory_does_not_start(
    folder: Path,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    assert run([arguments[0], "letters.csv", *arguments[1:]]) == 2
    assert message in capsys.readouterr().err


QUICK = ["--folds", "2", "--jobs", "1"]


def test_a_comparison_of_a_sample_trains_the_winner_from_disk_on_all_documents(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    arguments = ["compare", "both.csv", "--method", "nb-binary", *QUICK, "--memory", "3GB", "--budget", "10m"]
    written = ["--report", "sample.html", "--csv", "sample.csv", "--latex", "sample.tex"]
    assert run([*arguments, "--model", "best.manylabel", *written]) == 0
    page = " ".join(capsys.readouterr().out.split())
    found = page.partition("The figures are those of a random sample of ")[2]
    drawn = int(found.partition(" of 90 documents, because all would take more than --memory.")[0])
    assert 50 <= drawn < 90
    assert f"; {drawn} of them compared;" in page
    assert "The model, trained on 90 documents, is in best.manylabel." in page
    assert not Path("best.manylabel.work").exists()
    assert f"a random sample of {drawn} of 90 documents" in " ".join(Path("sample.html").read_text().split())
    assert f"(a random sample of {drawn} of 90 documents" in Path("sample.tex").read_text()
    assert Path("sample.csv").read_text().splitlines()[1].endswith(f",90,{drawn}")
    # The winner is the model that `train` makes of all documents, and is measured on the 30 test documents.
    best = TextClassifier.load("best.manylabel")
    train = read("both.csv").corpus.split("train")
    texts = read("new.csv").corpus.texts
    whole = TextClassifier.from_recipe(best.recipe).fit(train.texts, train.label_sets)
    assert best.n_documents_ == 90
    assert best.predict(texts) == whole.predict(texts)
    assert "On the test split (30 documents, used only here)" in page


def test_a_winner_that_needs_all_documents_is_trained_on_the_sample(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    arguments = ["compare", "letters.csv", "--method", "label-tree", *QUICK, "--memory", "3GB", "--budget", "10m"]
    assert run([*arguments, "--model", "tree.manylabel", "--test", "new.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["documents"], found["test"]["documents"]) == (120, 40)
    assert 50 <= found["in_memory"] == found["compared"] == found["trained"] < 120
    assert "because it cannot be trained on all of them: LabelTree cannot be" in found["why_not_all"]
    assert TextClassifier.load("tree.manylabel").n_documents_ == found["trained"]


def test_a_budget_that_is_too_short_for_a_training_from_disk_is_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(costs, "START", 1e6)
    arguments = ["compare", "letters.csv", "--method", "nb-binary", *QUICK, "--memory", "3GB", "--budget", "10m"]
    assert run([*arguments, "--model", "short.manylabel"]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert "of 120 documents because of the budget: training from disk takes about" in page


def test_a_search_of_a_sample_trains_from_disk_on_all_documents(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    arguments = ["tune", "letters.csv", "--method", "nb-app", "--trials", "2", *QUICK, "--memory", "3GB"]
    assert run([*arguments, "--model", "tuned.manylabel"]) == 0
    page = " ".join(capsys.readouterr().out.split())
    found = page.partition("The figures are those of a random sample of ")[2]
    assert 50 <= int(found.partition(" of 120 documents, because")[0]) < 120
    assert "The model, trained on 120 documents, is in tuned.manylabel." in page
    assert TextClassifier.load("tuned.manylabel").n_documents_ == 120


def test_an_audit_from_disk_finds_what_one_in_memory_finds(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(large_audit, "label_ranges", lambda sizes, _: [(0, 3), (3, 4), (4, len(sizes))])
    random = np.random.default_rng(0)
    Y = random.random((240, 6)) < 0.3
    words = [[f"topic{label}" for label in np.flatnonzero(row).tolist() for _ in range(3)] for row in Y]
    texts = [" ".join([*own, *(f"other{n}" for n in random.integers(0, 40, 15).tolist())]) for own in words]
    wrong = Y ^ (random.random(Y.shape) < 0.03)
    rows = [
        {"id": f"d{n}", "text": text, "labels": [f"label{k}" for k in np.flatnonzero(wrong[n]).tolist()]}
        for n, text in enumerate(texts)
    ]
    Path("wrong.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["audit", "wrong.jsonl", "--jobs", "1", "--json"]
    found = []
    for memory in ("8GB", "500MB"):
        assert run([*arguments, "--memory", memory]) == 0
        found.append(json.loads(capsys.readouterr().out))
    whole, disk = found
    assert len(whole["doubted"]) == len(disk["doubted"]) == disk["n_doubted"] > 20
    for one, other in zip(whole["doubted"], disk["doubted"], strict=True):
        assert {**one, "probability": 0, "evidence": 0} == {**other, "probability": 0, "evidence": 0}
        assert one["probability"] == pytest.approx(other["probability"], abs=0.002)
        assert [term for term, _ in one["evidence"]] == [term for term, _ in other["evidence"]]
    for name in ("data", "documents", "labels", "assignments", "judged_labels", "unexplained", "alike"):
        assert whole[name] == disk[name]
    assert (whole["not_looked_for"], len(disk["not_looked_for"])) == ([], 2)


# The guard ends the work wherever it is, also just after a file was opened.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_training_that_takes_too_much_memory_ends_and_goes_on_with_more(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, work = tmp_path / "m.manylabel", tmp_path / "m.manylabel.work"
    arguments = ["train", str(folder / "letters.csv"), "--model", str(model), "--method", "nb-binary", "--split", "all"]
    with monkeypatch.context() as patch:
        patch.setattr(memory_guard, "INTERVAL", 0.001)
        patch.setattr(memory_guard, "FIXED_MEMORY", 1e12)  # nothing was held before
        patch.setattr(memory_guard, "resident_bytes", lambda: 6e8 if (work / "tables").exists() else 5e8)
        assert run([*arguments, "--memory", "500MB", "--jobs", "1"]) == 2
    message = capsys.readouterr().err
    assert "The work took 572 MB of memory, more than the 500 MB that --memory allows" in message
    assert str(work) in message
    assert not model.exists()
    assert run([*arguments, "--memory", "700MB", "--jobs", "1"]) == 0
    assert "The interrupted training" in capsys.readouterr().err
    assert model.read_bytes() == (folder / "disk.manylabel").read_bytes()


def test_a_model_that_takes_more_memory_does_not_predict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(folder / "memory.manylabel"), str(folder / "new.csv"), "--memory", "100MB"]
    assert run(["predict", *arguments]) == 2
    assert "more than the 100 MB that --memory allows. Instead, raise --memory." in capsys.readouterr().err


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


def test_a_plan_marks_what_takes_more_memory_than_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    size = ["plan", "--documents", "100000", "--labels", "500", "--method", "nb-binary", "--method", "svm"]
    assert run([*size, "--memory", "700MB"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "svm would take more memory than --memory 700MB allows: train refuses it." in printed
    assert "nb-binary would" not in printed
    assert run([*size, "--memory", "700MB", "--json"]) == 0
    assert [one["fits"] for one in json.loads(capsys.readouterr().out)["methods"]] == [True, False]


def test_a_plan_grows_with_the_corpus(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = []
    for documents in ("1000000", "2000000"):
        assert (
            run(
                [
                    "plan",
                    "--documents",
                    documents,
                    "--labels",
                    "500",
                    "--method",
                    "nb-binary",
                    "--workers",
                    "1",
                    "--json",
                ]
            )
            == 0
        )
        found = json.loads(capsys.readouterr().out)
        seconds.append(found["methods"][0]["seconds"] / found["slowness"])  # how busy the computer is differs
    assert seconds[1] == pytest.approx(2 * seconds[0], rel=0.1)
    assert run(["plan", str(folder / "letters.csv"), "--json"]) == 0
    extent = json.loads(capsys.readouterr().out)["extent"]
    assert extent["documents"] == 120
    assert run(["plan"]) == 2
    bare = folder / "annif" / "train.tsv"
    bare.parent.mkdir()
    bare.write_text("a late bus\t<http://x.org/1>\na hole in the road\t<http://x.org/2>\n" * 5)
    capsys.readouterr()
    assert run(["plan", str(bare)]) == 2
    assert "give the size of the corpus instead of the file: --documents N --labels N" in capsys.readouterr().err


@pytest.mark.parametrize(("memory", "processes"), [("5GB", 1), ("9GB", 2), ("13GB", 3), ("64GB", 4)])
def test_there_are_as_many_processes_as_the_memory_allows(
    memory: str, processes: int, capsys: pytest.CaptureFixture[str]
) -> None:
    size = ["--documents", "2000000", "--labels", "1000", "--method", "svm", "--jobs", "4", "--json"]
    assert run(["plan", *size, "--memory", memory]) == 0
    [found] = json.loads(capsys.readouterr().out)["methods"]
    assert found["workers"] == processes
    assert run(["plan", *size, "--memory", memory, "--workers", str(processes + 1)]) == 0
    [more] = json.loads(capsys.readouterr().out)["methods"]
    assert more["memory"] > in_memory.FIXED_MEMORY + found["memory"]
    assert processes == 4 or more["memory"] > bytes_of(memory) >= found["memory"]


@pytest.mark.parametrize(("memory", "processes"), [("500MB", "1 process"), ("5GB", "2 processes")])
def test_a_training_from_disk_starts_the_processes_of_its_plan(
    folder: Path, tmp_path: Path, memory: str, processes: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(in_memory, "IN_MEMORY", 500_000)
    model = tmp_path / "model.manylabel"
    arguments = ["--model", str(model), "--method", "nb-binary", "--memory", memory, "--jobs", "2"]
    assert run(["train", str(folder / "letters.csv"), *arguments, "--split", "all"]) == 0
    assert f"with {processes} " in capsys.readouterr().err
    assert model.read_bytes() == (folder / "disk.manylabel").read_bytes()


def test_workers_give_the_same_model(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    model = tmp_path / "model.manylabel"
    arguments = ["--model", str(model), "--method", "nb-binary", "--split", "all"]
    assert run(["train", "letters.csv", *arguments, "--workers", "1"]) == 0
    assert model.read_bytes() == Path("disk.manylabel").read_bytes()
    for name, engine in (("alone.csv", []), ("workers.csv", ["--workers", "1"])):
        output = ["--output", str(tmp_path / name), "--threshold", "0.3", "--scores"]
        assert run(["predict", str(model), "new.csv", *output, *engine]) == 0
    assert (tmp_path / "alone.csv").read_text() == (tmp_path / "workers.csv").read_text()
    assert not (tmp_path / "workers.csv.work").exists()
    assert run(["predict", str(model), "new.csv", "--workers", "1"]) == 2


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
