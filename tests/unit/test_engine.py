"""Engines: tasks run once, results are complete or missing, and errors of workers reach the caller."""

from pathlib import Path

import pytest

from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.scale.engine import Engine, LocalEngine, SerialEngine, Task, run_task
from manylabel.scale.shards import ShardedCorpus
from manylabel.scale.tables import Tables, merge, merge_files
from manylabel.wording import Interface, settings_worded_for


def some_tables(number: int) -> Tables:
    terms = sorted({"bus", f"t{number}", f"t{number % 3}"})
    X = Csr([[number % 4 + 1] * len(terms), [1] + [0] * (len(terms) - 1)])
    return Tables.of(terms, X, ["a", f"l{number % 2}"], Csr([[1, 1], [0, number % 2]]))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("tables")
    for number in range(20):
        some_tables(number).save(folder / f"{number:02d}")
    return sorted(folder.iterdir())


def as_plain(tables: Tables) -> dict:
    return {
        name: getattr(tables, name)
        if isinstance(getattr(tables, name), (list, int))
        else getattr(tables, name).tolist()
        for name in Tables.__slots__
    }


def test_all_engines_merge_to_the_same_tables(files: list[Path], tmp_path: Path) -> None:
    whole = as_plain(merge([some_tables(number) for number in range(20)]))
    with LocalEngine(2) as local:
        engines: list[Engine] = [SerialEngine(), local]
        for number, engine in enumerate(engines):
            merged = engine.reduce("tables:merge_files", files, tmp_path / str(number), "Merging")
            assert as_plain(Tables.load(merged)) == whole
            engine.rest()
            assert as_plain(merge([Tables.load(path) for path in reversed(files)])) == whole


def test_a_complete_result_is_not_computed_again(files: list[Path], tmp_path: Path) -> None:
    task = Task("tables:merge_files", tmp_path / "merged", {"inputs": [str(files[0])]})
    (tmp_path / "merged").write_text("complete")
    SerialEngine().run([task], "Merging")
    assert (tmp_path / "merged").read_text() == "complete"


def test_a_failed_task_leaves_nothing_behind(tmp_path: Path) -> None:
    corpus = {"shards": [{"path": str(tmp_path / "none.jsonl"), "format": "jsonl"}], "reading": None}
    with pytest.raises(ValueError):
        run_task(Task("matrix:count_shard", tmp_path / "out" / "shard", {"corpus": corpus, "features": {}}))
    assert list((tmp_path / "out").iterdir()) == []


def test_errors_of_workers_are_raised(tmp_path: Path) -> None:
    task = Task("tables:merge_files", tmp_path / "merged", {"inputs": [str(tmp_path / "missing")]})
    with LocalEngine(1) as engine, pytest.raises(RuntimeError, match="FileNotFoundError"):
        engine.run([task], "Merging")


def test_the_end_of_a_worker_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "false")
    task = Task("tables:merge_files", tmp_path / "merged", {"inputs": []})
    message = r"A worker process ended while it ran 'merge_files merged' \(exit code 1\).*The same command goes on"
    with LocalEngine(1) as engine, pytest.raises(DataError, match=message):
        engine.run([task], "Merging")


@pytest.mark.parametrize(("reader", "name"), [("python", "encoding='cp1252'"), ("command line", "--encoding cp1252")])
def test_workers_word_their_errors_for_the_same_reader(reader: Interface, name: str, tmp_path: Path) -> None:
    path, text = tmp_path / "mail.jsonl", '{"text": "späte Straße", "labels": []}'
    path.write_text(text, encoding="utf-8")
    corpus = ShardedCorpus.of(path).as_dict()
    path.write_text(text, encoding="latin-1")
    task = Task("matrix:count_shard", tmp_path / "shard", {"corpus": corpus, "features": {}})
    with LocalEngine(1) as engine, settings_worded_for(reader), pytest.raises(DataError) as raised:
        engine.run([task], "Counting")
    assert f"(many files made on Windows: {name})" in str(raised.value)


def test_the_end_of_a_worker_is_worded_for_the_same_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "false")
    task, reader = Task("tables:merge_files", tmp_path / "merged", {"inputs": []}), settings_worded_for("command line")
    with LocalEngine(1) as engine, reader, pytest.raises(DataError, match="a smaller --memory"):
        engine.run([task], "Merging")


def test_there_is_at_least_one_worker() -> None:
    with pytest.raises(ParameterError, match="at least 1"):
        LocalEngine(0)


def test_tables_are_stored_as_they_are(tmp_path: Path) -> None:
    found = Tables.of(["ä", "日本"], Csr([[1, 2]]), [], Csr([[0]])[:, :0])
    found.save(tmp_path / "tables")
    assert as_plain(Tables.load(tmp_path / "tables")) == as_plain(found)
    merge_files(tmp_path / "merged", [str(tmp_path / "tables")] * 2)
    assert Tables.load(tmp_path / "merged").frequency.tolist() == [2, 4]
