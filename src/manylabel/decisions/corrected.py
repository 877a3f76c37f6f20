"""Thresholds corrected after training, and the mapping by which users see and correct them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from manylabel.decisions.base import FALLBACK, LabelThresholdRule
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.model_with_rule import ModelWithRule
from manylabel.decisions.shown import score_thresholds
from manylabel.decisions.temperature import Temperature
from manylabel.decisions.threshold_figures import ThresholdFigures
from manylabel.estimator import Floats, Ints
from manylabel.exceptions import DecisionError, ParameterError, UnknownNameError
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import Constraint
from manylabel.stored import Each, Fields, Maybe, Scalar, Sometimes, Stored, Word, reals, total
from manylabel.strategies.described import DescribedLabels
from manylabel.wording import is_worded_for, settings_text

PER_LABEL = {"decision.rule": "per-label"}
"""The setting by which each label has a threshold of its own."""
LISTED = 20
"""How many corrected labels a record names; of more it keeps the number."""

CHANGE: Mapping[str, Stored] = {
    "reason": Word(),
    "labels": total(),
    "thresholds": Sometimes(Each(Fields({"label": Word(), "from": Maybe(Scalar()), "to": Maybe(Scalar())}), None)),
}
"""What is stored of a change of thresholds."""


class CorrectedThresholds(LabelThresholdRule):
    """The labels whose score reaches the label's threshold, some of them set by a user after training.

    `corrected` makes it from the rule of a model. It keeps the thresholds in the units of the scores, the corrected
    ones also as they were set, and a record of every change.
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {"fallback": FALLBACK}
    shown_: Floats
    """The thresholds as they were set; NaN for labels that keep theirs."""
    changes_: list[dict[str, Any]]
    learned: ClassVar[Mapping[str, Stored]] = {
        **LabelThresholdRule.learned,
        "shown_": reals("labels"),
        "changes_": Each(Fields(CHANGE), None),
    }

    def __init__(self, fallback: Literal["none", "argmax"] = "none") -> None:
        self.fallback = fallback

    def corrected_thresholds(self) -> Floats:
        """The thresholds as they were set; NaN for labels that keep theirs."""
        return self.shown_

    def changes(self) -> list[dict[str, Any]]:
        """The changes, the first one first."""
        return self.changes_


def corrected(
    decided: ModelWithRule, labels: Sequence[str], columns: Ints, shown: Floats, reason: str
) -> CorrectedThresholds:
    """The rule of a model with new thresholds for the labels in `columns`, in the units shown to users.

    The other labels keep their thresholds, and the rule its fallback. New thresholds for all labels replace any rule,
    without a fallback.
    """
    rule, kind, n_labels = decided.rule_, decided.score_kind, len(labels)
    calibration = decided.calibration_
    if isinstance(calibration, Temperature) or (rule is not None and rule.predicts_one_label):
        leave = "Use predict --threshold to leave uncertain documents without a label, or train"
        train = leave if is_worded_for("command line") else "Train"
        raise DecisionError(
            "This model predicts exactly one label per document, the one with the highest score, so it has no "
            f"thresholds. {train} with {settings_text(single_label=False)}."
        )
    before = decided.thresholds()
    everything = len(np.unique(columns)) == n_labels
    if before is None and not everything:
        raise DecisionError(
            "This model decides label sets as a whole, so a single label has no threshold. Set all thresholds at once, "
            f"or train with {settings_text(**PER_LABEL)}."
        )
    wanted = np.full(n_labels, math.nan)
    wanted[columns] = shown
    kept = None if rule is None else rule.score_thresholds(n_labels, kind)
    old = np.full(n_labels, math.nan) if kept is None else kept
    if kind is ScoreKind.MARGIN:  # margins of exactly 0 are not predicted by rules that learn nothing
        old = np.where(old == 0, np.nextafter(0.0, math.inf), old)
    thresholds = np.where(np.isnan(wanted), old, score_thresholds(wanted, kind, calibration))
    set_before = None if rule is None else rule.corrected_thresholds()
    shown_before = np.full(n_labels, math.nan) if set_before is None else set_before
    change: dict[str, Any] = {"reason": reason, "labels": len(columns)}
    if len(columns) <= LISTED:
        old_values = [None] * len(columns) if before is None else before[columns].tolist()
        change["thresholds"] = [
            {"label": labels[column], "from": old_value, "to": float(value)}
            for column, old_value, value in zip(columns.tolist(), old_values, shown.tolist(), strict=True)
        ]
    fallback: Any = "none" if rule is None or everything else rule.fallback
    return CorrectedThresholds(fallback).restore(
        {
            "thresholds_": thresholds,
            "shown_": np.where(np.isnan(wanted), shown_before, wanted),
            "changes_": [*([] if rule is None else rule.changes()), change],
        }
    )


def checked_thresholds(
    values: float | Mapping[str, float], labels: Sequence[str], probabilities: bool
) -> tuple[Ints, Floats]:
    """The columns of labels and their new thresholds; a number is the threshold of all labels."""
    found = values if isinstance(values, Mapping) else dict.fromkeys(labels, values)
    given = {str(label): value for label, value in found.items()}  # labels of a model may be numbers
    places = {label: column for column, label in enumerate(labels)}
    for label, value in given.items():
        if label not in places:
            raise UnknownNameError("label", label, list(labels))
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or (probabilities and not 0 <= value <= 1):
            wanted = "a number from 0 to 1, because scores are shown as probabilities" if probabilities else "a number"
            whose = f"The threshold of {label!r}" if isinstance(values, Mapping) else "The threshold"
            if isinstance(value, (str, int, float, np.generic, type(None))):
                raise ParameterError(f"{whose} must be {wanted}, not {value!r}.")
            raise ParameterError(
                f"{whose} must be {wanted}, not {type(value).__name__}. Thresholds of several labels are a dict from "
                f"label to number, for example {{{label!r}: 0.5}}; dict(zip(labels, numbers)) makes one."
            )
    columns = np.array([places[label] for label in given], dtype=np.int64)
    return columns, np.array([float(value) for value in given.values()])


def figures_of(decided: DecidedModel) -> ThresholdFigures:
    """The figures of out-of-fold scores that a model keeps; an error that names the cause where it has none."""
    if decided.figures_ is not None:
        return decided.figures_
    if isinstance(decided.model_, DescribedLabels) and decided.model_.model_ is None:
        cause = "learned from label descriptions alone"
        remedy = f"Train it with at least {decided.folds} documents that have labels."
    elif decided.learns_out_of_fold and decided.probabilities is None:
        cause = "was trained without probabilities"
        remedy = f"Train it with {settings_text(**{'decision.probabilities': 'logistic'})}."
    else:
        cause = "has a decision rule that learns no thresholds"
        remedy = f"Train it with {settings_text(**PER_LABEL)}."
    raise DecisionError(f"This model {cause}, so it has no figures of out-of-fold scores. {remedy}")


def checked_target(precision: float | None, recall: float | None) -> tuple[Literal["precision", "recall"], float]:
    """Which of the two figures labels should reach, and how much of it.

    >>> checked_target(0.9, None)
    ('precision', 0.9)
    """
    given: dict[Literal["precision", "recall"], Any] = {"precision": precision, "recall": recall}
    named = [(figure, least) for figure, least in given.items() if least is not None]
    if len(named) != 1:
        raise ParameterError("Give either a precision or a recall that labels should reach, for example precision=0.9.")
    ((figure, least),) = named
    if isinstance(least, bool) or not isinstance(least, (int, float, np.integer, np.floating)) or not 0 < least <= 1:
        raise ParameterError(f"{figure} must be a number above 0 and up to 1, not {least!r}.")
    return figure, float(least)


class LabelThresholds(MutableMapping[str, float]):
    """The threshold of each label of a model, by its name or number; assigning to a label corrects the model.

    >>> changed = []
    >>> thresholds = LabelThresholds({"roads": 0.5, "buses": 0.25}, changed.append)
    >>> thresholds
    {'roads': 0.5, 'buses': 0.25}
    >>> thresholds["buses"] = 0.4
    >>> changed
    [{'buses': 0.4}]
    """

    def __init__(self, values: Mapping[str, float], change: Callable[[Mapping[str, float]], None]) -> None:
        self._values = dict(values)
        self._change = change

    def __getitem__(self, label: object) -> float:
        if not self._values:
            raise KeyError("The decision rule of this model has no thresholds of labels.")
        if str(label) not in self._values:
            raise KeyError(str(UnknownNameError("label", label, self._values)))
        return self._values[str(label)]

    def __setitem__(self, label: object, value: float) -> None:
        self._change({str(label): value})
        self._values[str(label)] = float(value)

    def __delitem__(self, label: str) -> None:
        raise DecisionError("A label keeps its threshold. To never predict it, set the threshold to 1.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)
