"""Options that several commands share, and how they become what the tasks take."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Curve(StrEnum):
    """How scores become probabilities."""

    LOGISTIC = "logistic"
    ISOTONIC = "isotonic"
    NONE = "none"


Data = Annotated[
    str,
    typer.Argument(
        help="A file, a folder, or the name of a data set; 'townhall' comes with manylabel.",
        show_default=False,
    ),
]
DataSets = Annotated[
    list[str], typer.Argument(help="A file, a folder or the name of a data set; or several.", show_default=False)
]
ModelFile = Annotated[Path, typer.Argument(help="A model file.", show_default=False)]
NewModel = Annotated[
    Path | None,
    typer.Option("--model", "-m", help="The model file to write; DATA.manylabel by default.", show_default=False),
]
Method = Annotated[
    str | None, typer.Option("--method", help="A method; `manylabel methods` lists them.", show_default=False)
]
Folds = Annotated[int, typer.Option("--folds", help="The number of folds of the cross-validation.")]
REPORT_ENDINGS = (".html", ".htm", ".md", ".markdown", ".txt", ".json")


def check_report_ending(path: Path | None) -> Path | None:
    """The file of a report; an error where the ending of its name asks for a form that reports do not have."""
    from manylabel.exceptions import ParameterError

    if path is not None and path.suffix.lower() not in REPORT_ENDINGS:
        raise ParameterError(
            f"--report {path}: a report is HTML, Markdown, text or JSON. Give a name that ends in one of "
            f"{', '.join(REPORT_ENDINGS)}."
        )
    return path


def several_names(given: list[str] | None) -> list[str] | None:
    """The names of an option that may be repeated and takes several names separated by commas; None for none.

    >>> several_names(["svm, nb", "knn"]), several_names([])
    (['svm', 'nb', 'knn'], None)
    """
    from manylabel.exceptions import ParameterError

    names = [name.strip() for one in given or [] for name in one.split(",") if name.strip()]
    if given and not names:
        raise ParameterError(f"{','.join(given)!r} holds no name. Separate names by commas, or leave the option out.")
    return names or None


Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "--methods",
        callback=several_names,
        help="The methods, separated by commas or by repeating the option; `manylabel methods` lists all.",
        show_default=False,
    ),
]
HtmlReport = Annotated[
    Path | None,
    typer.Option(
        "--report",
        callback=check_report_ending,
        help="Write a report to this file: one self-contained HTML page, or Markdown, text or JSON by its ending.",
        show_default=False,
    ),
]
LabelRows = Annotated[str, typer.Option("--labels", help="How many labels to list: a number or 'all'.")]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", help="Change a setting of the method, as section.key=value.", show_default=False),
]
RecipeFile = Annotated[
    Path | None,
    typer.Option(
        "--recipe",
        help="A recipe in TOML with method and settings, as `compare` and `tune` print; --set changes single settings.",
        show_default=False,
    ),
]
Guarantee = Annotated[
    str | None,
    typer.Option(
        "--guarantee",
        help="What to guarantee for new documents: recall=0.9 (on average at least 90 % of a document's labels are "
        "predicted) or fdr=0.2 (on average at most 20 % of the predicted labels are wrong). A fifth of the documents "
        "is held out for it.",
        show_default=False,
    ),
]
Probabilities = Annotated[
    Curve | None,
    typer.Option(
        "--probabilities",
        help="The curves that show scores as probabilities: by default logistic ones wherever thresholds are learned; "
        "'none' shows the method's own scores.",
        show_default=False,
    ),
]
METRICS = "micro-f1, macro-f1, sample-f1, exact-match, hamming-loss or recall@5 (any number)"
Metric = Annotated[str, typer.Option("--metric", metavar="METRIC", help=f"The metric to optimise for: {METRICS}.")]
OptionalMetric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="METRIC",
        help=f"The metric to optimise for: {METRICS}. The decision rule is chosen for it on out-of-fold scores; the "
        "default method also chooses its cost.",
        show_default=False,
    ),
]
Rules = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        help="A file of keyword rules, one 'label: query' per line; they come before the method. "
        "`manylabel rules DATA` writes one to start from.",
        show_default=False,
    ),
]


def check_share(share: float | None) -> float | None:
    """The share of documents for testing; an error where it would leave a split empty."""
    from manylabel.exceptions import ParameterError

    if share is not None and not 0 < share < 1:
        raise ParameterError(
            f"--test-share must be above 0 and below 1, for example 0.25 for a quarter, not {share:g}."
        )
    return share


TestShare = Annotated[
    float | None,
    typer.Option(
        "--test-share",
        callback=check_share,
        help="The share of documents for the test split where the data have none; 0.25 by default.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The seed of the random numbers.")]
Jobs = Annotated[
    int | None, typer.Option("-j", "--jobs", help="Threads to use; all cores by default.", show_default=False)
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="The memory that may be used, such as 2GB. A larger corpus is read from disk by `train`, `predict`, "
        "`evaluate` and `labels`; otherwise a command that would take more does not start. By default, half of the "
        "free memory.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
SingleLabel = Annotated[
    bool | None,
    typer.Option(
        "--single-label/--multi-label",
        help="Predict exactly one label per document, the one with the highest score, or any number. By default one "
        "where every training document has exactly one label.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="Read from disk, with this many worker processes on this computer.",
        show_default=False,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Read from disk, on a Dask cluster, such as tcp://10.0.0.1:8786, whose workers read and write the same "
        "files at the same paths.",
        show_default=False,
    ),
]
SplitName = Annotated[
    str | None,
    typer.Option("--split", help="The split to use (train, test, …, or all).", show_default=False),
]


def label_limit(labels: str) -> int | None:
    """The number of labels that ``--labels`` asks for; None for all of them."""
    from manylabel.exceptions import ParameterError

    if labels == "all":
        return None
    if not labels.isdigit():
        raise ParameterError(f"--labels takes a number or 'all', not {labels!r}.")
    return int(labels)


def default_model_path(data: str) -> Path:
    """The model file of some data unless --model names another: in the current folder, named after the data."""
    from manylabel.data.formats import name_without_suffix

    return Path(f"{name_without_suffix(Path(data)) or 'model'}.manylabel")
