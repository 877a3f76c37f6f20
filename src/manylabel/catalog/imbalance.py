"""Few positives against many negatives: weights, under- and over-sampling, label by label."""

from __future__ import annotations

from manylabel.catalog.method import PER_LABEL, TFIDF, Cost, Method
from manylabel.catalog.ranges import LINEAR, SHRINKAGE, Choice, Log

_RESAMPLED = "manylabel.strategies.resampled:Resampled"
_SVM = "manylabel.models.linear_svm:LinearSVM"

ROWS = (
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
