"""``manylabel train``, ``inspect``, ``card``, ``thresholds``, ``export``, ``methods`` and ``demo``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from manylabel.cli import encoders as e
from manylabel.cli import options as o
from manylabel.cli.display import progress, remark, show, show_json, write_page, write_report
from manylabel.cli.reading import DataOptions, takes_data_options
from manylabel.cli.settings import make_overrides, with_guarantee, with_recipe
from manylabel.reports.page import Column, Note, Table

LabelDescriptions = Annotated[
    Path | None,
    typer.Option(
        "--label-descriptions",
        metavar="FILE",
        help="What describes the labels: a CSV or TSV file or JSON lines with label, name and description, or SKOS. It "
        "counts for less the more documents there are; labels without documents are learned from it alone.",
        show_default=False,
    ),
]


@takes_data_options("split_by")
def train(
    data: Annotated[
        str | None,
        typer.Argument(
            help="A file, a folder, or the name of a data set; 'townhall' comes with manylabel. Not needed with "
            "--label-descriptions.",
            show_default=False,
        ),
    ] = None,
    model: o.NewModel = None,
    method: o.Method = None,
    recipe: o.RecipeFile = None,
    setting: o.Setting = None,
    metric: o.OptionalMetric = None,
    guarantee: o.Guarantee = None,
    probabilities: o.Probabilities = None,
    rules: o.Rules = None,
    encoder: e.Encoder = None,
    vectors: e.Vectors = None,
    label_descriptions: LabelDescriptions = None,
    order_by: Annotated[
        str | None,
        typer.Option(
            "--order-by",
            metavar="COLUMN",
            help="A column of dates: thresholds and the quality to expect are learned in time-ordered folds. Use it "
            "where new documents are later ones.",
            show_default=False,
        ),
    ] = None,
    split: o.SplitName = None,
    single_label: o.SingleLabel = None,
    *,
    reading: DataOptions,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    memory: o.Memory = None,
    workers: o.Workers = None,
    cluster: o.Cluster = None,
    json: o.Json = False,
) -> None:
    """Learn from labelled documents and write a model file.

    Where the data have a training split, only that is used; --split all uses all documents.
    """
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.data.atomic import check_target
    from manylabel.reports.model_page import training_page
    from manylabel.tasks.large import chosen_engine
    from manylabel.tasks.large import train as task
    from manylabel.tasks.models import trained_on

    target = model or o.default_model_path(data or str(label_descriptions or "model"))
    check_target(target, [data, recipe, rules, label_descriptions])
    method, overrides = with_recipe(
        recipe,
        method,
        with_guarantee(make_overrides(setting, rules, metric, encoder, vectors), guarantee, probabilities),
    )
    former = trained_on(target)
    with progress(), chosen_engine(workers, cluster) as engine:
        trained = task(
            reading.source(data or ""),
            target,
            method=method or DEFAULT_METHOD,
            overrides=overrides,
            split=split,
            single_label=single_label,
            seed=seed,
            n_jobs=jobs,
            memory=memory,
            engine=engine,
            vectors=vectors,
            descriptions=label_descriptions,
            order_by=order_by,
        )
    if former not in (None, trained_on(target)):
        remark(f"{target}: this replaced the model of {former}. Use --model to keep both.")
    if json:
        show_json(trained.record.as_dict())
    else:
        settings = setting_arguments(overrides, single_label)
        show(training_page(trained.record, shlex.join([data or "DATA"]) + reading.arguments(), settings))


def setting_arguments(overrides: Mapping[str, Mapping[str, Any]], single_label: bool | None) -> str:
    """The changed settings, as they are written on a command line.

    >>> setting_arguments({"model": {"C": 0.5, "base": "svm"}}, None)
    ' --set model.C=0.5 --set model.base=svm'
    """
    words: list[str] = []
    for section, values in overrides.items():
        for name, value in values.items():
            words += ["--set", f"{section}.{name}={value if isinstance(value, str) else dumps(value)}"]
    if single_label is not None:
        words.append("--single-label" if single_label else "--multi-label")
    return " " * bool(words) + shlex.join(words)


def inspect(
    model: o.ModelFile,
    labels: o.LabelRows = "20",
    json: o.Json = False,
) -> None:
    """Show what is in a model file: recipe, labels, thresholds, sizes, versions. A damaged file is refused."""
    from manylabel.reports.model_page import inspect_page
    from manylabel.tasks.models import inspect as task

    limit = o.label_limit(labels)
    found = task(model, verify=True)
    if json:
        show_json(found.as_dict())
    else:
        show(inspect_page(found, limit))


def card(
    model: o.ModelFile,
    about: Annotated[
        str | None, typer.Option("--about", help="What the model is for, and what it is not for.", show_default=False)
    ] = None,
    licence: Annotated[
        str | None, typer.Option("--licence", help="The licence of the model.", show_default=False)
    ] = None,
    contact: Annotated[
        str | None, typer.Option("--contact", help="Whom to ask about the model.", show_default=False)
    ] = None,
    labels: o.LabelRows = "20",
    report: o.HtmlReport = None,
    json: o.Json = False,
) -> None:
    """Write the card of a model: its data, quality by label, limits, provenance, licence and recipe."""
    from manylabel.data.atomic import check_targets
    from manylabel.reports.card_page import card_markdown, card_page, card_title
    from manylabel.tasks.card import Statements
    from manylabel.tasks.card import card as task

    check_targets([report], [model])
    limit = o.label_limit(labels)
    found = task(model, Statements(about, licence, contact))
    if report is not None and report.suffix in (".md", ".markdown"):
        write_page(report, card_markdown(found))
    elif report is not None:
        write_report(report, card_title(found), card_page(found), found.as_dict())
    if json:
        show_json(found.as_dict())
    elif report is None:
        show(card_page(found, limit))


@takes_data_options("hierarchy", "split_by")
def thresholds(
    model: o.ModelFile,
    assigned: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="LABEL=X", help="Set the threshold of a label.", show_default=False),
    ] = None,
    everywhere: Annotated[
        float | None, typer.Option("--all", help="Set the threshold of all labels.", show_default=False)
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            "--precision",
            help="Set each label's threshold to reach this precision, with as much recall as possible.",
            show_default=False,
        ),
    ] = None,
    recall: Annotated[
        float | None,
        typer.Option(
            "--recall",
            help="Set each label's threshold to reach this recall, with as few predictions as possible.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="With --precision or --recall: a label to change; repeatable.", show_default=False),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            help="Labelled documents on which to measure precision and recall, instead of the out-of-fold figures in "
            "the model. The model must not be trained on them.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="The model file to write, with the changes.", show_default=False)
    ] = None,
    labels: o.LabelRows = "20",
    json: o.Json = False,
    *,
    reading: DataOptions,
) -> None:
    """Show the thresholds of a model, or write a new model file in which they are corrected."""
    from manylabel.data.atomic import check_target
    from manylabel.exceptions import ParameterError
    from manylabel.reports.thresholds_page import thresholds_page
    from manylabel.tasks.thresholds import Target
    from manylabel.tasks.thresholds import thresholds as task

    if sum(given is not None for given in (assigned or None, everywhere, precision, recall)) > 1:
        raise ParameterError("--set, --all, --precision and --recall exclude one another. Apply them one by one.")
    target = None if precision is None else Target("precision", precision)
    target = target if recall is None else Target("recall", recall)
    if only and target is None:
        raise ParameterError("--only goes with --precision or --recall. To set one label, use --set 'LABEL=0.6'.")
    if output is not None:
        check_target(output, [model, data])
        if target is None and everywhere is None and not assigned:
            raise ParameterError("--output writes a corrected model: give --set, --all, --precision or --recall.")
    limit = o.label_limit(labels)
    with progress():
        found = task(
            model,
            values=_thresholds_of(assigned) if assigned else everywhere,
            target=target,
            only=only or (),
            source=None if data is None else reading.source(data),
            output=output,
        )
    if json:
        show_json(found.as_dict())
    else:
        show(thresholds_page(found, limit))


def _thresholds_of(assignments: list[str]) -> dict[str, float]:
    """The thresholds of ``LABEL=X`` assignments."""
    from manylabel.exceptions import ParameterError

    values = {}
    for assignment in assignments:
        label, equals, text = assignment.rpartition("=")
        try:
            values[label.strip()] = float(text)
        except ValueError:
            equals = ""
        if not equals:
            raise ParameterError(f"A threshold is written LABEL=X, for example 'roads=0.6', not {assignment!r}.")
    return values


def export(
    model: o.ModelFile,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="TARGET",
            help="What to write: json (the model as data), js (one JavaScript file), sklearn (a pipeline), "
            "onnx (a graph from counts of terms on) or duckdb (functions for DuckDB).",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            help="The file (json, js) or folder (sklearn, onnx, duckdb) to write; by default beside the model.",
            show_default=False,
        ),
    ] = None,
    json: o.Json = False,
) -> None:
    """Write a model for another language or engine, where it gives the same labels without manylabel."""
    from manylabel.reports.model_page import export_page
    from manylabel.tasks.export import export as task

    found = task(model, to, output)
    if json:
        show_json(found.as_dict())
    else:
        show(export_page(found))


def methods(json: o.Json = False) -> None:
    """List the methods, each with its source."""
    from manylabel.catalog import DEFAULT_METHOD, METHODS

    if json:
        show_json(
            [{"name": m.name, "title": m.title, "source": m.source, "decision": m.decision} for m in METHODS.values()]
        )
        return
    rows = [
        [m.name + (" *" if m.name == DEFAULT_METHOD else ""), m.title, m.decision, m.source] for m in METHODS.values()
    ]
    columns = [Column("method"), Column("description"), Column("decision rule"), Column("source")]
    show([Table(columns, rows), Note("* the default", "quiet")])


def demo(
    model: Annotated[Path, typer.Option("--model", "-m", help="The model file to write.")] = Path("demo.manylabel"),
    method: o.Method = None,
    seed: o.Seed = 0,
    json: o.Json = False,
) -> None:
    """Train on the letters that come with manylabel, measure the model, and label three new letters."""
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.data.atomic import check_target
    from manylabel.reports.result_page import demo_page
    from manylabel.tasks.built_in import demo as task

    check_target(model)
    with progress():
        shown = task(model, method=method or DEFAULT_METHOD, seed=seed)
    if json:
        show_json(shown.as_dict())
    else:
        show(demo_page(shown.result, shown.split, shown.letters, str(model), probabilities=shown.probabilities))
