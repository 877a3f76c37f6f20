"""Linear classifiers: support vector machines and their relatives."""

from __future__ import annotations

from manylabel.catalog.method import PER_LABEL, TFIDF, Method

ROWS = (
    Method(
        "svm",
        "One linear support vector machine per label on tf-idf, a learned threshold for each label",
        "manylabel.models.linear_svm:LinearSVM",
        "manylabel",
        weighting=TFIDF,
        **PER_LABEL,
    ),
)
