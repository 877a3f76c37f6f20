"""Generate the documentation that comes from the program itself.

python docs/build.py            writes docs/methods.md, docs/metrics.md, docs/formats.md, docs/licences.md (of the
                                packages installed) and docs/images/demo.svg
python docs/build.py --check    prints which pages are out of date, and exits with 1 if any is
"""

import io
import re
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from rich.console import Console

from manylabel.catalog import DEFAULT_METHOD, METHODS
from manylabel.cli.display import draw
from manylabel.data.columns import IDS, SIDE_FIELDS, SPLITS, TEXTS, TITLES
from manylabel.data.corpus import SPLIT_NAMES
from manylabel.data.formats import FORMATS, Option
from manylabel.data.label_cells import NO, YES
from manylabel.data.label_columns import LABELS
from manylabel.metrics import HIERARCHICAL_METRICS, METRICS, RANKING_METRICS
from manylabel.metrics.by_frequency import BANDS, CONVENTION
from manylabel.reports.result_page import MANY_LABELS, demo_page
from manylabel.tasks.built_in import demo

DOCS = Path(__file__).parent
PICTURE = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: {char_height}px;
  line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>{lines}</defs>{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""

SEPARATORS = """
Case and blanks around a name do not matter. Where several names for the main text occur, the first of the list is
taken, and `describe` names the others. Where `--text-column` is given, exactly the columns that it names are read as
texts, and a title only if it is given too. Columns of labels with two meanings, such as `tags` and `topics`, are an
error that asks for `--label-column`; `labels` comes before all others. Numbered columns (`tag1`, `tag2`; `label_1`,
`label_2`) are joined. Where no column has a usual name for labels, two or more columns of 0 and 1 (or true and false)
are labels of their names.

| what | separators that are recognised | to choose another |
| --- | --- | --- |
| cells of CSV | the one of `,` `;` tab `\\|` that is most frequent in the first line | `-o delimiter=';'` |
| labels of a cell | `;` or `\\|` where one occurs, then `,`, then blanks | `--label-separator ','` |
| labels in a list | `["a", "b"]` as in JSON or Python, `{"choices": ["a", "b"]}` as in Label Studio | |
| URIs | `<http://…> <http://…>` | |

Where a comma or a blank may belong to a name ("Smith, John", "real estate"), manylabel asks instead of guessing.
`--label-separator none` makes every cell one label. `--label-separator any` is for cells that people wrote in several
ways: it splits them at `;`, `|`, `,`, and at a slash between blanks.
"""
READING = """
## Files for Annif

| Annif's corpus | command |
|---|---|
| short texts (TSV): a text, a tab, URIs | `manylabel convert DATA out.tsv --to annif` |
| full texts: a folder of `.txt` files | `manylabel convert DATA FOLDER` |

The TSV holds `<URI> <URI>` for each text; ids, splits and metadata are lost, and a label without a URI is an error. The
folder holds `.tsv` files (`<URI>`, tab, name) where labels have URIs, otherwise `.key` files with one name per line.

Labels have URIs where the data give them, or a vocabulary (`--vocabulary subjects.tsv`); `convert` does not look for
one beside the data. All other formats hold either names or URIs: a notice is printed where names replace URIs.
Without `--to annif`, `out.tsv` is a table with a header.

## How data are read, and how later data are

`manylabel describe DATA` explains every choice with its reason and the option that changes it: format, columns,
separator, labels per document, language, HTML. What cannot be decided from the data is an error that names the
options.

A model remembers its choices: the columns of texts and labels, the separator that was seen, and the options that were
given. `predict` and `evaluate` read new files in the same way unless an option says otherwise, and so do the splits
of a folder after the first. A column that was given in training and is missing is an error; one that was found by its
name is reported, and others are chosen. `predict` reads no labels. In Python: `load("new.csv", like=model.reading)`.

Labels that differ only in case, blanks or Unicode form are reported with their numbers of documents; `--merge-labels`
(`load(…, merge_labels=True)`) keeps the most frequent spelling of each. Addresses (`http://…`) are compared as they
are.

What a file may hold is limited, so that a small file cannot take all memory: [limits.md](limits.md) lists the limits
and how to raise them.

## Empty rows and cells

| in CSV, TSV and Excel | what it is |
|---|---|
| a blank line, or a row whose cells are all empty | no document: it is left out, and nothing is printed |
| a row with a text and no labels | a document without a label |
| a row with labels and no text | a document without words |

`predict` keeps empty rows, without labels, so that every row has its prediction, except at the end of the file. Rows
keep their line numbers, also after empty ones: in messages, and as ids where the table has none. `describe` and `train`
print how many documents are left; of this table it is three:

```text title="letters.csv"
text,labels
late bus,buses

,
a letter of thanks,
,roads
```

```text
3 documents (1 without a label), 2 labels
```

`describe` also prints "1 document has no words." A JSON object whose text is `null` or missing is an error that names
the line. `--on-error skip` leaves it out.

## JSON output

Everything that manylabel writes as JSON (`--json`, `predict`, `.jsonl` files) can be read by any JSON parser. JSON
has no NaN and no infinity, so these are written as `null`:

| key | `null` means |
|---|---|
| `threshold` | no score reaches it: the label is never predicted (with `--raw-scores`; as a probability it is 1) |
| `score` | the label is impossible for the document, for example because it never occurred in training |
| a metric | it is undefined, for example the ranking metrics of a method without scores |

## Predictions beside your own columns

`manylabel predict MODEL DATA --output out.xlsx` (or `.csv`, `.tsv`, `.parquet`, `.jsonl`; `--to` for other names)
writes all columns of the data, in their order and as they were read, and adds `labels` and `scores`. Where the data
have a column of such a name, it is kept, and the predictions are in `predicted_labels` or `predicted_scores`; the
command prints so. The scores are those of the predicted labels; `--scores` adds the best other labels. Labels are
joined by `;`, and are lists in Parquet and JSON. CSV keeps the delimiter of the data, and is always UTF-8. The file is
written whole or not at all. `--output -` is standard output, as without the option: ids and labels alone, as text.

In a workbook every text is stored as text, also where it begins with `=`, `+`, `-` or `@`. CSV and TSV cannot tell a
text from a formula, and a spreadsheet may run such a cell when it opens the file; Excel may also take UTF-8 for another
encoding. Write `.xlsx` for spreadsheets.
"""
METRICS_INTRO = """\
# Metrics

A metric is a number for how well predicted labels agree with true labels. This page lists all of them; [choosing a
metric](guides/choosing-a-metric.md) helps to decide which one matters to you. `manylabel evaluate` prints them, and
`manylabel.metrics` computes them.

*Precision* is the share of the predicted labels that are right, *recall* the share of the true labels that are
predicted, and *F1* their harmonic mean, 2PR/(P + R). *Micro* averages count all documents and labels together, so that
frequent labels decide. *Macro* averages are means over labels, so that each label counts the same. Programs differ in
what they do with empty label sets, labels that never occur, and ties: the column *convention* states what manylabel
does.
"""
CURVES = """
## Curves

`label_curves` computes the precision–recall curve and the ROC curve of every label, their areas, and their micro and
macro averages. It takes the true labels and the scores; documents are rows and labels are columns.

    >>> from manylabel.metrics import label_curves
    >>> Y_true = [[1, 0], [0, 1], [0, 0]]
    >>> scores = [[0.9, 0.3], [0.5, 0.2], [0.1, 0.1]]
    >>> curves = label_curves(Y_true, scores, ["buses", "roads"])
    >>> for curve in [*curves.labels, curves.micro, curves.macro]:
    ...     print(curve.name, curve.positives, curve.average_precision, curve.roc_auc)
    buses 1 1.0 1.0
    roads 1 0.5 0.5
    micro 2 0.75 0.75
    macro 2 0.75 0.75
    >>> roads = curves.labels[1]
    >>> list(zip(roads.thresholds, roads.recall, roads.precision))
    [(0.3, 0.0, 0.0), (0.2, 1.0, 0.5), (0.1, 1.0, 0.3333333333333333)]

The result is plain data: `dataclasses.asdict(curves)` can be written as JSON. A number that is undefined is `None`: the
areas of a label without a positive or without a negative document, and the thresholds of macro curves. Such labels are
left out of the macro average. [ranking.md](ranking.md) lists the functions that return the same curves as arrays.
"""


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown; nothing where there are no rows."""
    lines = [head, ["---"] * len(head), *rows] if rows else []
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def methods(pages: Mapping[str, str]) -> str:
    """The page of methods, from the catalogue; `pages` has a page for each that has one."""
    rows = [
        [
            (f"[`{m.name}`]({pages[m.name]})" if m.name in pages else f"`{m.name}`")
            + (" (default)" if m.name == DEFAULT_METHOD else ""),
            m.title,
            f"`{m.decision}`",
            m.source,
        ]
        for m in METHODS.values()
    ]
    intro = (
        "# Methods\n\nA method is a named pipeline from texts to labels: features, a model and a decision rule. The "
        "default is right for most data; [Which method for what?](guides/which-method.md) helps with special cases. "
        "Each family has a page, from [SVMs](methods/svm.md) to [parametric mixtures](methods/parametric-mixtures.md). "
        'To use another method: `manylabel train DATA --method NAME`, or `TextClassifier("NAME")` in Python.\n\n'
    )
    return intro + table(["method", "what it does", "decision rule", "source"], rows)


def metrics() -> str:
    """The page of metrics and their conventions."""
    head = ["metric", "title", "convention", "source"]
    sets, rankings, hierarchical = (
        table(head, [[f"`{m.name}`", m.title, m.convention, m.source] for m in rows.values()])
        for rows in (METRICS, RANKING_METRICS, HIERARCHICAL_METRICS)
    )
    intro = METRICS_INTRO + "\n## Metrics of label sets\n\n"
    of_rankings = (
        "\n## Metrics of label rankings\n\nThese need scores: see [ranking.md](ranking.md). All of them, `recall@10` "
        "among them, leave out documents without a label.\n\n"
    )
    with_ancestors = (
        "\n## Metrics of label sets with their ancestors\n\nThese need a label hierarchy: see "
        "[methods/hierarchies.md](methods/hierarchies.md).\n\n"
    )
    return intro + sets + _by_frequency() + of_rankings + rankings + with_ancestors + hierarchical + CURVES


def _by_frequency() -> str:
    """The section on quality by frequency."""
    bands = [f"{least} or more" if most is None else f"{least} to {most}" for least, most in BANDS if least]
    return (
        "\n## Quality by frequency\n\nMost labels of a library are on few documents, and these are learned worst. From "
        f"{MANY_LABELS} labels on, `manylabel evaluate` prints how well labels with {', '.join(bands[:-1])} and "
        f"{bands[-1]} training documents are predicted; labels that training never saw have a row of their own, 0. "
        "`--json` has these figures for any number of labels (`by_frequency`), and `frequency_bands` computes them.\n\n"
        f"{CONVENTION}\n"
    )


def columns() -> str:
    """The names of columns that are recognised, as a section of the page of formats."""
    splits: dict[str, list[str]] = {}
    for spelling, name in SPLIT_NAMES.items():
        splits.setdefault(name, []).append(spelling)
    values = "; ".join(f"{name}: {_listed(spellings)}" for name, spellings in splits.items())
    rows = [
        ["the main text", _listed(TEXTS), "`--text-column`"],
        ["a title", _listed(TITLES), "`-o title_column=…`"],
        ["further texts beside the main one", _listed(SIDE_FIELDS), "`--text-column`, repeated"],
        ["labels", _listed(LABELS), "`--label-column`"],
        [
            "ids",
            f"{_listed(IDS)}; other names that end in ID, and names such as `Ticket No`, `Case number`, "
            "`Vorgangsnummer` and `numéro de dossier`, where every value is different",
            "`-o id_column=…`",
        ],
        ["splits", f"{_listed(SPLITS)}. Their values: {values}", "`-o split_column=…`"],
        [
            "marks of a label column",
            f"yes: {_listed(sorted(YES))}; no: {_listed(sorted(NO))}",
            "`--label-column`, repeated",
        ],
    ]
    head = (
        "\n## Which columns are recognised\n\nIn tables, JSON lines, Excel and Parquet, by names in English, then "
        "German, French, Spanish, Finnish and Dutch:\n\n"
    )
    return head + table(["what", "names", "to choose another"], rows) + SEPARATORS


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def formats() -> str:
    """The formats and the options of their readers as a page."""
    rows = [
        [f"`{f.name}`", ", ".join(f"`{e}`" for e in f.suffixes), f.summary, "texts" if f.kind == "text" else "counts",
         "read, write" if f.writes else "read"]
        for f in FORMATS
    ]  # fmt: skip
    holders: dict[Option, list[str]] = {}
    for row in FORMATS:
        for option in row.options:
            holders.setdefault(option, []).append(f"`{row.name}`")
    options = [
        [f"`{option.name}`", f"`{option.on_command_line}`", option.help, ", ".join(names)]
        for option, names in holders.items()
    ]
    return (
        "# Formats\n\nmanylabel detects the format of a file from its content and its suffix, "
        "and unpacks `.gz` and `.zst` (the latter with `pip install 'manylabel[scale]'`).\n\n"
        + table(["format", "suffixes", "what it is", "documents are", ""], rows)
        + "\n*read, write* is about `manylabel convert`. `manylabel predict --output FILE` writes CSV, TSV, JSON "
        "lines, Parquet and Excel (`.xlsx`).\nFiles with other labels, as `audit --apply` and `corpora export` "
        "write them, keep the columns of CSV, TSV and Excel, also where `corpora export` writes another of these "
        "formats:\n[the corrected copy](audit.md#the-corrected-copy).\n" + columns() + "\n## Options of the readers\n\n"
        'In Python: `load("mail.csv", id_column="number")`. On the command line: `manylabel describe mail.csv '
        "-o id_column=number`; values are written as in TOML.\n\n"
        + table(["option", "on the command line", "what it is", "formats"], options)
        + READING
    )


LICENCES = """\
# Licences of dependencies

manylabel is under the Apache License 2.0. The packages below are installed with it, or with one of its extras
(`pip install 'manylabel[parquet]'`). Licences are those that the packages themselves declare.
[vendor.toml](../src/manylabel/web/vendor/vendor.toml) lists the libraries for web pages that manylabel contains, with
theirs. The packages that engines (Dask, Polars, Ray and Spark) and encoders need in turn are not listed.
`python docs/build.py` writes this page.

"""
ENGINES = {
    "dask": ("BSD-3-Clause", "dask"),
    "distributed": ("BSD-3-Clause", "dask"),
    "polars": ("MIT License", "polars"),
    "pyspark": ("Apache-2.0", "spark"),
    "ray": ("Apache 2.0", "ray"),
    "sentence-transformers": ("Apache-2.0", "encoders"),
    "tokenizers": ("Apache Software License", "static"),
}
"""The licences of engines and encoders and their extras: the environment of the documentation does not have them."""


def licences() -> str:
    """The page of licences: all packages that manylabel and its extras need, directly or not, and what needs them."""
    needed: dict[str, list[str]] = {}
    for extra, names in EXTRAS.items():
        for name in names:
            needed.setdefault(name, []).append(f"`{extra}`" if extra else "manylabel")
    waiting = list(needed)
    while waiting:
        name = waiting.pop(0)
        for further in _needs(name):
            if further not in needed:
                waiting.append(further)
            if name not in needed.setdefault(further, []) and further not in DIRECT:
                needed[further].append(name)
    rows = [[name, _licence(name), ", ".join(sorted(needed[name]))] for name in needed if name not in ENGINES]
    rows += [[name, licence, f"`{extra}`"] for name, (licence, extra) in ENGINES.items()]
    rows.sort(key=lambda row: row[0].lower())
    return LICENCES + table(["package", "licence", "needed by"], rows)


def _requirements(lines: Sequence[str]) -> list[str]:
    """The names of the packages in requirements that are installed, without those of extras and of other platforms."""
    needed = [one for one in map(Requirement, lines) if one.marker is None or one.marker.evaluate({"extra": ""})]
    names = [re.sub(r"[-_.]+", "-", one.name) for one in needed]
    return [name for name in names if next(iter(Distribution.discover(name=name)), None)]


def _needs(name: str) -> list[str]:
    return _requirements(distribution(name).requires or [])


PROJECT = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {
    "": _requirements(PROJECT["dependencies"]),
    **{
        extra: _requirements(lines)
        for extra, lines in PROJECT["optional-dependencies"].items()
        if extra not in ("dev", "fuzz", "docs")
    },
}
"""The packages that manylabel (the empty name) and its extras name themselves."""
DIRECT = {name for names in EXTRAS.values() for name in names}


def _licence(name: str) -> str:
    """The licence that an installed package declares: an SPDX expression, a classifier, or the beginning of a text."""
    facts = distribution(name).metadata
    classified = [
        line.rpartition(" :: ")[2] for line in facts.get_all("Classifier", []) if line.startswith("License ::")
    ]
    plain = facts.json
    text = str(plain.get("license", "")).strip().partition("\n")[0]
    return str(plain.get("license_expression", "")) or ", ".join(classified) or text or "see the package"


def picture() -> str:
    """What `manylabel demo` prints, as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        shown = demo(Path(folder) / "demo.manylabel")
    console = Console(record=True, width=108, file=io.StringIO(), force_terminal=True, highlight=False)
    page = demo_page(shown.result, shown.split, shown.letters, "demo.manylabel", probabilities=shown.probabilities)
    draw(console, page)
    return console.export_svg(title="manylabel demo", code_format=PICTURE, unique_id="demo")


def main() -> int:
    """Write the pages, or check them."""
    pages = {"methods.md": methods({}), "metrics.md": metrics(), "formats.md": formats()}
    if "--check" in sys.argv:
        stale = [name for name, text in pages.items() if (DOCS / name).read_text(encoding="utf-8") != text]
        if stale:
            sys.stderr.write(f"Out of date: {', '.join(stale)}. Run make docs.\n")
        return bool(stale)
    pages["licences.md"] = licences()
    pages["images/demo.svg"] = picture()
    (DOCS / "images").mkdir(exist_ok=True)
    for name, text in pages.items():
        (DOCS / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
