"""``manylabel evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json
from manylabel.cli.training import skipped_notes
from manylabel.reports.page import Note


def evaluate(
    data: Annotated[
        list[str], typer.Argument(help="A file, a folder or the name of a data set; or several.", show_default=False)
    ],
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="Metric this model file instead of training one.", show_default=False),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", help="A method to train and measure; may be given several times.", show_default=False),
    ] = None,
    setting: o.Setting = None,
    metric: o.TargetMetric = None,
    rules: o.Rules = None,
    hierarchy: o.Hierarchy = None,
    part: o.SplitName = None,
    test_share: o.TestShare = 0.25,
    split_by: o.SplitBy = None,
    drop_duplicates: o.DropDuplicates = False,
    labels: Annotated[str, typer.Option("--labels", help="How many labels the table shows: a number or 'all'.")] = "30",
    per_label: Annotated[
        Path | None,
        typer.Option("--per-label", help="Write the table of labels to this TSV file.", show_default=False),
    ] = None,
    format: o.Format = None,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    label_separator: o.LabelSeparator = None,
    encoding: o.Encoding = None,
    on_error: o.OnError = o.OnErrorChoice.RAISE,
    option: o.ReaderOption = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Measure a model file, or train methods on the training split and measure them on the test split.

    Several methods stand side by side; over several data sets their average ranks are shown at the end.

    Every figure is printed with its convention; where test documents have no label, figures over all documents and
    over the labelled ones stand side by side.
    """
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.data.atomic import check_target
    from manylabel.exceptions import ParameterError
    from manylabel.reports.result_page import result_page, straddling_notes
    from manylabel.reports.saved_results_page import ranks_page
    from manylabel.tasks.evaluate import evaluate_methods, evaluate_model

    if model is not None and (method or setting or rules or metric):
        raise ParameterError(
            "Give --model to measure a model file, or --method, --set and --metric to train one, not both."
        )
    if model is not None and (split_by or drop_duplicates):
        raise ParameterError("--split-by and --drop-duplicates are about training; a model file has been trained.")
    if per_label is not None:
        check_target(per_label, [model, *data])
    limit = o.label_limit(labels)
    sources = [
        o.make_source(
            name, format, text_column, label_column, label_separator, encoding, on_error, option, hierarchy, split_by
        )
        for name in data
    ]
    with progress():
        if model is not None:
            found = [evaluate_model(source, model, part=part) for source in sources]
        else:
            found = [
                evaluate_methods(
                    source,
                    method or [DEFAULT_METHOD],
                    overrides=o.make_overrides(setting, rules, metric),
                    test_share=test_share,
                    drop_duplicates=drop_duplicates,
                    seed=seed,
                    n_jobs=jobs,
                )
                for source in sources
            ]
    if per_label is not None:
        _write_per_label([result for one in found for result in one.results], per_label)
    if json:
        plain = [one.as_dict() for one in found]
        show_json(plain[0] if len(plain) == 1 else plain)
        return
    for one in found:
        page = result_page(one.results, one.split, labels=limit)
        if one.remembered:
            page.append(Note("The model was trained on these very documents: this is memory, not learning.", "warning"))
        page += straddling_notes(None if one.straddle is None else one.straddle.as_dict())
        show([*page, *skipped_notes([str(problem) for problem in one.skipped])])
    if len(found) > 1 and len(found[0].results) > 1:
        show(ranks_page([one.results for one in found]))


def _write_per_label(results: list, path: Path) -> None:  # type: ignore[type-arg]
    from manylabel.data.atomic import atomic_text
    from manylabel.exceptions import ParameterError
    from manylabel.reports.result_page import per_label_tsv

    if len(results) != 1:
        raise ParameterError("--per-label writes the labels of one method; name only one.")
    with atomic_text(path) as stream:
        stream.write(per_label_tsv(results[0]))
