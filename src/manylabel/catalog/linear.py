"""Linear classifiers: support vector machines and their relatives."""

from __future__ import annotations

from manylabel.catalog.method import GODBOLE, PER_LABEL, TFIDF, UEDA, Method, Settings

_SVM = "manylabel.models.linear_svm:LinearSVM"
_FORCED: Settings = {"decision": "natural", "decision_settings": {"fallback": "argmax"}}

ROWS = (
    Method(
        "svm",
        "One linear support vector machine per label on tf-idf, a learned threshold for each label",
        _SVM,
        "manylabel",
        weighting=TFIDF,
        **PER_LABEL,
    ),
    Method(
        "svm-zero",
        "One linear support vector machine per label on tf-idf: every score above 0, or else the best one",
        _SVM,
        f"{GODBOLE}, section 2.1",
        weighting=TFIDF,
        **_FORCED,
    ),
    Method(
        "svm-hf",
        "SVM-HF: support vector machines on words and on the labels that a first machine gave, their balance tuned",
        "manylabel.strategies.svm_hf:SVMHF",
        f"{GODBOLE}, section 3.1",
        inner=_SVM,
        weighting=TFIDF,
        **_FORCED,
    ),
    Method(
        "band-svm",
        "BandSVM: support vector machines trained again without the negatives near their boundary, the band tuned",
        "manylabel.strategies.band_svm:BandSVM",
        f"{GODBOLE}, section 4.1",
        inner=_SVM,
        weighting=TFIDF,
        **_FORCED,
    ),
    Method(
        "confmat",
        "ConfMat: support vector machines trained without the documents of labels that naive Bayes confuses",
        "manylabel.strategies.conf_mat:ConfMat",
        f"{GODBOLE}, section 4.2",
        inner=_SVM,
        weighting=TFIDF,
        **_FORCED,
    ),
    Method(
        "svm-tuned",
        "One linear support vector machine per label, cost and weight of the positives tuned for each label",
        "manylabel.models.tuned_svm:TunedSVM",
        f"{UEDA}, section 4.2",
        inner=_SVM,
        weighting=TFIDF,
        **_FORCED,
    ),
    Method(
        "logistic",
        "One logistic regression per label on tf-idf, a learned threshold for each label",
        _SVM,
        "manylabel",
        settings={"loss": "logistic", "C": 10.0},
        weighting=TFIDF,
        **PER_LABEL,
    ),
)
