"""``manylabel evaluate``, ``results``, ``learning-curve`` and ``reproduce``."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli import encoders as e
from manylabel.cli import options as o
from manylabel.cli.display import progress, remark, show, show_json, show_records, write_page, write_report
from manylabel.cli.reading import DataOptions, takes_data_options
from manylabel.cli.settings import make_overrides
from manylabel.reports.page import Block, skipped_notes

if TYPE_CHECKING:
    from manylabel.evaluation.repeated_splits import RepeatedSplits
    from manylabel.reports.records import ListedExperiment
    from manylabel.tasks.evaluate import Evaluated


@takes_data_options()
def evaluate(
    data: o.DataSets,
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="Measure this model file instead of training one.", show_default=False),
    ] = None,
    method: o.Methods = None,
    setting: o.Setting = None,
    metric: o.OptionalMetric = None,
    rules: o.Rules = None,
    encoder: e.Encoder = None,
    vectors: e.Vectors = None,
    split: o.SplitName = None,
    test: Annotated[
        Path | None,
        typer.Option(
            "--test",
            help="Documents to measure methods on; by default the test split of the data, or a share of them.",
            show_default=False,
        ),
    ] = None,
    test_share: o.TestShare = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            "--repeats",
            help="Train and measure on this many random splits instead of one; t-tests compare the first method with "
            "the others.",
            show_default=False,
        ),
    ] = None,
    drop_duplicates: Annotated[
        bool, typer.Option("--drop-duplicates", help="Leave near-duplicates of test documents out of training.")
    ] = False,
    single_label: o.SingleLabel = None,
    labels: o.LabelRows = "30",
    per_label: Annotated[
        Path | None,
        typer.Option("--per-label", help="Write the table of labels to this TSV file.", show_default=False),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            callback=o.check_report_ending,
            help="Write the whole report to this file: one self-contained HTML page, or Markdown, text or JSON by its "
            "ending (.md, .txt, .json). How good, how sure and what to do next; all labels, curves, thresholds with a "
            "slider, calibration, confusions, worst mistakes.",
            show_default=False,
        ),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            "--tables", help="Write the tables behind that page as CSV files to a folder.", show_default=False
        ),
    ] = None,
    *,
    reading: DataOptions,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    memory: o.Memory = None,
    json: o.Json = False,
) -> None:
    """Measure a model file, or train methods on the training split and measure them on the test split.

    Several methods are listed side by side; over several data sets their average ranks are shown at the end.

    --repeats 10 draws ten random splits instead, and tests whether the first method differs from the others.

    Every figure is printed with its convention; where test documents have no label, figures over all documents and
    over the labelled ones are listed side by side.
    """
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.data.atomic import check_folder, check_targets
    from manylabel.exceptions import ParameterError
    from manylabel.reports.result_page import per_label_tsv
    from manylabel.tasks.evaluate import evaluate_repeatedly
    from manylabel.tasks.large import check_data
    from manylabel.tasks.large_evaluation import evaluate_methods, evaluate_model
    from manylabel.tasks.planning import check_all_in_memory

    if model is not None and (method or setting or rules or metric):
        raise ParameterError(
            "Give --model to measure a model file, or --method, --set, --rules and --metric to train one, not both. "
            "--metric is what training optimises for. All metrics of a model are measured; --json has those that are "
            "not printed."
        )
    if model is not None and (reading.split_by or drop_duplicates or test_share is not None):
        raise ParameterError(
            "--split-by, --drop-duplicates and --test-share are about training; a model file has been trained."
        )
    if model is None and repeats is None and test is None and split:
        raise ParameterError(
            "--split names the documents on which a model file is measured (--model). Methods are trained on the split "
            "train and measured on the split test."
        )
    if repeats is not None and (model is not None or split or drop_duplicates or per_label is not None):
        raise ParameterError(
            "--repeats trains on random splits of all documents. Leave out --model, --split, --drop-duplicates and "
            "--per-label."
        )
    if vectors is not None and (repeats is not None or test is not None or len(data) > 1):
        raise ParameterError("--vectors holds one row per document of one data set. Leave out --repeats and --test.")
    if test is not None:
        _check_test(data, model, repeats, split or reading.split_by or test_share)
    check_targets([per_label, report], [model, *data, test])
    if tables is not None:
        check_folder(tables)
    limit = o.label_limit(labels)
    sources = [reading.source(name) for name in data]
    check_data(sources)
    methods = method or [DEFAULT_METHOD]
    if per_label is not None and len(methods) * len(data) != 1:
        raise ParameterError("--per-label writes the labels of one method on one data set; name only one of each.")
    overrides = {} if model is not None else make_overrides(setting, rules, metric, encoder, vectors)
    training: dict[str, Any] = {"overrides": overrides, "test_share": test_share, "seed": seed, "n_jobs": jobs}
    analyse = report is not None or tables is not None
    if repeats is not None:
        for one in sources:
            check_all_in_memory(one, memory, "evaluate --repeats")
        with progress():
            repeated = [evaluate_repeatedly(one, methods, repeats=repeats, **training) for one in sources]
        _show_repeated(repeated, report, tables, json)
        return
    measuring: dict[str, Any] = {"analyse": analyse, "memory": memory, "vectors": vectors}
    with progress():
        if model is not None:
            found = [evaluate_model(one, model, split=split, encoder=encoder, **measuring) for one in sources]
        else:
            training |= {"drop_duplicates": drop_duplicates, "single_label": single_label}
            training |= {"test": None if test is None else reading.source(str(test))}
            found = [evaluate_methods(one, methods, **training, **measuring) for one in sources]
    if per_label is not None:
        write_page(per_label, per_label_tsv(found[0].results[0]))
    _show_evaluations(found, limit, report, tables, json)


def _check_test(data: list[str], model: Path | None, repeats: int | None, dividing: str | float | None) -> None:
    """Refuse what ``--test`` cannot be combined with; `dividing` is an option that draws test documents, if any."""
    from manylabel.exceptions import ParameterError

    if len(data) > 1:
        raise ParameterError("--test is for one data set; several were given.")
    if model is not None:
        raise ParameterError(
            f"--test measures methods that are trained on DATA. To measure a model file: manylabel evaluate FILE "
            f"--model {model}."
        )
    if repeats is not None or dividing is not None:
        raise ParameterError(
            "--test names the documents to measure on. Leave out --repeats, --split, --split-by and --test-share."
        )


def _show_evaluations(
    found: list[Evaluated], limit: int | None, report: Path | None, tables: Path | None, json: bool
) -> None:
    from manylabel.reports.evaluation_page import answer_blocks, data_set_blocks, evaluation_title
    from manylabel.reports.saved_results_page import ranks_page

    if json:
        show_records(found)
    else:
        for one in found:
            show([*(block for report in one.reports for block in answer_blocks(report)), *_evaluation_page(one, limit)])
        if len(found) > 1 and len(found[0].results) > 1:
            show(ranks_page([one.results for one in found]))
    if tables is not None:
        _write_tables(tables, found)
    if report is not None:
        measured = [list(zip(one.results, one.analyses, one.reports, strict=True)) for one in found]
        pages = [
            data_set_blocks(_evaluation_page(one, 0, with_foot=False), group)
            for one, group in zip(found, measured, strict=True)
        ]
        title = evaluation_title([one for group in measured for one in group])
        plain = [made.as_dict() for one in found for made in one.reports]
        write_report(report, title, [block for blocks in pages for block in blocks], plain)


def _show_repeated(found: list[RepeatedSplits], report: Path | None, tables: Path | None, json: bool) -> None:
    from manylabel.reports.repeated_page import repeated_page, repeated_report, repeated_tables
    from manylabel.reports.tables import write_tables

    if json:
        show_records(found)
    else:
        for one in found:
            show([*repeated_page(one), *skipped_notes(one.skipped)])
    if tables is not None:
        written = repeated_tables(found)
        write_tables(tables, written)
        remark(f"The tables are in {tables}: {', '.join(written)}.")
    if report is not None:
        plain = [one.as_dict() for one in found]
        write_report(report, "Methods on repeated random splits", repeated_report(found), plain)


def _evaluation_page(one: Evaluated, labels: int | None, *, with_foot: bool = True) -> list[Block]:
    from manylabel.reports.model_page import training_documents_notes
    from manylabel.reports.result_page import result_page, straddling_notes

    page = training_documents_notes(one.seen, one.expected)
    page += result_page(one.results, one.split, labels=labels, with_foot=with_foot)
    page += straddling_notes(one.straddle)
    return [*page, *skipped_notes([str(problem) for problem in one.skipped])]


def _write_tables(folder: Path, found: list[Evaluated]) -> None:
    from manylabel.reports.tables import analysis_tables, write_tables

    tables = analysis_tables([pair for one in found for pair in zip(one.results, one.analyses, strict=True)])
    write_tables(folder, tables)
    remark(f"The tables are in {folder}: {', '.join(tables)}.")


def results(
    files: Annotated[
        list[Path],
        typer.Argument(help="Files that `manylabel evaluate … --json` wrote.", show_default=False),
    ],
    labels: o.LabelRows = "30",
    json: o.Json = False,
) -> None:
    """List saved results side by side, where they were measured alike.

    Results on other documents, other true labels, another split or under other conventions are refused. Over several
    data sets average ranks are shown at the end.
    """
    from manylabel.reports.saved_results_page import ranks_page, saved_results_page
    from manylabel.tasks.evaluate import saved_results

    limit = o.label_limit(labels)
    found = saved_results(files)
    if json:
        show_records(found)
        return
    for one in found:
        show(saved_results_page(one.results, one.split, labels=limit))
    if len(found) > 1 and len(found[0].results) > 1:
        show(ranks_page([one.results for one in found]))


@takes_data_options()
def learning_curve(
    data: o.Data,
    method: o.Method = None,
    setting: o.Setting = None,
    metric: o.Metric = "micro-f1",
    steps: Annotated[int, typer.Option("--steps", help="How many sizes, each up to twice the one before.")] = 6,
    repeats: Annotated[int, typer.Option("--repeats", help="How often smaller sizes are drawn anew.")] = 3,
    report: o.HtmlReport = None,
    labels: o.LabelRows = "10",
    test_share: o.TestShare = None,
    *,
    reading: DataOptions,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Would more documents help, and for which labels? Train on growing shares of the training split.

    Every step is measured on the same test documents. A curve fitted to the steps estimates the value at twice the
    documents; labels are divided into those still rising, those that are level, and those too rare to judge.
    """
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.data.atomic import check_targets
    from manylabel.reports.learning_curve_page import learning_curve_page, learning_curve_report, learning_curve_title
    from manylabel.tasks.learning_curve import learning_curve as task

    limit = o.label_limit(labels)
    check_targets([report], [data])
    with progress():
        found = task(
            reading.source(data),
            method=method or DEFAULT_METHOD,
            overrides=make_overrides(setting, None),
            metric=metric,
            steps=steps,
            repeats=repeats,
            test_share=test_share,
            seed=seed,
            n_jobs=jobs,
        )
    if report is not None:
        write_report(report, learning_curve_title(found), learning_curve_report(found), found.as_dict())
    if json:
        show_json(found.as_dict())
    else:
        show([*learning_curve_page(found, limit), *skipped_notes(found.skipped)])


def reproduce(
    papers: Annotated[
        list[str] | None,
        typer.Argument(help="vilar2004, godbole2004, ueda2002, lee2018, lecture, beyond, or all.", show_default=False),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="EXPERIMENT",
            help="Compute only this experiment of the papers (--list names them); repeatable.",
            show_default=False,
        ),
    ] = None,
    list_experiments: Annotated[
        bool,
        typer.Option("--list", help="List the experiments of the papers (without any: of all), and compute nothing."),
    ] = False,
    report: o.HtmlReport = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repeats and smaller grids: minutes, not an hour.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything anew, also what is cached.")] = False,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Compute the papers' tables and figures, beside their own numbers, with a verdict on each claim.

    Finished work is cached: after an interruption the same command continues where it stopped.
    """
    from manylabel.data.atomic import check_targets
    from manylabel.exceptions import ParameterError
    from manylabel.papers import PAPERS
    from manylabel.reports.reproduction_page import reproduction_html, reproduction_markdown, reproduction_page
    from manylabel.tasks.built_in import ALL, listed_experiments
    from manylabel.tasks.built_in import reproduce as task

    if list_experiments:
        _show_experiments(listed_experiments(papers or [ALL], quick=quick), json)
        return
    if not papers:
        raise ParameterError(
            f"No paper was given. Papers: {', '.join(PAPERS)}, or all. --list lists their experiments."
        )
    check_targets([report])
    with progress():
        found = task(papers, only=only or (), quick=quick, seed=seed, n_jobs=jobs, fresh=fresh)
    chosen = [f"--only {quote(key)}" for key in only or ()]
    command = " ".join(["manylabel reproduce", *papers, *chosen, *(["--quick"] if quick else [])])
    plain = [one.as_dict() for one in found]
    if report is not None and report.suffix in (".md", ".markdown"):
        write_page(report, reproduction_markdown(found, f"{command} --report {quote(report.name)}"))
    elif report is not None and report.suffix in (".txt", ".json"):
        write_report(report, "The papers, reproduced", reproduction_page(found), plain)
    elif report is not None:
        write_page(report, reproduction_html(found))
    if json:
        show_json(plain)
    else:
        show(reproduction_page(found))


def _show_experiments(found: list[ListedExperiment], json: bool) -> None:
    from manylabel.reports.page import Cell, Column, Note, Table

    if json:
        show_json([one.as_dict() for one in found])
        return
    columns = [
        Column("paper"),
        Column("experiment"),
        Column("title"),
        Column("jobs", "count"),
        Column("minutes", "number"),
    ]
    rows: list[list[Cell]] = [[one.paper, one.key, one.title, one.jobs, f"{one.seconds / 60:.1f}"] for one in found]
    example = f"manylabel reproduce {found[0].paper} --only {quote(found[0].key)}"
    show(
        [Table(columns, rows), Note(f"Minutes are for one core, about. To compute one experiment: {example}", "quiet")]
    )
