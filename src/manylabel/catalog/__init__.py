"""The table of methods: name, class, preset and source of each; one file of rows for each family.

Command line, Python, contract suite and documentation all read this table; a method exists when it has a row here.
A row of a method named after a paper is the paper's method, to the equation; what we found to work better has rows of
its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from manylabel.catalog import combined, linear, naive_bayes, nonlinear
from manylabel.catalog.method import Method
from manylabel.decisions.table import RULES
from manylabel.exceptions import ParameterError, UnknownNameError
from manylabel.setting_values import OWN_MODEL
from manylabel.wording import setting_name, settings_text, shown

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "OWN_RULE",
    "Method",
    "find_class",
    "find_method",
    "method_over",
    "storable_classes",
]

_FAMILIES = (linear, naive_bayes, nonlinear, combined)

METHODS: Mapping[str, Method] = {row.name: row for family in _FAMILIES for row in family.ROWS}
DEFAULT_METHOD = "auto"

OWN_RULE = "own"
"""The rule of a method that decides by itself: the most probable label set, say, which no score per label tells."""


_RELEVANCE = "Binary relevance, one classifier per label, is what svm, logistic, nb-binary, trees and others are here."
_CHAIN = "Classifier chains are the method mnb-vw-cc here; {svm_inside} makes them of SVMs."
_CHAINS = "Ensembles of classifier chains are the method mnb-vw-ecc here; {svm_inside} makes them of SVMs."
_POWERSET = "Label powerset is the method nb-powerset here; {svm_inside} makes it of SVMs."
_PRUNED = "Pruned sets are label powerset without rare sets: nb-powerset here, with {common_sets}."
_RAKEL = "RAkEL is not included; nb-powerset learns whole label sets, and mnb-vw-ecc is an ensemble of chains."
_NEIGHBOURS = "Binary relevance of nearest neighbours is the method knn-majority here; ml-knn is ML-kNN."
_LEXICAL = "Annif's lexical backends are not included; training with {descriptions} compares texts with label names."
_RANKING = "Calibrated label ranking is the method one-vs-one here."

COUNTERPARTS: Mapping[str, str] = {
    "omikuji": "The method of Annif's omikuji backend is label-tree here.",
    "tfidf": "The method of Annif's tfidf backend is rocchio here.",
    "fasttext": "fastText is not included; auto, svm and logistic are linear classifiers of words as it is.",
    **dict.fromkeys(["mllm", "stwfsa", "yake"], _LEXICAL),
    "pav": "Annif's pav calibrates scores; methods with learned thresholds predict calibrated probabilities here.",
    "svc": "The method of Annif's svc backend is svm here, with {one_label}.",
    "nnensemble": "Annif's neural ensemble is not included; ensemble-stacked learns how to combine methods.",
    "parabel": "Label trees as in Parabel and Bonsai are the method label-tree here.",
    "bonsai": "Label trees as in Parabel and Bonsai are the method label-tree here.",
    "linearsvc": "scikit-learn's LinearSVC, one per label, is the method svm here.",
    **dict.fromkeys(["br", "binaryrelevance"], _RELEVANCE),
    **dict.fromkeys(["cc", "classifierchain", "classifierchains"], _CHAIN),
    **dict.fromkeys(["ecc", "ensembleofclassifierchains"], _CHAINS),
    **dict.fromkeys(["lp", "lc", "labelpowerset", "labelcombination"], _POWERSET),
    **dict.fromkeys(["ps", "eps", "prunedsets", "ensembleofprunedsets"], _PRUNED),
    **dict.fromkeys(["rakel", "rakeld", "rakelo"], _RAKEL),
    **dict.fromkeys(["brknn", "brknna", "brknnb", "brknnaclassifier", "brknnbclassifier"], _NEIGHBOURS),
    **dict.fromkeys(["clr", "calibratedlabelranking"], _RANKING),
    "mlknn": "Zhang and Zhou's ML-kNN is the method ml-knn here.",
    "homer": "HOMER is not included; label-tree learns a tree of label clusters too.",
    "pcc": "Probabilistic chains are not included; mnb-vw-cc is a chain that decides label by label.",
    "bpmll": "BP-MLL is not included; neural is a network of one hidden layer.",
}
"""By the name of a method in another tool, in lower case and without hyphens, a sentence that names ours.

Names in braces are settings, which `counterpart` gives as their reader does."""


def find_method(name: object) -> Method:
    """The row of a method; the error about an unknown name suggests the nearest one, or our counterpart of it."""
    if not isinstance(name, str):
        hint = f"Give a method by its name. {OWN_MODEL}"
        raise UnknownNameError("method", shown(name), METHODS, hint)
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS, counterpart(name))
    return METHODS[name]


def counterpart(name: str) -> str:
    """A sentence that names our counterpart of a method of another tool; empty where there is none.

    >>> counterpart("Classifier-Chains")
    "Classifier chains are the method mnb-vw-cc here; model={'base': 'svm'} makes them of SVMs."
    """
    return COUNTERPARTS.get(re.sub("[-_ ]", "", name.lower()), "").format(
        svm_inside=settings_text(**{"model.base": "svm"}),
        common_sets=settings_text(**{"model.min_count": 3}),
        one_label=settings_text(single_label=True),
        descriptions=setting_name("descriptions"),
    )


def method_over(name: str, base: str | None) -> Method:
    """The row of a strategy with the model of another method inside; with None, the row as it is.

    The weighting, the selection and the settings of the model are those of `base`, its features and decision rule are
    not used: chains of SVMs read tf-idf weights as `svm` does.

    >>> row = method_over("mnb-vw-cc", "svm")
    >>> row.inner, row.weighting["idf"]
    ('manylabel.models.linear_svm:LinearSVM', 'smooth')
    """
    row = find_method(name)
    if base is None:
        return row
    inside = find_method(base)
    if row.inner is None:
        others = ", ".join(one.name for one in METHODS.values() if one.inner)
        raise ParameterError(f"{name} has no model inside that model.base could replace. Methods that have: {others}.")
    if inside.inner is not None or inside.members:
        raise ParameterError(f"model.base must be a method of one model, such as svm, nb-binary or knn, not {base}.")
    outer = find_class(row.model).parameter_names()
    own = {f"model.{key}" for key in outer}
    search = {key: values for key, values in row.search.items() if key in own or not key.startswith("model.")}
    search |= {key: values for key, values in inside.search.items() if key.startswith("model.") and key not in own}
    settings = {key: value for key, value in row.settings.items() if key in outer}
    return replace(
        row,
        inner=inside.model,
        settings={**settings, **{f"inner.{key}": value for key, value in inside.settings.items()}},
        selection=inside.selection,
        weighting=inside.weighting,
        search=search,
    )


@cache
def find_class(path: str) -> type[Any]:
    """The class behind ``module:Name``."""
    module, _, name = path.partition(":")
    found = getattr(import_module(module), name)
    if not isinstance(found, type):  # pragma: no cover - a wrong row in the table above
        raise TypeError(f"{path} is not a class")
    return found


@cache
def storable_classes() -> Mapping[str, str]:
    """The import path of every class that a model file may name, by class name; loading a file constructs no others."""
    paths = [
        "manylabel.classifier:TextClassifier",
        "manylabel.features.pipeline:FeaturePipeline",
        "manylabel.features.vectorize:Vectorizer",
        "manylabel.features.select:TermSelector",
        "manylabel.features.weighting:Weighting",
        "manylabel.features.vector_view:VectorView",
        "manylabel.features.keywords:KeywordMatcher",
        "manylabel.decisions.decided:DecidedModel",
        "manylabel.decisions.auto:AutoModel",
        "manylabel.decisions.described:DescribedModel",
        "manylabel.decisions.calibration:Calibration",
        "manylabel.decisions.corrected:CorrectedThresholds",
        "manylabel.decisions.threshold_figures:ThresholdFigures",
        "manylabel.decisions.temperature:Temperature",
        *RULES.values(),
        *(row.model for row in METHODS.values()),
        *(row.inner for row in METHODS.values() if row.inner),
        "manylabel.strategies.binary_relevance:BinaryRelevance",
        "manylabel.strategies.hierarchical:SiblingModel",
        "manylabel.strategies.weighted_member:WeightedMember",
        "manylabel.strategies.viewed_member:ViewedMember",
        "manylabel.features.views:FurtherViews",
        "manylabel.strategies.described:DescribedLabels",
        "manylabel.strategies.name_words:NameWords",
        "manylabel.models.label_columns:LabelColumns",
        "manylabel.models.name_similarity:NameSimilarity",
        "manylabel.models.named_svm:NamedSVM",
    ]
    return {path.partition(":")[2]: path for path in paths}
