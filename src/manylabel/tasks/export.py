"""Write a model for another language or engine."""

from __future__ import annotations

from pathlib import Path

from manylabel.classifier import TextClassifier
from manylabel.data.atomic import check_folder, check_target
from manylabel.exceptions import UnknownNameError
from manylabel.exporting.targets import TARGETS
from manylabel.reports.records import ExportRecord


def export(model: Path, target: str, output: Path | None = None) -> ExportRecord:
    """Write the model of a file for a target; by default beside it, under its name with another ending."""
    if target not in TARGETS:
        raise UnknownNameError("target of an export", target, TARGETS)
    ending = TARGETS[target].ending
    where = model.with_name(model.name.removesuffix(".manylabel") + ending) if output is None else output
    if TARGETS[target].is_folder:
        check_folder(where)
    else:
        check_target(where, [model])
    classifier = TextClassifier.load(model)
    files = classifier.export(where, target)
    return ExportRecord(
        model=str(model),
        target=target,
        output=str(where),
        method=classifier.method,
        labels=len(classifier.labels_),
        terms=len(classifier.get_feature_names_out()),
        files=[{"path": str(path), "bytes": path.stat().st_size} for path in files],
    )
