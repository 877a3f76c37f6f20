"""Documents that all have exactly one label, and the decision rule by which exactly one is predicted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from manylabel.decisions.table import find_rule
from manylabel.estimator import Csr

KEPT = ("probabilities", "folds", "tolerance")
"""Settings of the decision that do not depend on the rule, or that only `best` has."""


def has_one_label_each(Y: Csr) -> bool:
    """Whether every document has exactly one label, of two labels or more.

    >>> has_one_label_each(Csr([[1, 0], [0, 1]])), has_one_label_each(Csr([[1, 0], [1, 1]]))
    (True, False)
    """
    return Y.shape[0] > 0 and Y.shape[1] > 1 and bool((np.diff(Y.indptr) == 1).all())


def one_label_decision(decision: Mapping[str, Any], preset: str) -> dict[str, Any] | None:
    """The settings of a decision by which exactly one label is predicted, the one with the highest score.

    A rule that learns is replaced by `best` among rules of one label, so that what is chosen by a metric is still
    chosen by it; any other by ``top-k``. None where `decision` has a rule other than that of the method (`preset`) or a
    metric that fixes the number of labels: the user has chosen how many labels there are.

    >>> one_label_decision({"rule": "best", "metric": "macro-f1"}, "best")
    {'rule': 'best', 'metric': 'macro-f1', 'single_label': True}
    >>> one_label_decision({"rule": "natural"}, "natural")
    {'rule': 'top-k', 'k': 1}
    """
    rule = decision["rule"]
    if rule not in (preset, "best") or "@" in str(decision.get("metric", "")):
        return None
    kept = {key: decision[key] for key in KEPT if key in decision}
    settings = {key: value for key, value in decision.items() if key not in ("rule", "probabilities")}
    if rule == "own" or not find_rule(rule)(**settings).learns:
        return {
            "rule": "top-k",
            "k": 1,
            **({"probabilities": kept["probabilities"]} if "probabilities" in kept else {}),
        }
    metric = decision.get("metric", "micro-f1") if rule == "best" else "micro-f1"
    return {"rule": "best", "metric": metric, "single_label": True, **kept}
