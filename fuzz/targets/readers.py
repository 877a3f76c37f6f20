"""Every reader of data: one target per format, plus recognition, options, and splits in several files."""

from __future__ import annotations

import io
import tarfile
import warnings
import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
from scipy import sparse

from fuzz.mutation import dictionary, mutated
from fuzz.structures import changed_npy, changed_zip
from fuzz.targets.base import CORPUS, Target, file, files
from manylabel.data.corpus import Corpus
from manylabel.data.description import describe
from manylabel.data.formats import FORMATS, format_named
from manylabel.data.reading import read
from manylabel.estimator import Csr
from manylabel.setting_values import parse_value

CSV, JSON, SPARSE = dictionary("csv"), dictionary("json"), dictionary("sparse")
LINES, SGML = dictionary("lines"), dictionary("sgml")


def use(corpus: Corpus) -> None:
    """Do what every command does with a corpus."""
    describe(corpus)
    if corpus.labels is not None:
        corpus.label_matrix()
    assert len(corpus.texts if corpus.counts is None else corpus.ids) == len(corpus)


def on_error(data: bytes) -> Any:
    """Half of all inputs are read to the end in spite of errors, the other half until the first."""
    return "skip" if zlib.crc32(data) & 1 else "raise"


def reader(format: str, name: str, *beside: str) -> Callable[[bytes], None]:
    """The reader of a format; an input may hold files beside the data as well."""

    def run(data: bytes) -> None:
        path = files(format, (name, *beside), data)[0] if beside else file(format, name, data)
        use(read(path, format=format, on_error=on_error(data)).corpus)

    return run


def small_corpora() -> tuple[Corpus, Corpus]:
    """A corpus of texts and one of counts, for the writers."""
    labels = [["a", "b"], [], ["c"], ["a"]]
    texts = Corpus(
        ids=["1", "2", "x", "y"],
        fields={"title": ["t", "", "u", "v"], "text": ["late bus", 'a, "b"\nc', "été\t中文", "<b>x</b>"]},
        labels=labels,
        split_names=["train", "train", "test", "test"],
        metadata={"date": ["1987-02-26", "1999", "", "2001-01-01"]},
    )
    X = Csr(np.array([[1, 0, 2.5], [0, 0, 0], [0, 3, 1], [4, 0, 0]]))
    counts = Corpus(ids=["1", "2", "x", "y"], fields={}, counts=X, labels=labels, label_names=("a", "b", "c"))
    return texts, counts


def written(format: str, name: str) -> Callable[[], list[bytes]]:
    """A seed from manylabel's own writer."""

    def make() -> list[bytes]:
        row = format_named(format)
        path = file(f"{format}-seed", name, b"")
        row.write(small_corpora()[row.kind == "counts"], path)
        return [path.read_bytes()]

    return make


def archive(files: dict[str, bytes], mode: Any = "w") -> bytes:
    """A tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as made:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            made.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def reuters_archives() -> list[bytes]:
    """The SGML seeds in archives, compressed or not."""
    members = {
        "a/reut2-000.sgm": (CORPUS / "reuters" / "two.sgm").read_bytes(),
        "a/all-topics-strings.lc.txt": b"earn\nacq\n",
    }
    return [archive(members), archive(members, "w:gz")]


def changed_archive(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """An archive with changed members, or with its own bytes changed."""
    if rng.random() < 0.4:
        return mutated(rng, data, seeds, tokens)
    sgml = (CORPUS / "reuters" / "two.sgm").read_bytes()
    names = ["reut2-000.sgm", "a/reut2-001.sgm", "all-topics-strings.lc.txt", "../reut2-002.sgm", "reut2-003.sgm.gz"]
    members = {name: mutated(rng, sgml, [sgml], SGML) for name in rng.sample(names, rng.randint(1, 3))}
    return archive(members, rng.choice(("w", "w:gz")))


def workbooks() -> list[bytes]:
    """Excel workbooks with several kinds of cells."""
    import datetime

    import openpyxl

    made: list[bytes] = []
    for rows in (
        [["text", "labels"], ["late bus", "a;b"], ["x", None], [3, 4.5]],
        [
            ["id", "title", "text", "label_a", "label_b", "date"],
            [1, "t", "bus", 1, 0, datetime.datetime(1987, 2, 26)],
            [2, None, "=1+1", True, "no", "1999"],
        ],
    ):
        book = openpyxl.Workbook()
        sheet = book.active
        for row in rows:
            sheet.append(row)
        if len(made):
            sheet.merge_cells("A2:B3")
            book.create_sheet("other")
        buffer = io.BytesIO()
        book.save(buffer)
        made.append(buffer.getvalue())
    return made


def changed_workbook(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """A workbook with changed XML, or with its own bytes changed."""
    if rng.random() < 0.2:
        return mutated(rng, data, seeds, tokens)
    return changed_zip(rng, data, lambda rng, name, content: mutated(rng, content, [], tokens))


def tables() -> list[bytes]:
    """Parquet tables with columns of many types."""
    import pyarrow
    import pyarrow.parquet

    made = []
    for columns in (
        {"text": ["late bus", "y", "x"], "labels": [["a", "b"], [], None], "id": [1, 2, 3]},
        {
            "text": ["a", "b", "c"],
            "labels": ["a;b", "", None],
            "when": pyarrow.array([0, 10**18, None], pyarrow.timestamp("us")),
        },
        {
            "text": pyarrow.array(["x", "y", "x"]).dictionary_encode(),
            "label_a": [True, False, None],
            "label_b": [0.0, 1.0, 2.0],
            "d": pyarrow.array([2**50, 0, 1], pyarrow.timestamp("s")),
        },
        {
            "text": [b"x", b"\xff", b""],
            "labels": [[["a"]], [[None]], []],
            "n": [{"a": 1}, None, {"a": 2}],
            "t": pyarrow.array([1, 2, 3], pyarrow.date64()),
        },
    ):
        buffer = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(columns), buffer, compression="none")
        made.append(buffer.getvalue())
    return made


def matrices() -> list[bytes]:
    """Sparse matrices in npz files, in every form."""
    made = []
    for dtype in ("f8", "i4", "?"):
        dense = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1], [1, 0, 0]]).astype(dtype)
        for form in (
            sparse.csr_matrix,
            sparse.csc_matrix,
            sparse.coo_matrix,
            sparse.bsr_matrix,
            sparse.dia_matrix,
            sparse.csr_array,
        ):
            buffer = io.BytesIO()
            sparse.save_npz(buffer, form(dense), compressed=False)
            made.append(buffer.getvalue())
    buffer = io.BytesIO()
    np.savez(buffer, X=np.eye(4), Y=np.eye(4, 2))
    return [*made, buffer.getvalue()]


def changed_matrix(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """A matrix with changed arrays, or with its own bytes changed."""
    return mutated(rng, data, seeds, tokens) if rng.random() < 0.15 else changed_zip(rng, data, changed_npy)


def run_matrices(data: bytes) -> None:
    """A matrix of counts beside a sound one of labels, or the other way round."""
    sound = matrices()[0] if not _MATRIX else _MATRIX[0]
    _MATRIX[:] = [sound]
    pair = (data, sound) if zlib.crc32(data) & 2 else (sound, data)
    path, _ = (file("npz", name, content) for name, content in zip(("X.npz", "Y.npz"), pair, strict=True))
    use(read(path, format="npz", on_error=on_error(data)).corpus)


_MATRIX: list[bytes] = []


def run_recognition(data: bytes) -> None:
    """A file whose name does not tell its format."""
    use(read(file("recognition", "data.txt" if zlib.crc32(data) & 4 else "data", data), on_error=on_error(data)).corpus)


def any_seeds() -> list[bytes]:
    """The seeds of all other readers."""
    return [
        seed for target in READERS for seed in (target.seeds() if target.name not in ("recognition", "options") else [])
    ]


OPTIONS = tuple(
    f"{option.name}={value}\t".encode()
    for option in {option.name: option for row in FORMATS for option in row.options}.values()
    for value in (
        "text",
        "a",
        "0",
        "-1",
        "true",
        "[]",
        '["text", "a"]',
        "none",
        "utf-16",
        ";",
        "",
        "1e9",
        "{a=1}",
        "nan",
    )
    if option.name not in ("label_names_file", "label_groups_file", "label_file", "labels_file")
)  # files that options name have targets of their own
SUFFIXES = {row.name: row.suffixes[0] if row.suffixes else "" for row in FORMATS}


def run_options(data: bytes) -> None:
    """The first line names a format and options of its reader, as the command line does; the rest is the file."""
    line, _, content = data.partition(b"\n")
    name, *assignments = line.decode("utf-8", "replace").split("\t")
    options = {
        key.strip().replace("-", "_"): parse_value(value)
        for key, _, value in (one.partition("=") for one in assignments if one)
    }
    path = file("options", f"data{SUFFIXES.get(name, '.csv')}", content)
    inside = [value for key, value in options.items() if key.endswith("_file")]
    if not inside:
        use(read(path, format=name, **options).corpus)


def option_seeds() -> list[bytes]:
    """Every reader's seeds behind a line that names the format."""
    return [row.name.encode() + b"\t\n" + seed for row in FORMATS for seed in BY_FORMAT[row.name].seeds()[:3]]


def changed_options(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Other options before the same file, now and then a changed one."""
    line, _, content = data.partition(b"\n")
    format = line.partition(b"\t")[0].decode()
    named = tuple(format_named(format).options) if format in BY_FORMAT else ()
    own = [token for token in tokens if token.partition(b"=")[0] in {one.name.encode() for one in named}]
    chosen = b"".join(rng.choice(own or tokens) for _ in range(rng.randint(1, 3)))
    line = line + b"\t" + chosen
    if rng.random() < 0.3:
        line = mutated(rng, line, [], tokens).replace(b"\n", b" ")
    return line + b"\n" + (mutated(rng, content, []) if rng.random() < 0.3 else content)


FOLDER = ("one.txt", "one.tsv", "two.txt", "two.key", "three.txt")


def run_folder(data: bytes) -> None:
    """A folder of texts and label files."""
    path = files("directory", FOLDER, data)[0].parent
    use(read(path, format="directory", on_error=on_error(data)).corpus)


def run_splits(data: bytes) -> None:
    """A folder with a file per split."""
    path = files("splits", ("train.csv", "test.csv", "dev.csv"), data)[0].parent
    use(read(path, on_error=on_error(data)).corpus)


def run_reuters_archive(data: bytes) -> None:
    """The archive of Reuters-21578."""
    use(read(file("reuters-archive", "reuters.tar.gz", data), format="reuters", on_error=on_error(data)).corpus)


READERS: tuple[Target, ...] = (
    Target("csv", reader("csv", "data.csv"), written("csv", "data.csv"), CSV),
    Target("tsv", reader("tsv", "data.tsv"), written("tsv", "data.tsv"), CSV),
    Target("jsonl", reader("jsonl", "data.jsonl"), written("jsonl", "data.jsonl"), JSON),
    Target("json", reader("json", "data.json"), tokens=JSON),
    Target("excel", reader("excel", "data.xlsx"), workbooks, dictionary("workbook"), changed_workbook, share=0.2),
    Target("parquet", reader("parquet", "data.parquet"), tables),
    Target("directory", run_folder, tokens=(b"\n=====\n", b"<http://x>\ta\n")),
    Target("annif", reader("annif", "data.tsv"), tokens=(*CSV, b"<http://x>")),
    Target("fasttext", reader("fasttext", "data.ft"), written("fasttext", "data.ft"), LINES),
    Target("libmultilabel", reader("libmultilabel", "data.lml"), written("libmultilabel", "data.lml"), LINES),
    Target("libsvm", reader("libsvm", "data.svm"), written("libsvm", "data.svm"), SPARSE),
    Target("xmc", reader("xmc", "data.xmc"), written("xmc", "data.xmc"), SPARSE),
    Target("arff", reader("arff", "data.arff", "data.xml"), written("arff", "data.arff"), dictionary("arff")),
    Target("npz", run_matrices, matrices, change=changed_matrix),
    Target("reuters", reader("reuters", "data.sgm"), tokens=SGML),
    Target("reuters-archive", run_reuters_archive, reuters_archives, SGML, changed_archive),
    Target("splits", run_splits, tokens=(*CSV, b"\n=====\n")),
    Target(
        "recognition",
        run_recognition,
        any_seeds,
        (*CSV, *JSON, *SPARSE, b"PAR1", b"PK\x03\x04", b"@relation x\n", b"<REUTERS "),
    ),
    Target("options", run_options, option_seeds, OPTIONS, changed_options),
)
BY_FORMAT = {target.name: target for target in READERS}
assert {row.name for row in FORMATS} <= BY_FORMAT.keys(), "every format has a target"
warnings.simplefilter("ignore")
