"""Strategies over other methods: resampling for rare labels, label hierarchies, pairs, ensembles, keyword rules.

Without a label hierarchy every label is a root.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manylabel.catalog.method import MANNING, PER_LABEL, TFIDF, Cost, Method
from manylabel.catalog.ranges import LINEAR, SHRINKAGE, WORDS, Choice, Log, Search, Whole

_RESAMPLED = "manylabel.strategies.resampled:Resampled"
_SVM = "manylabel.models.linear_svm:LinearSVM"

IMBALANCE: tuple[Method, ...] = (
    Method(
        "svm-balanced",
        "Linear SVMs; a label's positives weigh as much as its negatives; a learned threshold for each label",
        _RESAMPLED,
        "Morik, Brockhausen & Joachims 1999",
        cost=Cost(cells=0.39, work=1.6),
        settings={"sampler": "weights"},
        inner=_SVM,
        weighting=TFIDF,
        search={**LINEAR, **SHRINKAGE},
        **PER_LABEL,
    ),
    Method(
        "svm-undersampled",
        "Linear SVMs; each label against ten times as many other documents, drawn at random; learned thresholds",
        _RESAMPLED,
        "Batista, Prati & Monard 2004",
        cost=Cost(start=0.029, words=0.18, cells=0.35),
        settings={"sampler": "random", "ratio": 0.1},
        inner=_SVM,
        weighting=TFIDF,
        search={**LINEAR, "model.ratio": Log(0.03, 1), **SHRINKAGE},
        **PER_LABEL,
    ),
    Method(
        "svm-cluster",
        "Linear SVMs; each label against the documents that clusters put beside its own",
        _RESAMPLED,
        "after Yen & Lee 2009",
        cost=Cost(cells=5.4, work=0.89),
        settings={"sampler": "cluster"},
        inner=_SVM,
        weighting=TFIDF,
        search=LINEAR,
    ),
    Method(
        "svm-smote",
        "Linear SVMs; rare labels get new documents on the lines between their own (SMOTE); learned thresholds",
        _RESAMPLED,
        "Chawla, Bowyer, Hall & Kegelmeyer 2002",
        cost=Cost(start=0.31, words=0.28, cells=3.6),
        settings={"sampler": "smote", "ratio": 0.1},
        inner=_SVM,
        weighting=TFIDF,
        search={**LINEAR, "model.ratio": Log(0.03, 0.5), "model.neighbours": Choice(3, 5, 10), **SHRINKAGE},
        **PER_LABEL,
    ),
)


_OVER_SVM: Mapping[str, Any] = {
    "inner": "manylabel.models.linear_svm:LinearSVM",
    "weighting": TFIDF,
    "decision": "natural",
    "requires": ("hierarchy",),
}
_THRESHOLDS: Search = {
    **LINEAR,
    "model.shrinkage": Choice(0.0, 2.0, 5.0, 10.0, 20.0),
    "model.floor": Choice(0.0, 0.1, 0.3),
}

HIERARCHIES: tuple[Method, ...] = (
    Method(
        "svm-closed",
        "One linear SVM per label, a learned threshold for each; ancestors of predicted labels are added",
        "manylabel.strategies.hierarchies:ClosedLabels",
        "manylabel",
        cost=Cost(words=2.1, cells=1.6, work=0.34),
        search=_THRESHOLDS,
        **_OVER_SVM,
    ),
    Method(
        "svm-top-down",
        "Linear SVMs among the children of each node; documents go down where a threshold is passed",
        "manylabel.strategies.hierarchies:TopDown",
        "Koller & Sahami 1997; Sun & Lim 2001",
        cost=Cost(start=0.19, words=3.4),
        search=_THRESHOLDS,
        **_OVER_SVM,
    ),
    Method(
        "svm-propagated",
        "Flat and top-down linear SVMs averaged, so that no ancestor can block a label",
        "manylabel.strategies.hierarchies:Propagated",
        "manylabel",
        cost=Cost(start=0.1, words=6),
        search=_THRESHOLDS,
        **_OVER_SVM,
    ),
)


_ENSEMBLE = "manylabel.strategies.ensemble:Ensemble"
_MEMBERS = ("svm", "nb", "knn")
_CHOICE: Search = {"model.members": Choice(_MEMBERS, ("svm", "nb"), ("svm", "knn"), ("svm", "logistic", "nb"))}

COSTS = (1.0, 0.25, 0.0625)
"""Tried in this order for as long as each serves the metric better than the one before."""
VIEWS = ("characters", "pairs")
"""The further views that are tried, in this order."""

COMBINED: tuple[Method, ...] = (
    Method(
        "auto",
        "Linear SVMs on stems; cost, rule and further views chosen for the metric; averaged or stacked with mnb-vw",
        "manylabel.decisions.auto:AutoModel",
        "manylabel",
        cost=Cost(start=0.3, words=0.8, cells=1.4),
        features={"stemmer": "auto"},
        members=("svm", "mnb-vw"),
        settings={"costs": COSTS, "views": VIEWS, "stacked": True, "label_names": True},
        decision="best",
        search=WORDS,
    ),
    Method(
        "one-vs-one",
        "A linear SVM for every pair of labels; predicts labels that win more often than a virtual one",
        "manylabel.strategies.one_vs_one:OneVsOne",
        "Fürnkranz, Hüllermeier, Loza Mencía & Brinker 2008",
        cost=Cost(cells=63),
        settings={"calibrated": True},
        inner="manylabel.models.linear_svm:LinearSVM",
        weighting=TFIDF,
        search=LINEAR,
    ),
    Method(
        "label-tree",
        "Linear SVMs in a tree of label clusters, for thousands of labels; one learned threshold for all labels",
        "manylabel.strategies.label_tree:LabelTree",
        "Prabhu, Kag, Harsola, Agrawal & Varma 2018; Yu, Zhong, Zhang, Chang & Dhillon 2022",
        cost=Cost(start=0.01, words=0.6, cells=0.2),
        weighting=TFIDF,
        decision="global",
        search={**LINEAR, "model.combine": Choice("sigmoid", "squared-hinge", "cubed-hinge")},
    ),
    Method(
        "ensemble",
        "Several methods together, their calibrated scores averaged, a learned threshold for each label",
        _ENSEMBLE,
        "manylabel",
        cost=Cost(words=1.4, cells=3.3, work=0.93),
        members=_MEMBERS,
        search={**WORDS, **_CHOICE, **SHRINKAGE},
        **PER_LABEL,
    ),
    Method(
        "ensemble-votes",
        "Several methods together: labels that more than half of them predict",
        _ENSEMBLE,
        "Sebastiani 2002, section 6.11",
        cost=Cost(words=1.4, cells=3.8, work=1.8),
        settings={"combine": "votes"},
        members=_MEMBERS,
        search={**WORDS, **_CHOICE},
    ),
    Method(
        "ensemble-stacked",
        "Several methods together, weighted per label by a regression on their out-of-fold scores; learned thresholds",
        _ENSEMBLE,
        "Wolpert 1992",
        cost=Cost(start=0.038, words=2.3, cells=2.3),
        settings={"combine": "stacked"},
        members=_MEMBERS,
        search={**WORDS, **_CHOICE, "model.C": Log(0.01, 1), **SHRINKAGE},
        **PER_LABEL,
    ),
    Method(
        "rules",
        "Keyword rules alone: those you wrote, or up to six words per label found in the training split",
        "manylabel.models.keyword_rules:KeywordRules",
        f"{MANNING}, chapter 13",
        cost=Cost(start=0.057, words=0.17, cells=0.071),
        search={**WORDS, "model.words": Whole(2, 15), "model.min_documents": Choice(1, 2, 3, 5)},
    ),
)

ROWS = (*IMBALANCE, *HIERARCHIES, *COMBINED)
