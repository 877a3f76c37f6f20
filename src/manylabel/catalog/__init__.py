"""The one list of methods: name, class, preset, source; one file of rows for each family.

Command line, Python, contract suite and documentation all read this table; a method exists when it has a row here.
A row of a method named after a paper is the paper's method, to the equation; what we found to work better has rows of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from manylabel.catalog import combined, linear, naive_bayes, nonlinear
from manylabel.catalog.method import Method
from manylabel.decisions.table import RULES
from manylabel.exceptions import UnknownNameError

__all__ = ["DEFAULT_METHOD", "METHODS", "OWN_RULE", "Method", "find_class", "find_method", "storable_classes"]

_FAMILIES = (linear, naive_bayes, nonlinear, combined)

METHODS: Mapping[str, Method] = {row.name: row for family in _FAMILIES for row in family.ROWS}
DEFAULT_METHOD = "auto"

OWN_RULE = "own"
"""The rule of a method that decides by itself: the most probable label set, say, which no score per label tells."""


def find_method(name: str) -> Method:
    """The row of a method; an unknown name is answered with the nearest one."""
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    return METHODS[name]


def find_class(path: str) -> type:
    """The class behind ``module:Name``."""
    module, _, name = path.partition(":")
    found = getattr(import_module(module), name)
    if not isinstance(found, type):  # pragma: no cover - a wrong row in the table above
        raise TypeError(f"{path} is not a class")
    return found


def storable_classes() -> dict[str, str]:
    """Every class a model file may name, by class name: the only ones that loading a file can ever construct."""
    paths = [
        "manylabel.classifier:TextClassifier",
        "manylabel.features.pipeline:FeaturePipeline",
        "manylabel.features.vectorize:Vectorizer",
        "manylabel.features.select:TermSelector",
        "manylabel.features.weighting:Weighting",
        "manylabel.features.keywords:KeywordMatcher",
        "manylabel.decisions.decided:DecidedModel",
        "manylabel.decisions.auto:AutoModel",
        "manylabel.decisions.calibration:Calibration",
        *RULES.values(),
        *(row.model for row in METHODS.values()),
        *(row.inner for row in METHODS.values() if row.inner),
        "manylabel.strategies.binary_relevance:BinaryRelevance",
        "manylabel.strategies.hierarchical:SiblingModel",
        "manylabel.strategies.weighted_member:WeightedMember",
    ]
    return {path.partition(":")[2]: path for path in paths}
