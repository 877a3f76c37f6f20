"""What was chosen for a metric, in a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def chosen_text(chosen: Mapping[str, Any]) -> str:
    """The sentence of what `manylabel.decisions.best_rule.chosen_for_metric` tells.

    >>> facts = {"title": "Micro F1", "rule": "global", "value": 0.875, "settings": {"C": 0.25, "blended": True}}
    >>> chosen_text(facts)
    'Chosen for micro F1 on out-of-fold scores: the rule global, C = 0.25, blended (micro F1 87.5 % there).'
    """
    title = chosen["title"][0].lower() + chosen["title"][1:]
    settings = [name if value is True else f"{name} = {value:g}" for name, value in chosen["settings"].items()]
    parts = [f"the rule {chosen['rule']}", *settings]
    found = "" if math.isnan(chosen["value"]) else f" ({title} {100 * chosen['value']:.1f} % there)"
    return f"Chosen for {title} on out-of-fold scores: {', '.join(parts)}{found}."
