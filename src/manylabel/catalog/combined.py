"""Methods made of methods: pairs, committees, hierarchies, keyword rules."""

from __future__ import annotations

from manylabel.catalog.method import MANNING, PER_LABEL, TFIDF, Method

_COMMITTEE = "manylabel.strategies.committee:Committee"
_MEMBERS = ("svm", "nb", "knn")

ROWS: tuple[Method, ...] = (
    Method(
        "one-vs-one",
        "A linear support vector machine for every pair of labels; labels that win more often than a virtual one",
        "manylabel.strategies.one_vs_one:OneVsOne",
        "Fürnkranz, Hüllermeier, Loza Mencía & Brinker 2008",
        settings={"calibrated": True},
        inner="manylabel.models.linear_svm:LinearSVM",
        weighting=TFIDF,
    ),
    Method(
        "committee",
        "Several methods together, their calibrated scores averaged, a learned threshold for each label",
        _COMMITTEE,
        "manylabel",
        members=_MEMBERS,
        **PER_LABEL,
    ),
    Method(
        "committee-votes",
        "Several methods together: labels that more than half of them give",
        _COMMITTEE,
        "Sebastiani 2002, section 6.11",
        settings={"combine": "votes"},
        members=_MEMBERS,
    ),
    Method(
        "committee-stacked",
        "Several methods together, weighed per label by a judge that saw their out-of-fold scores; learned thresholds",
        _COMMITTEE,
        "Wolpert 1992",
        settings={"combine": "stacked"},
        members=_MEMBERS,
        **PER_LABEL,
    ),
    Method(
        "rules",
        "Keyword rules alone: the hand-written ones of --rules, or up to six words a label found in the training part",
        "manylabel.models.keyword_rules:KeywordRules",
        f"{MANNING}, chapter 13",
    ),
)
