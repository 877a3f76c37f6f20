"""Methods that know which label lies under which; without a label hierarchy every label is a root."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manylabel.catalog.method import TFIDF, Method

_OVER_SVM: Mapping[str, Any] = {
    "inner": "manylabel.models.linear_svm:LinearSVM",
    "weighting": TFIDF,
    "decision": "natural",
}

ROWS = (
    Method(
        "svm-closed",
        "One linear support vector machine per label, a learned threshold for each; with a label come its ancestors",
        "manylabel.strategies.closed_labels:ClosedLabels",
        "manylabel",
        **_OVER_SVM,
    ),
    Method(
        "svm-top-down",
        "Support vector machines among the children of each node; documents go down where a threshold is passed",
        "manylabel.strategies.top_down:TopDown",
        "Koller & Sahami 1997; Sun & Lim 2001",
        **_OVER_SVM,
    ),
    Method(
        "svm-propagated",
        "Flat and top-down support vector machines weighed together, so that no ancestor can block a label",
        "manylabel.strategies.propagated:Propagated",
        "manylabel",
        **_OVER_SVM,
    ),
)
