"""Methods that know which label lies under which; without a label hierarchy every label is a root."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manylabel.catalog.method import TFIDF, Cost, Method
from manylabel.catalog.ranges import LINEAR, Choice, Search

_OVER_SVM: Mapping[str, Any] = {
    "inner": "manylabel.models.linear_svm:LinearSVM",
    "weighting": TFIDF,
    "decision": "natural",
    "needs": ("hierarchy",),
}
_THRESHOLDS: Search = {
    **LINEAR,
    "model.shrinkage": Choice(0.0, 2.0, 5.0, 10.0, 20.0),
    "model.floor": Choice(0.0, 0.1, 0.3),
}

ROWS = (
    Method(
        "svm-closed",
        "One linear support vector machine per label, a learned threshold for each; with a label come its ancestors",
        "manylabel.strategies.closed_labels:ClosedLabels",
        "manylabel",
        cost=Cost(words=2.1, cells=1.6, work=0.34),
        search=_THRESHOLDS,
        **_OVER_SVM,
    ),
    Method(
        "svm-top-down",
        "Support vector machines among the children of each node; documents go down where a threshold is passed",
        "manylabel.strategies.top_down:TopDown",
        "Koller & Sahami 1997; Sun & Lim 2001",
        cost=Cost(start=0.19, words=3.4),
        search=_THRESHOLDS,
        **_OVER_SVM,
    ),
    Method(
        "svm-propagated",
        "Flat and top-down support vector machines weighed together, so that no ancestor can block a label",
        "manylabel.strategies.propagated:Propagated",
        "manylabel",
        cost=Cost(start=0.1, words=6),
        search=_THRESHOLDS,
        **_OVER_SVM,
    ),
)
