"""Prototypes and neighbours: Rocchio, k nearest neighbours, ML-kNN."""

from __future__ import annotations

from manylabel.catalog.method import MANNING, PER_LABEL, PLAIN_TFIDF, Method, Settings

_ROCCHIO = "manylabel.models.rocchio:Rocchio"
_KNN = "manylabel.models.knn:NearestNeighbours"
_SCUT: Settings = {"decision": "per-label", "decision_settings": {"shrinkage": 0}}

ROWS: tuple[Method, ...] = (
    Method(
        "rocchio",
        "Rocchio: the cosine with the mean of each label's documents, a learned threshold for each label",
        _ROCCHIO,
        f"{MANNING}, section 14.2",
        weighting=PLAIN_TFIDF,
        **PER_LABEL,
    ),
    Method(
        "rocchio-zoned",
        "Rocchio with prototypes that lean away from the 200 nearest documents of other labels; learned thresholds",
        _ROCCHIO,
        "manylabel",
        settings={"gamma": 0.5, "negatives": 200},
        weighting=PLAIN_TFIDF,
        **PER_LABEL,
    ),
    Method(
        "knn",
        "The 65 nearest neighbours by 2,000 selected words vote by their cosine, a learned threshold for each label",
        _KNN,
        "manylabel",
        settings={"k": 65, "weights": "cosine"},
        selection={"function": "chi2", "k": 2000},
        weighting=PLAIN_TFIDF,
        **_SCUT,
    ),
    Method(
        "knn-majority",
        "The labels of half of the ten nearest neighbours, or the most frequent label among them",
        _KNN,
        f"{MANNING}, section 14.3",
        weighting=PLAIN_TFIDF,
    ),
    Method(
        "ml-knn",
        "ML-kNN: how many of the ten nearest neighbours carry a label, and what that number meant in training",
        "manylabel.models.ml_knn:MLkNN",
        "Zhang & Zhou 2007",
        weighting=PLAIN_TFIDF,
    ),
)
