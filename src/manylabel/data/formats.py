"""The one table of file formats (`FORMATS`).

To add a format, write one module with a reader and a writer and add one row here. Everything else follows from the
row: recognising files, checking options, converting, and the table in the documentation.

>>> [row.name for row in FORMATS if row.kind == "counts"]
['libsvm', 'xmc', 'arff', 'npz']
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from manylabel.data.textfile import is_utf8
from manylabel.exceptions import UnknownNameError
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf, Satisfies, check_parameter
from manylabel.wording import command_line_name

if TYPE_CHECKING:
    from manylabel.data.corpus import Corpus
    from manylabel.data.label_edits import LabelEdits
    from manylabel.data.problems import Problems
    from manylabel.data.reading_options import ReadingOptions


def _is_names(value: object) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(name, str) for name in value)


def _is_delimiter(value: object) -> bool:
    return isinstance(value, str) and len(value) == 1 and value not in '"\r\n\0'


TEXT = Satisfies("a text", lambda value: isinstance(value, str) and "\0" not in value)
NAMES = AnyOf(TEXT, Satisfies("a list of texts", _is_names))
SEPARATOR = Satisfies(
    "a separator such as ';', 'any', 'none' (every cell is one label)", lambda value: value != "" and TEXT.allows(value)
)
FILE = Satisfies("the path of a file", lambda value: isinstance(value, (str, Path)) and "\0" not in str(value))
WHOLE = Number(low=0, whole=True)


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a reader: a keyword in Python, ``-o name=value`` on the command line unless it has a flag."""

    name: str
    help: str
    allowed: Constraint = TEXT
    """What its value may be, besides None for the default."""

    @property
    def on_command_line(self) -> str:
        """How the option is written on the command line."""
        return command_line_name(self.name)


@dataclass(frozen=True, slots=True)
class Format:
    """One row: what a format is called, how its files are recognised, who reads and writes it, with what options.

    Functions are named ``module:function`` and imported when they are needed.
    """

    name: str
    summary: str
    kind: Literal["text", "counts"]
    reader: str
    """``read(path, problems, **options)``, which returns a `Corpus`."""
    writer: str = ""
    """``write(corpus, path)``; empty if the format can only be read."""
    copier: str = ""
    """``write_copy(corpus, edits, target)``: the file of the corpus with changed label cells; empty if none can."""
    suffixes: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    signature: bytes = b""
    """The bytes every file of the format begins with, whatever its suffix."""
    first_line: str = ""
    """A regular expression for the first line that is not a comment (``%``), whatever the suffix."""
    shape: str = ""
    """``looks_like(lines)``: whether the first lines look like the format, asked where nothing above decides."""
    variant_of: str = ""
    """The format whose suffixes files of this one may have too; then the shape decides between the two."""
    doubt: str = ""
    """``is_doubtful(lines)``: whether the shape does not decide between the two, so that the user must do it."""
    layout: str = ""
    """The columns of a table without a header, for the message in case of doubt."""
    folder: str = ""
    """``is_folder(folder, files)``: whether the data files of a folder are one corpus of the format."""
    archive_members: str = ""
    """A pattern for file names that only tar archives, or zip files, of the format hold."""
    not_data: str = ""
    """A regular expression for files with the format's suffix that belong to another file of it."""

    @property
    def writes(self) -> bool:
        """Whether the format can be written."""
        return bool(self.writer)

    def read(
        self, path: Path, problems: Problems, options: Mapping[str, Any], like: ReadingOptions | None = None
    ) -> Corpus:
        """The corpus in a file; `UnknownNameError`, with the nearest name, for an option the reader does not have.

        `like` holds the options with which the documents of a model were read; `options` come before them.
        """
        known = {option.name: option for option in self.options}
        for name, value in options.items():
            if name not in known:
                raise UnknownNameError(f"option of the {self.name} format", name, known)
            check_parameter(f"{self.name} format", name, value, AnyOf(known[name].allowed, OneOf(None)))
        options = {name: value for name, value in options.items() if value is not None}
        if like is not None:
            former = like.options_of(self.name, list(known))
            if "encoding" in former and path.is_file() and is_utf8(path, problems.limits):
                del former["encoding"]
            options = {**former, **options, **({"like": like} if "text_column" in known else {})}
        return cast("Corpus", _function(self.reader)(path, problems, **options))

    def takes(self, option: str) -> bool:
        """Whether the reader has an option of that name."""
        return any(known.name == option for known in self.options)

    def write(self, corpus: Corpus, path: Path) -> None:
        """Write a corpus to a file or a folder."""
        _function(self.writer)(corpus, path)

    def write_copy(self, corpus: Corpus, edits: LabelEdits, target: Path) -> None:
        """Write the file that a corpus was read from, with changed cells."""
        _function(self.copier)(corpus, edits, target)

    def write_table(self, corpus: Corpus, edits: LabelEdits, target: Path) -> None:
        """Write the table that a corpus was read from, with changed cells, where its file has another format."""
        _function("labelled_table:write_edited")(corpus, edits, target, self.name)

    def has_shape(self, lines: list[str]) -> bool:
        """Whether the first lines of a file look like the format."""
        return bool(self.shape) and bool(_function(self.shape)(lines))

    def is_doubtful(self, lines: list[str]) -> bool:
        """Whether the first lines of a file may as well be of the format that this one is a variant of."""
        return bool(self.doubt) and bool(_function(self.doubt)(lines))

    def is_folder(self, folder: Path, files: list[Path]) -> bool:
        """Whether a folder with these data files is one corpus of the format."""
        return bool(self.folder) and bool(_function(self.folder)(folder, files))


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    return cast("Callable[..., Any]", getattr(importlib.import_module(f"manylabel.data.{module}"), function))


ENCODING = Option("encoding", "the encoding of the text, where it is not UTF-8")
COLUMNS = (
    Option(
        "text_column",
        "the column that holds the text; or several, which become the fields of a document, the main text last",
        allowed=NAMES,
    ),
    Option("title_column", "the column that holds the title; where `text_column` is given, none is looked for"),
    Option(
        "label_column",
        "the column that holds the labels; or several, by name, list or pattern (`label_*`), to join: a column of 0 "
        "and 1 or yes and no is a label of its name",
        allowed=NAMES,
    ),
    Option(
        "label_separator",
        "what separates two labels of a cell; `none` for one label per cell, `any` where people used several signs",
        allowed=SEPARATOR,
    ),
    Option("labels", "whether to read labels", allowed=FLAG),
    Option("id_column", "the column that holds the documents' ids"),
    Option("split_column", "the column that holds the split: train, test, dev"),
)
DELIMITED = (
    Option(
        "delimiter",
        "what separates two cells",
        allowed=Satisfies("one character other than a quote or a line break", _is_delimiter),
    ),
    Option("header", "whether the first row holds the names of the columns", allowed=FLAG),
    Option("quoting", "whether cells may be quoted", allowed=FLAG),
    *COLUMNS,
    Option("label_names_file", "a file with the names of the labels 0, 1, 2 …, one per line", allowed=FILE),
    Option("label_groups_file", "a JSON file that maps groups to lists of labels", allowed=FILE),
    ENCODING,
)

FORMATS: tuple[Format, ...] = (
    Format(
        "csv",
        "comma-separated table, a column of texts and one or more of labels",
        "text",
        reader="delimited:read",
        writer="delimited:write_csv",
        copier="delimited_copy:write_copy",
        suffixes=(".csv",),
        options=DELIMITED,
        shape="delimited:is_csv",
    ),
    Format(
        "tsv",
        "tab-separated table, with or without a header line",
        "text",
        reader="delimited:read",
        writer="delimited:write_tsv",
        copier="delimited_copy:write_copy",
        suffixes=(".tsv", ".tab"),
        options=DELIMITED,
        shape="delimited:is_tsv",
        layout="texts, then labels",
    ),
    Format(
        "jsonl",
        "one JSON object per line (ours, Annif's, {text, labels})",
        "text",
        reader="jsonl:read",
        writer="jsonl:write",
        suffixes=(".jsonl", ".ndjson", ".json"),
        options=(*COLUMNS, ENCODING),
        first_line=r'\{".*\}',
    ),
    Format(
        "json",
        "a JSON array of objects (pandas' records)",
        "text",
        reader="jsonl:read_records",
        options=(*COLUMNS, ENCODING),
        shape="jsonl:is_records",
        variant_of="jsonl",
    ),
    Format(
        "excel",
        "Excel workbook, column names in the first row (needs openpyxl)",
        "text",
        reader="excel:read",
        writer="labelled_table:write_excel",
        copier="excel_copy:write_copy",
        suffixes=(".xlsx", ".xlsm"),
        options=(
            Option("sheet", "the name of the sheet, where it is not the first one", allowed=AnyOf(TEXT, WHOLE)),
            *COLUMNS,
        ),
        archive_members="workbook.xml",
    ),
    Format(
        "parquet",
        "Parquet table (needs pyarrow)",
        "text",
        reader="parquet:read",
        writer="parquet:write",
        suffixes=(".parquet", ".pq"),
        options=COLUMNS,
        signature=b"PAR1",
    ),
    Format(
        "directory",
        "folder of .txt files with .tsv or .key label files (Annif)",
        "text",
        reader="directory:read",
        writer="directory:write",
        options=(ENCODING,),
        folder="directory:is_folder",
    ),
    Format(
        "annif",
        "text, tab, URIs in angle brackets; no header line (Annif's TSV, also read as `tsv`)",
        "text",
        reader="labelled_lines:read_annif",
        writer="labelled_lines:write_annif",
        options=(ENCODING,),
    ),
    Format(
        "fasttext",
        "__label__a __label__b text",
        "text",
        reader="labelled_lines:read_fasttext",
        writer="labelled_lines:write_fasttext",
        suffixes=(".ft", ".fasttext"),
        options=(Option("label_prefix", "what labels begin with (__label__)"), ENCODING),
        first_line=r"__label__.*",
    ),
    Format(
        "libmultilabel",
        "[ID<TAB>]label label<TAB>text (LibMultiLabel)",
        "text",
        reader="labelled_lines:read_libmultilabel",
        writer="labelled_lines:write_libmultilabel",
        suffixes=(".lml",),
        options=(ENCODING,),
        shape="labelled_lines:is_libmultilabel",
        variant_of="tsv",
        doubt="labelled_lines:may_begin_with_texts",
        layout="labels, then texts",
    ),
    Format(
        "libsvm",
        "1,3,5 12:0.5 40:1 (multi-label libsvm)",
        "counts",
        reader="sparse_lines:read_libsvm",
        writer="sparse_lines:write_libsvm",
        suffixes=(".svm", ".libsvm", ".svmlight"),
        options=(
            Option("zero_based", "whether columns are numbered from 0 instead of 1", allowed=FLAG),
            Option("features", "the number of columns", allowed=WHOLE),
            ENCODING,
        ),
        shape="sparse_lines:is_libsvm",
    ),
    Format(
        "xmc",
        "header N V L, then labels and feature:value pairs",
        "counts",
        reader="sparse_lines:read_xmc",
        writer="sparse_lines:write_xmc",
        suffixes=(".xmc",),
        options=(ENCODING,),
        shape="sparse_lines:is_xmc",
        variant_of="libsvm",
    ),
    Format(
        "arff",
        "Mulan or MEKA ARFF, sparse or dense, or one nominal class",
        "counts",
        reader="arff:read",
        writer="arff:write",
        suffixes=(".arff",),
        options=(
            Option("label_file", "Mulan's XML file of labels", allowed=FILE),
            Option(
                "label_count",
                "how many of the first attributes are labels; -5 for the last five",
                allowed=Number(whole=True),
            ),
            ENCODING,
        ),
        first_line=r"(?i)@relation.*",
    ),
    Format(
        "npz",
        "a pair X.npz, Y.npz of SciPy sparse matrices",
        "counts",
        reader="npz:read",
        writer="npz:write",
        suffixes=(".npz",),
        options=(Option("labels_file", "the file of the label matrix", allowed=FILE),),
        archive_members="*.npy",
        not_data=r"(.*_)?y\.npz",
    ),
    Format(
        "reuters",
        "Reuters-21578 SGML, from its archive",
        "text",
        reader="reuters_sgml:read",
        suffixes=(".sgm", ".tar.gz", ".tgz", ".tar"),
        options=(
            Option("split", "modapte, random, or all (no split)"),
            Option("label_set", "all135, train115, R90, R10, or a list of topics", allowed=NAMES),
            Option("unlabelled_train", "keep or drop training documents without a label"),
            Option("unlabelled_test", "keep or drop test documents without a label"),
            Option("fields", 'title, body, or both: ["title", "body"]', allowed=NAMES),
            Option("dedupe_labels", "whether a label that is given twice counts once", allowed=FLAG),
            Option("cardinality", "any, or unilabel for documents with exactly one label"),
            Option("unused", "keep or drop the documents that ModApte does not use"),
            Option("test_share", "the share for testing of the random split", allowed=Number(low=0, high=1)),
            Option("seed", "the seed of the random split", allowed=WHOLE),
        ),
        first_line=r".*<!DOCTYPE lewis.*|<REUTERS .*",
        folder="reuters_sgml:is_folder",
        archive_members="reut2-*.sgm",
    ),
)

BY_NAME = {row.name: row for row in FORMATS}


def format_named(name: str) -> Format:
    """The row of that name; `UnknownNameError` offers the nearest."""
    if name not in BY_NAME:
        raise UnknownNameError("format", name, BY_NAME)
    return BY_NAME[name]


def name_without_suffix(path: Path) -> str:
    """A file's name without the suffix of its format and of its compression; other dots belong to the name.

    >>> [name_without_suffix(Path(name)) for name in ("x.csv.gz", "x.corrected.csv", "reuters.tar.gz", "mail.2026")]
    ['x', 'x.corrected', 'reuters', 'mail.2026']
    """
    name = path.name
    if name.lower().endswith((".gz", ".zst")):
        name = name.rpartition(".")[0]
    known = {".txt", *(suffix for row in FORMATS for suffix in row.suffixes)}
    return name.rpartition(".")[0] if Path(name).suffix.lower() in known else name
