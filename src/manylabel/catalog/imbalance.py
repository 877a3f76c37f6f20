"""Few positives against many negatives: weights, under- and over-sampling, label by label."""

from __future__ import annotations

from manylabel.catalog.method import PER_LABEL, TFIDF, Method

_RESAMPLED = "manylabel.strategies.resampled:Resampled"
_SVM = "manylabel.models.linear_svm:LinearSVM"

ROWS = (
    Method(
        "svm-balanced",
        "Linear SVMs; a label's positives weigh as much as its negatives; a learned threshold for each label",
        _RESAMPLED,
        "Morik, Brockhausen & Joachims 1999",
        settings={"sampler": "weights"},
        inner=_SVM,
        weighting=TFIDF,
        **PER_LABEL,
    ),
    Method(
        "svm-undersampled",
        "Linear SVMs; each label against ten times as many other documents, drawn at random; learned thresholds",
        _RESAMPLED,
        "Batista, Prati & Monard 2004",
        settings={"sampler": "random", "ratio": 0.1},
        inner=_SVM,
        weighting=TFIDF,
        **PER_LABEL,
    ),
    Method(
        "svm-cluster",
        "Linear SVMs; each label against the documents that clusters put beside its own",
        _RESAMPLED,
        "after Yen & Lee 2009",
        settings={"sampler": "cluster"},
        inner=_SVM,
        weighting=TFIDF,
    ),
    Method(
        "svm-smote",
        "Linear SVMs; rare labels get new documents on the lines between their own (SMOTE); learned thresholds",
        _RESAMPLED,
        "Chawla, Bowyer, Hall & Kegelmeyer 2002",
        settings={"sampler": "smote", "ratio": 0.1},
        inner=_SVM,
        weighting=TFIDF,
        **PER_LABEL,
    ),
)
