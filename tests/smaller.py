"""Methods with smaller searches and ensembles, for tests whose claims do not depend on their size.

The same code runs in less time. Tests of what a method predicts, and of its settings, keep the defaults.
"""

from typing import Any

from manylabel import TextClassifier

SMALLER: dict[str, dict[str, Any]] = {
    "band-svm": {"grid": (0.0, 0.1)},
    "band-svm-tfidf": {"grid": (0.0, 0.1)},
    "confmat": {"grid": (5.0, 100.0), "confusion": 2, "validation": 2},
    "confmat-tfidf": {"grid": (5.0, 100.0), "confusion": 2, "validation": 2},
    "ensemble": {"folds": 2},
    "ensemble-stacked": {"folds": 2},
    "forest": {"n_trees": 4},
    "mnb-vw-ecc": {"n_chains": 2},
    "mnb-vwco": {"folds": 2},
    "mnb-vwco-reference": {"folds": 2},
    "svm-hf": {"grid": (0.3, 0.7)},
    "svm-hf-tfidf": {"grid": (0.3, 0.7)},
    "svm-tuned": {"grid_C": (0.3, 1.0), "grid_J": (1.0,), "validation": 2},
    "svm-tuned-tfidf": {"grid_C": (0.3, 1.0), "grid_J": (1.0,), "validation": 2},
}
"""By method, settings of its model."""


def smaller(method: str, **settings: Any) -> TextClassifier:
    """The unfitted classifier of a method, which learns its decision rule in two folds."""
    return TextClassifier(method, **{"model": SMALLER.get(method), "folds": 2, **settings})
