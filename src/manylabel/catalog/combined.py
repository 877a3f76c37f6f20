"""Methods made of methods: pairs, ensembles, hierarchies, keyword rules."""

from __future__ import annotations

from manylabel.catalog.method import MANNING, PER_LABEL, TFIDF, Cost, Method
from manylabel.catalog.ranges import LINEAR, SHRINKAGE, WORDS, Choice, Log, Search, Whole

_ENSEMBLE = "manylabel.strategies.ensemble:Ensemble"
_MEMBERS = ("svm", "nb", "knn")
_CHOICE: Search = {"model.members": Choice(_MEMBERS, ("svm", "nb"), ("svm", "knn"), ("svm", "logistic", "nb"))}

COSTS = (1.0, 0.25, 0.0625)
"""Tried in this order for as long as each serves the metric better than the one before."""

ROWS: tuple[Method, ...] = (
    Method(
        "auto",
        "Linear SVMs on stems, cost and rule chosen for what matters; on small data with value-weighted naive Bayes",
        "manylabel.strategies.blend:Blend",
        "manylabel",
        cost=Cost(start=0.3, words=0.8, cells=1.4),
        features={"stemmer": "auto"},
        members=("svm", "mnb-vw"),
        decision="best",
        decision_settings={"costs": COSTS},
        search=WORDS,
    ),
    Method(
        "one-vs-one",
        "A linear support vector machine for every pair of labels; labels that win more often than a virtual one",
        "manylabel.strategies.one_vs_one:OneVsOne",
        "Fürnkranz, Hüllermeier, Loza Mencía & Brinker 2008",
        cost=Cost(cells=63),
        settings={"calibrated": True},
        inner="manylabel.models.linear_svm:LinearSVM",
        weighting=TFIDF,
        search=LINEAR,
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
        "Several methods together: labels that more than half of them give",
        _ENSEMBLE,
        "Sebastiani 2002, section 6.11",
        cost=Cost(words=1.4, cells=3.8, work=1.8),
        settings={"combine": "votes"},
        members=_MEMBERS,
        search={**WORDS, **_CHOICE},
    ),
    Method(
        "ensemble-stacked",
        "Several methods together, weighed per label by a judge that saw their out-of-fold scores; learned thresholds",
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
        "Keyword rules alone: the hand-written ones of --rules, or up to six words a label found in the training split",
        "manylabel.models.keyword_rules:KeywordRules",
        f"{MANNING}, chapter 13",
        cost=Cost(start=0.057, words=0.17, cells=0.071),
        search={**WORDS, "model.words": Whole(2, 15), "model.min_documents": Choice(1, 2, 3, 5)},
    ),
)
