"""Shards: files cut into parts give the documents of the whole file, whatever the format and the size of the parts."""

import gzip
import json
from pathlib import Path

import pytest
import zstandard

from manylabel.data import Corpus, read
from manylabel.exceptions import DataError, MissingDataError, UnknownFormatError
from manylabel.scale import shards
from manylabel.scale.shards import ShardedCorpus

ROWS = [
    {
        "id": f"d{n}",
        "title": f"Title {n}",
        "text": f'bus "{n}" was late,\nagain' + " é" * n,
        "labels": ["buses", "n"][: n % 3],
    }
    for n in range(40)
]


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_BYTES", 300)


def written(folder: Path, name: str) -> Path:
    """The rows in a file whose name tells the format."""
    path, plain = folder / name, folder / "rows.jsonl"
    plain.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS))
    if name != plain.name:
        from manylabel.data import write

        bare = folder / name.removesuffix(".gz").removesuffix(".zst")
        write(read(plain).corpus, bare)
        data = bare.read_bytes()
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(data))
        if name.endswith(".zst"):
            path.write_bytes(zstandard.compress(data))
    return path


def documents(corpus: ShardedCorpus) -> list[tuple]:
    batches = [batch for shard in corpus.shards for batch in corpus.batches(shard)]
    return [row for batch in batches for row in rows_of(batch)]


def rows_of(corpus: Corpus) -> list[tuple]:
    return list(zip(corpus.ids, corpus.texts, map(list, corpus.label_sets), strict=True))


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv", "a.csv.zst", "a.tsv", "a.parquet"])
def test_shards_hold_the_documents_of_the_file(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    corpus = ShardedCorpus.of(path)
    assert documents(corpus) == rows_of(read(path).corpus)
    is_cut = name in ("a.jsonl", "a.csv", "a.tsv")
    assert (len(corpus.shards) > 5) == is_cut
    assert documents(ShardedCorpus.from_dict(json.loads(json.dumps(corpus.as_dict())))) == documents(corpus)


def test_row_groups_of_a_parquet_file_are_shards(tmp_path: Path) -> None:
    import pyarrow.parquet

    path = written(tmp_path, "a.parquet")
    whole = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(whole, tmp_path / "b.parquet", row_group_size=7)
    corpus = ShardedCorpus.of(tmp_path / "b.parquet")
    assert len(corpus.shards) > 2
    assert documents(corpus) == rows_of(read(path).corpus)


def test_documents_without_ids_are_numbered_by_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,labels\n" + "".join(f'"row\n{n}",{"ab"[n % 2]}\n' for n in range(99)))
    corpus = ShardedCorpus.of(path)
    assert len(corpus.shards) > 1
    assert [row[0] for row in documents(corpus)] == read(path).corpus.ids


def test_errors_name_the_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = [json.dumps({"text": f"late bus {n}", "labels": ["a"]}) for n in range(50)]
    path.write_text("\n".join([*good[:44], "{oops", *good[44:]]) + "\n")
    with pytest.raises(DataError, match=r"a\.jsonl, line 45: The line is not JSON"):
        documents(ShardedCorpus.of(path))
    skipping = ShardedCorpus.of(path, on_error="skip")
    assert len(documents(skipping)) == 50
    assert [problem.line for problem in skipping.skipped] == [45]


def test_limits_hold_in_every_process(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    nested = [{"text": f"bus {n}", "labels": ["buses"], "from": [[n]] if n else n} for n in range(40)]
    path.write_text("".join(json.dumps(row) + "\n" for row in nested))
    corpus = ShardedCorpus.of(path, on_error="skip", limits={"nesting": 2})
    assert len(documents(ShardedCorpus.from_dict(corpus.as_dict()))) == 1
    assert len(documents(ShardedCorpus.of(path))) == 40


def test_keys_that_some_shards_lack_are_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [
        {"text": f"a letter about buses {n}"} | ({"labels": ["a"], "title": "T"} if n < 9 else {}) for n in range(60)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert documents(ShardedCorpus.of(path)) == rows_of(read(path).corpus)


def test_a_folder_a_pattern_and_a_list_are_corpora(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"part-{number}.jsonl").write_text(json.dumps({"text": f"bus {number}", "labels": ["a"]}) + "\n")
    (tmp_path / "README.md").write_text("about")
    paths = sorted(tmp_path.glob("part-*"))
    for data in (tmp_path, tmp_path / "part-*.jsonl", paths):
        assert [text for _, text, _ in documents(ShardedCorpus.of(data))] == ["bus 0", "bus 1", "bus 2"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingDataError, match="holds no file of Parquet, JSON lines or CSV"):
        ShardedCorpus.of(tmp_path / "empty")


def test_the_training_split_is_read_unless_another_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"text": f"bus {n}", "labels": ["a"], "split": "test" if n % 4 == 0 else "train"} for n in range(40)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [len(documents(ShardedCorpus.of(path, split=split))) for split in (None, "test", "all")] == [30, 10, 40]


def test_other_formats_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text("1 1:1 2:1\n")
    with pytest.raises(UnknownFormatError, match=r"libsvm, which cannot be read in shards.*Convert it"):
        ShardedCorpus.of(path)
    (tmp_path / "bare.tsv").write_text("a letter about late buses\tbuses\n" * 9)
    with pytest.raises(DataError, match="no header"):
        ShardedCorpus.of(tmp_path / "bare.tsv")


@pytest.mark.parametrize("kept", [40, -3])
def test_a_damaged_zstd_file_is_an_error(tmp_path: Path, kept: int) -> None:
    path = written(tmp_path, "a.jsonl.zst")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match="The zstd file is damaged"):
        documents(ShardedCorpus.of(path))


def test_frames_of_a_zstd_file_follow_one_another(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    lines = [json.dumps({"text": f"late bus {n}", "labels": ["a"]}).encode() + b"\n" for n in range(4)]
    path.write_bytes(b"".join(map(zstandard.compress, lines)))
    assert [text for _, text, _ in documents(ShardedCorpus.of(path))] == [f"late bus {n}" for n in range(4)]
