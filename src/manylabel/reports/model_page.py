"""Sentences about a trained model: what training chose, and what is guaranteed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def chosen_text(chosen: Mapping[str, Any]) -> str:
    """The sentence of what a `manylabel.decisions.base.Choice` holds.

    >>> facts = {"title": "Micro F1", "rule": "global", "value": 0.875, "settings": {"C": 0.25, "averaged": True}}
    >>> chosen_text(facts)
    'Chosen for micro F1 on out-of-fold scores: the rule global, C = 0.25, averaged (micro F1 87.5 % there).'
    """
    title = chosen["title"][0].lower() + chosen["title"][1:]
    settings = [name if value is True else f"{name} = {value:g}" for name, value in chosen["settings"].items()]
    parts = [f"the rule {chosen['rule']}", *settings]
    found = "" if math.isnan(chosen["value"]) else f" ({title} {100 * chosen['value']:.1f} % there)"
    return f"Chosen for {title} on out-of-fold scores: {', '.join(parts)}{found}."


def guarantee_text(guarantee: Mapping[str, Any]) -> str:
    """What is guaranteed, what it rests on, and, where it was measured, what became of it.

    >>> facts = {"metric": "recall", "level": 0.9, "documents": 200, "threshold": 0.1, "risk": 0.09, "bound": 0.0945}
    >>> said = guarantee_text({**facts, "measured": 0.912, "measured_on": 50})
    >>> for sentence in said.split(". "):
    ...     print(sentence)
    Guaranteed, recall 0.9: new documents of the same kind get at least 90 % of their labels on average
    It rests on 200 held-out documents with a label: recall 0.910 there, 0.905 with the correction for their number
    Measured here: recall 0.912, 50 documents with a label.
    """
    words = _recall_words(guarantee) if guarantee["metric"] == "recall" else _false_discovery_words(guarantee)
    said = (
        f"Guaranteed, {guarantee['metric']} {guarantee['level']:g}: {words['guaranteed']} on average. "
        f"It rests on {guarantee['documents']:,} held-out {words['documents']}: "
        f"{words['found']} with the correction for their number."
    )
    if "measured" in guarantee:
        counted = f"{guarantee['measured_on']:,} {words['documents']}"
        said += f" Measured here: {words['name']} {guarantee['measured']:.3f}, {counted}."
    return said


def _recall_words(guarantee: Mapping[str, Any]) -> dict[str, str]:
    return {
        "name": "recall",
        "documents": "documents with a label",
        "guaranteed": f"new documents of the same kind get at least {100 * guarantee['level']:g} % of their labels",
        "found": f"recall {1 - guarantee['risk']:.3f} there, {1 - guarantee['bound']:.3f}",
    }


def _false_discovery_words(guarantee: Mapping[str, Any]) -> dict[str, str]:
    name = "false-discovery rate"
    given = f"at most {100 * guarantee['level']:g} % of the labels given to new documents of the same kind are wrong"
    # For each document the greatest share at any stricter threshold is taken: see `false_discovery_threshold`.
    found = f"{name} {guarantee['risk']:.3f} there, each document taken at its worst, {guarantee['bound']:.3f}"
    return {"name": name, "documents": "documents", "guaranteed": given, "found": found}
