"""Options that several commands share, and how they become what the tasks take."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from manylabel.tasks.corpora import Source


class OnErrorChoice(StrEnum):
    """What to do with a line that cannot be read."""

    RAISE = "raise"
    SKIP = "skip"


class Curve(StrEnum):
    """How scores become probabilities."""

    LOGISTIC = "logistic"
    ISOTONIC = "isotonic"


Data = Annotated[
    str,
    typer.Argument(
        help="A file, a folder, or the name of a data set; 'townhall' comes with manylabel.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="The format of the data, where it is not the one that is guessed.",
        show_default=False,
    ),
]
TextColumn = Annotated[
    str | None, typer.Option("--text-column", help="The column that holds the text.", show_default=False)
]
LabelColumn = Annotated[
    str | None, typer.Option("--label-column", help="The column that holds the labels.", show_default=False)
]
LabelSeparator = Annotated[
    str | None,
    typer.Option("--label-separator", help="What stands between two labels of a document.", show_default=False),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", help="The encoding of the text, where it is not UTF-8.", show_default=False),
]
OnError = Annotated[
    OnErrorChoice, typer.Option("--on-error", help="Stop at a bad line, or skip it and list it at the end.")
]
ReaderOption = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", help="Any other option of the reader, as key=value.", show_default=False),
]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", help="Change a setting of the method, as section.key=value.", show_default=False),
]
RecipeFile = Annotated[
    Path | None,
    typer.Option(
        "--recipe",
        help="A recipe in TOML (`compare` and `tune` print one): method and settings; --set still changes single ones.",
        show_default=False,
    ),
]
Guarantee = Annotated[
    str | None,
    typer.Option(
        "--guarantee",
        help="Guarantee something of new documents: recall=0.9 (at least so much of a document's labels is found on "
        "average) or fdr=0.2 (at most so much of what is given is wrong). A fifth of the documents is held out for it.",
        show_default=False,
    ),
]
Probabilities = Annotated[
    Curve | None,
    typer.Option("--probabilities", help="Show the scores of any method as probabilities.", show_default=False),
]
TargetMetric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="METRIC",
        help="The metric to optimise for: micro-f1, macro-f1, sample-f1, exact-match, hamming-loss or recall@5 (any "
        "number). The decision rule is chosen for it on out-of-fold scores; the default method also chooses its cost.",
        show_default=False,
    ),
]
Rules = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        help="A file of keyword rules, one 'label: query' a line; they come before the method. "
        "`manylabel rules DATA` writes one to start from.",
        show_default=False,
    ),
]
Hierarchy = Annotated[
    str | None,
    typer.Option(
        "--hierarchy",
        help="Which label lies under which: 'names:/' reads it off names such as area/topic; or a file with child, "
        "tab, parent on each line, or a SKOS thesaurus (.ttl, .nt, .rdf, .xml).",
        show_default=False,
    ),
]
SplitBy = Annotated[
    str | None,
    typer.Option(
        "--split-by",
        help="Divide the documents anew: a column (author, thread, source) whose documents all go to one part; "
        "time:COLUMN for the order of time; or 'duplicates' to keep near-duplicates together.",
        show_default=False,
    ),
]
DropDuplicates = Annotated[
    bool,
    typer.Option("--drop-duplicates", help="Leave near-duplicates of test documents out of training."),
]
TestShare = Annotated[
    float, typer.Option("--test-share", help="The share kept for testing where the data have no split.")
]
Seed = Annotated[int, typer.Option("--seed", help="The seed of all that is random.")]
Jobs = Annotated[
    int | None, typer.Option("-j", "--jobs", help="Threads to use; all cores by default.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
SplitName = Annotated[
    str | None,
    typer.Option("--split", help="The split to use (train, test, …, or all).", show_default=False),
]


def with_recipe(
    recipe: Path | None, method: str | None, overrides: dict[str, dict[str, Any]]
) -> tuple[str | None, dict[str, dict[str, Any]]]:
    """The method and settings of a recipe file with some of them changed; without a file, what was given."""
    if recipe is None:
        return method, overrides
    from manylabel.exceptions import ParameterError
    from manylabel.recipe import read_recipe

    if method is not None:
        raise ParameterError("A recipe names its method: give --recipe or --method, not both.")
    written = read_recipe(recipe)
    named = written.pop("method")
    rule = overrides.get("decision", {}).get("rule", written["decision"]["rule"])
    if rule != written["decision"]["rule"]:
        written["decision"] = {}  # another rule has other settings
    return named, {section: {**settings, **overrides.get(section, {})} for section, settings in written.items()}


def make_overrides(
    setting: list[str] | None, rules: Path | None, metric: str | None = None
) -> dict[str, dict[str, Any]]:
    """The settings that ``--set``, ``--rules`` and ``--metric`` change."""
    from manylabel.recipe import parse_settings, with_metric

    overrides = with_metric(parse_settings(setting or []), metric)
    if rules is not None:
        overrides.setdefault("features", {})["rules"] = str(rules)
    return overrides


def with_guarantee(
    overrides: dict[str, dict[str, Any]], guarantee: str | None, probabilities: Curve | None
) -> dict[str, dict[str, Any]]:
    """The settings with those that ``--guarantee`` and ``--probabilities`` stand for."""
    if guarantee is not None:
        from manylabel.exceptions import ParameterError

        metric, equals, level = (part.strip() for part in guarantee.partition("="))
        try:
            guaranteed = {"rule": "guarantee", "metric": metric, "level": float(level)}
        except ValueError:
            guaranteed = {}
        if metric not in ("recall", "fdr") or not equals or not guaranteed:
            raise ParameterError(f"--guarantee is written recall=0.9 or fdr=0.2, not {guarantee!r}.")
        if overrides.get("decision", {}).get("rule", "guarantee") != "guarantee":
            raise ParameterError(
                "--guarantee is a decision rule of its own: give it without --metric and without --set decision.rule=…."
            )
        overrides.setdefault("decision", {}).update(guaranteed)
    if probabilities is not None:
        overrides.setdefault("decision", {})["probabilities"] = probabilities.value
    return overrides


def make_source(
    data: str,
    format: str | None,
    text_column: str | None,
    label_column: str | None,
    label_separator: str | None,
    encoding: str | None,
    on_error: OnErrorChoice,
    option: list[str] | None,
    hierarchy: str | None = None,
    split_by: str | None = None,
) -> Source:
    """The source that a command's options describe."""
    from manylabel.exceptions import ParameterError
    from manylabel.recipe import parse_value
    from manylabel.tasks.corpora import Source

    given: dict[str, Any] = {
        "text_column": text_column,
        "label_column": label_column,
        "label_separator": label_separator,
        "encoding": encoding,
    }
    options = {key: value for key, value in given.items() if value is not None}
    for assignment in option or []:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise ParameterError(f"A reader's option is written key=value, not {assignment!r}.")
        options[key.strip().replace("-", "_")] = parse_value(text)
    return Source(data, format=format, on_error=on_error.value, options=options, hierarchy=hierarchy, split_by=split_by)


def label_limit(labels: str) -> int | None:
    """How many labels ``--labels`` asks for; None for all of them."""
    from manylabel.exceptions import ParameterError

    if labels == "all":
        return None
    if not labels.isdigit():
        raise ParameterError(f"--labels takes a number or 'all', not {labels!r}.")
    return int(labels)
