"""Say what is in a model file without loading more of it than that takes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manylabel.decisions.best_rule import chosen_for_metric
from manylabel.decisions.decided import shown_thresholds
from manylabel.exceptions import ModelFileError
from manylabel.modelfile import ModelFile, open_model


@dataclass(frozen=True, slots=True)
class Inspected:
    """The facts of a model file."""

    path: str
    bytes: int
    versions: dict[str, str]
    facts: dict[str, Any]
    labels: list[str]
    label_counts: list[int]
    thresholds: list[float] | None
    language: str | None
    """That of the stemmer, where it was guessed from the texts."""
    chosen: dict[str, Any] | None
    guarantee: dict[str, Any] | None
    arrays: dict[str, dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """The facts as plain data."""
        return asdict(self)


def inspect(path: Path) -> Inspected:
    """Read the header of a model file, its labels and their thresholds; vocabulary and weights stay on disk."""
    opened = open_model(path)
    tree = opened.header["tree"]
    if tree.get("@object") != "TextClassifier":
        raise ModelFileError(f"{path}: this file holds a {tree.get('@object')}, not a TextClassifier.")
    state = tree["state"]
    labels = opened.decode(state["labels_"])
    return Inspected(
        path=str(path),
        bytes=opened.size,
        versions={"manylabel": opened.header["manylabel"], "numpy": opened.header["numpy"]},
        facts=opened.facts,
        labels=labels,
        label_counts=opened.decode(state["label_counts_"]).tolist(),
        thresholds=_thresholds(opened, len(labels)),
        language=((state.get("vectorizer_") or {}).get("state") or {}).get("language_"),
        chosen=_chosen(opened),
        guarantee=_guarantee(opened),
        arrays={
            name: {"dtype": dtype, "shape": list(shape)} for name, (dtype, shape, _) in sorted(opened.places.items())
        },
    )


def _thresholds(opened: ModelFile, n_labels: int) -> list[float] | None:
    decided = opened.header["tree"]["state"]["decided_"]
    rule = opened.decode(decided["state"]["rule_"])
    if rule is None:
        return None
    # What kind its scores are, a model says by its settings: without what it learned it is quickly made.
    kind = opened.decode({**decided["state"]["model_"], "state": {}}).score_kind
    calibration = opened.decode(decided["state"].get("calibration_"))
    values = shown_thresholds(rule, n_labels, kind, calibration)
    return None if values is None else values.tolist()


def _chosen(opened: ModelFile) -> dict[str, Any] | None:
    state = opened.header["tree"]["state"]["decided_"]["state"]
    rule = opened.decode(state["rule_"])
    return None if rule is None else chosen_for_metric(rule, opened.decode(state.get("settings_", {})))


def _guarantee(opened: ModelFile) -> dict[str, Any] | None:
    rule = opened.decode(opened.header["tree"]["state"]["decided_"]["state"]["rule_"])
    guarantee = None if rule is None else rule.guarantee()
    return None if guarantee is None else guarantee.as_dict()
