"""``manylabel labels``, ``audit`` and ``suggest``: what labels look like, which are doubtful, what to label next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_beside, show_json, write_page, write_report
from manylabel.cli.reading import DataOptions, takes_data_options
from manylabel.cli.settings import make_overrides

LISTED = 200
"""Doubted labels that JSON and pages hold at least, with their evidence."""
KnownModel = Annotated[
    Path | None,
    typer.Option("--model", "-m", help="A model file, to add how well it predicts each label.", show_default=False),
]


@takes_data_options("split_by")
def labels(
    data: o.Data,
    model: KnownModel = None,
    split: o.SplitName = None,
    labels: o.LabelRows = "10",
    report: o.HtmlReport = None,
    *,
    reading: DataOptions,
    memory: o.Memory = None,
    json: o.Json = False,
) -> None:
    """Report on labels: sizes and imbalance, pairs that occur together, imply or avoid each other, names, hierarchy.

    With --model also precision, recall and F1 with intervals, confusions, and the terms of labels.
    """
    from manylabel.data.atomic import check_targets
    from manylabel.reports.labels_page import labels_page, labels_report
    from manylabel.reports.page import skipped_notes
    from manylabel.tasks.labels import report as task

    check_targets([report], [data, model])
    limit = o.label_limit(labels)
    with progress():
        terms_for = 10 if limit is None else limit
        found = task(reading.source(data), model, split=split, terms_for=terms_for, memory=memory)
    if report is not None:
        blocks = labels_report(found.report, found.model)
        write_report(report, f"Labels of {found.report.data}", blocks, found.as_dict())
    if json:
        show_json(found.as_dict())
    else:
        page = [*labels_page(found.report, found.model, limit), *skipped_notes(found.skipped)]
        show_beside(report, page)


@takes_data_options("split_by")
def audit(
    data: Annotated[
        str | None,
        typer.Argument(help="A file, a folder, or a data set's name; not needed with --revert.", show_default=False),
    ] = None,
    split: o.SplitName = None,
    rows: Annotated[int, typer.Option("--rows", min=1, help="How many rows to list per table.")] = 20,
    apply: Annotated[
        Path | None,
        typer.Option(
            "--apply",
            help="Write a corrected copy of the file by these decisions: one JSON object per line with document, label "
            'and action (add or remove), and "new": true for a label that no document has yet.',
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="The corrected copy of --apply; by default beside the file.", show_default=False),
    ] = None,
    revert: Annotated[
        Path | None,
        typer.Option("--revert", help="Undo what --apply did, by the record that it wrote.", show_default=False),
    ] = None,
    setting: o.Setting = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    report: o.HtmlReport = None,
    *,
    reading: DataOptions,
    memory: o.Memory = None,
    json: o.Json = False,
) -> None:
    """Find labels that are probably missing or wrong, copies with different labels, and labels that may be one.

    The input is never changed. Documents that would take more than --memory are read from disk; copies, and labels that
    may be two, are then not looked for.
    """
    from manylabel.data.atomic import check_targets
    from manylabel.reports.audit_page import audit_page
    from manylabel.reports.page import skipped_notes
    from manylabel.tasks.large_audit import audit as task

    if data is None or revert is not None or apply is not None:
        _correct(data, apply, output, revert, reading, memory, json)
        return
    check_targets([report], [data])
    source = reading.source(data)
    with progress():
        most, overrides = max(rows, LISTED), make_overrides(setting, None)
        found = task(source, split=split, most=most, overrides=overrides, seed=seed, n_jobs=jobs, memory=memory)
    if report is not None:
        write_report(report, f"Audit of {found.record.data}", audit_page(found.record, None), found.as_dict())
    if json:
        show_json(found.as_dict())
    else:
        page = [*audit_page(found.record, rows), *skipped_notes(found.skipped)]
        show_beside(report, page)


def _correct(
    data: str | None,
    apply: Path | None,
    output: Path | None,
    revert: Path | None,
    reading: DataOptions,
    memory: str | None,
    json: bool,
) -> None:
    """Apply decisions to a copy of the data, or undo that."""
    from manylabel.exceptions import ParameterError
    from manylabel.reports.page import Note
    from manylabel.tasks.corrections import apply_decisions, default_corrected
    from manylabel.tasks.corrections import revert as undo
    from manylabel.tasks.planning import check_all_in_memory

    if revert is not None:
        restored = undo(revert)
        show_json({"restored": str(restored)}) if json else show([Note(f"{restored} has the original bytes again.")])
        return
    if data is None or apply is None:
        raise ParameterError("Name the data to audit, or the record to undo: --revert FILE.")
    target = output or default_corrected(Path(data))
    source = reading.source(data)
    check_all_in_memory(source, memory, "audit --apply")
    done = apply_decisions(source, apply, target, Path(f"{target}.record.jsonl"))
    show_json(done.as_dict()) if json else show([Note(done.text)])


@takes_data_options("split_by", "hierarchy", "drop_unlabelled")
def suggest(
    data: o.Data,
    unlabelled: Annotated[
        str | None,
        typer.Option(
            "--unlabelled",
            help="A file of documents to choose from; by default the documents of the data that have no label.",
            show_default=False,
        ),
    ] = None,
    documents: Annotated[int, typer.Option("--documents", min=1, help="How many documents to choose.")] = 20,
    for_llm: Annotated[
        Path | None,
        typer.Option(
            "--for-llm",
            metavar="FILE",
            help="Write prompts for a language model to this file, one JSON object per document: text, probable labels "
            "and their descriptions. `manylabel distil` reads what it returns (--prompts FILE).",
            show_default=False,
        ),
    ] = None,
    label_descriptions: Annotated[
        Path | None,
        typer.Option("--label-descriptions", help="With --for-llm: what describes the labels.", show_default=False),
    ] = None,
    seed: o.Seed = 0,
    report: o.HtmlReport = None,
    *,
    reading: DataOptions,
    json: o.Json = False,
) -> None:
    """Choose the documents to label next: uncertain, of rare labels, and different from each other."""
    from manylabel.data.atomic import check_targets
    from manylabel.data.strict_json import dumps
    from manylabel.reports.audit_page import suggestion_page
    from manylabel.tasks.suggest import prompts
    from manylabel.tasks.suggest import suggest as task

    check_targets([for_llm, report], [data, unlabelled, label_descriptions])
    others = None if unlabelled is None else reading.source(unlabelled)
    if for_llm is not None:
        with progress():
            asked = prompts(reading.source(data), others, label_descriptions, count=documents, seed=seed)
        write_page(for_llm, "".join(f"{dumps(one)}\n" for one in asked))
        return
    with progress():
        found = task(reading.source(data), others, count=documents, seed=seed)
    if report is not None:
        write_report(report, f"Label next in {found.data}", suggestion_page(found), found.as_dict())
    if json:
        show_json(found.as_dict())
    else:
        show_beside(report, suggestion_page(found))
