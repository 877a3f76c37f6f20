"""Update a model file: other labels, without training again; the record of what changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from manylabel.classifier import TextClassifier
from manylabel.data.label_changes import LabelChanges
from manylabel.exceptions import ParameterError, UnknownNameError
from manylabel.modelfile import open_model
from manylabel.reports.records import UpdateReport
from manylabel.tasks.models import stored_facts

Assignment = tuple[str, str]
"""The kind of a change and ``OLD=NEW``, as a command line gives it."""


def update(
    path: Path, *, assignments: Sequence[Assignment] = (), changes: Path | None = None, output: Path
) -> UpdateReport:
    """Change the labels of a model file and write the changed model to `output`."""
    classifier = TextClassifier.load(path)
    pairs = [] if changes is None else LabelChanges.read(changes)
    wanted = LabelChanges.of_pairs([*pairs, *(_pair(*one, classifier.labels_) for one in assignments)])
    if not wanted:
        raise ParameterError("Nothing to update: give --rename, --retire or --changes.")
    before = len(classifier.labels_)
    classifier.update(rename=wanted.rename, retire=wanted.retire)
    facts = {name: value for name, value in stored_facts(open_model(path)).items() if name != "recipe"}
    classifier.save(output, facts)
    return UpdateReport(
        model=str(path),
        written=str(output),
        method=classifier.recipe.method,
        labels_before=before,
        labels=len(classifier.labels_),
        update=classifier.updates_[-1],
    )


def _pair(kind: str, assignment: str, labels: Sequence[str]) -> tuple[str, str, str]:
    """The change of an ``OLD=NEW`` assignment, divided where what stands before the sign is a label."""
    if kind == "retire":
        return kind, assignment, ""
    pieces = assignment.split("=")
    for count in range(1, len(pieces)):
        label, new = "=".join(pieces[:count]).strip(), "=".join(pieces[count:]).strip()
        if label in labels and new:
            return kind, label, new
    if len(pieces) == 1 or not pieces[-1].strip():
        raise ParameterError(f"--{kind} takes OLD=NEW, for example 'roads=streets', not {assignment!r}.")
    raise UnknownNameError("label", pieces[0].strip(), list(labels))
