"""Linear classifiers: support vector machines and their relatives."""

from __future__ import annotations

from manylabel.catalog.method import GODBOLE, PER_LABEL, TFIDF, UEDA, Cost, Method, Settings
from manylabel.catalog.ranges import LINEAR, SHRINKAGE, WORDS, Choice, Log

_SVM = "manylabel.models.linear_svm:LinearSVM"
_FORCED: Settings = {"decision": "natural", "decision_settings": {"fallback": "argmax"}}

ROWS = (
    Method(
        "svm",
        "One linear SVM per label on tf-idf, a learned threshold for each label",
        _SVM,
        "manylabel",
        cost=Cost(start=0.0012, words=0.39, cells=0.57),
        weighting=TFIDF,
        search={**LINEAR, **SHRINKAGE},
        **PER_LABEL,
    ),
    Method(
        "svm-zero",
        "One linear SVM per label on tf-idf: every score above 0, or else the best one",
        _SVM,
        f"{GODBOLE}, section 2.1",
        cost=Cost(start=0.017, words=0.46, cells=0.37),
        weighting=TFIDF,
        search=LINEAR,
        **_FORCED,
    ),
    Method(
        "svm-hf",
        "SVM-HF: linear SVMs on words and on the labels that first SVMs predicted, their balance tuned",
        "manylabel.strategies.svm_hf:SVMHF",
        f"{GODBOLE}, section 3.1",
        cost=Cost(start=0.46, cells=1.9, work=6.6),
        inner=_SVM,
        weighting=TFIDF,
        search={**LINEAR, "model.scaling": Choice("kernel", "literal")},
        **_FORCED,
    ),
    Method(
        "band-svm",
        "BandSVM: linear SVMs trained again without the negatives near their boundary, the band tuned",
        "manylabel.strategies.band_svm:BandSVM",
        f"{GODBOLE}, section 4.1",
        cost=Cost(start=0.18, cells=1.7, work=3.7),
        inner=_SVM,
        weighting=TFIDF,
        search={**LINEAR, "model.side": Choice("both", "one"), "model.per_label": Choice(False, True)},
        **_FORCED,
    ),
    Method(
        "confmat",
        "ConfMat: linear SVMs trained without the documents of labels that naive Bayes confuses",
        "manylabel.strategies.conf_mat:ConfMat",
        f"{GODBOLE}, section 4.2",
        cost=Cost(start=0.82, cells=0.11, work=8.6),
        inner=_SVM,
        weighting=TFIDF,
        search={**LINEAR, "model.multi": Choice(False, True)},
        **_FORCED,
    ),
    Method(
        "svm-tuned",
        "One linear SVM per label, cost and weight of the positives tuned for each label",
        "manylabel.models.tuned_svm:TunedSVM",
        f"{UEDA}, section 4.2",
        cost=Cost(words=6.9, cells=7.6, work=0.15),
        inner=_SVM,
        weighting=TFIDF,
        search={**WORDS, "weighting.tf": Choice("log", "binary"), "model.min_positives": Choice(3, 5, 10, 20)},
        **_FORCED,
    ),
    Method(
        "logistic",
        "One logistic regression per label on tf-idf, a learned threshold for each label",
        _SVM,
        "manylabel",
        cost=Cost(words=0.053, cells=0.58, work=1.4),
        settings={"loss": "logistic", "C": 10.0},
        weighting=TFIDF,
        search={**LINEAR, "model.C": Log(0.5, 200), **SHRINKAGE},
        **PER_LABEL,
    ),
)
