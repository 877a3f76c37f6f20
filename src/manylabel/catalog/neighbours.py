"""Prototypes and neighbours: Rocchio, k nearest neighbours, ML-kNN."""

from __future__ import annotations

from manylabel.catalog.method import MANNING, PER_LABEL, PLAIN_TFIDF, Cost, Method, Settings
from manylabel.catalog.ranges import COSINE, FEWER_TERMS, SHRINKAGE, Log, Uniform, Whole

_ROCCHIO = "manylabel.models.rocchio:Rocchio"
_KNN = "manylabel.models.knn:NearestNeighbours"
_SCUT: Settings = {"decision": "per-label", "decision_settings": {"shrinkage": 0}}

ROWS: tuple[Method, ...] = (
    Method(
        "rocchio",
        "Rocchio: the cosine with the mean of each label's documents, a learned threshold for each label",
        _ROCCHIO,
        f"{MANNING}, section 14.2",
        cost=Cost(start=0.014, words=0.049, cells=0.07),
        weighting=PLAIN_TFIDF,
        search={**COSINE, **SHRINKAGE},
        **PER_LABEL,
    ),
    Method(
        "rocchio-zoned",
        "Rocchio with prototypes that lean away from the 200 nearest documents of other labels; learned thresholds",
        _ROCCHIO,
        "manylabel",
        cost=Cost(start=0.051, words=0.079, cells=0.14),
        settings={"gamma": 0.5, "negatives": 200},
        weighting=PLAIN_TFIDF,
        search={**COSINE, "model.gamma": Uniform(0.1, 1), "model.negatives": Whole(50, 1000), **SHRINKAGE},
        **PER_LABEL,
    ),
    Method(
        "knn",
        "The 65 nearest neighbours by 2,000 selected words vote by their cosine, a learned threshold for each label",
        _KNN,
        "manylabel",
        cost=Cost(start=0.019, words=0.12),
        settings={"k": 65, "weights": "cosine"},
        selection={"function": "chi2", "k": 2000},
        weighting=PLAIN_TFIDF,
        search={**COSINE, "selection.k": Whole(500, 20_000), "model.k": Whole(5, 150), **SHRINKAGE},
        **_SCUT,
    ),
    Method(
        "knn-majority",
        "The labels of half of the ten nearest neighbours, or the most frequent label among them",
        _KNN,
        f"{MANNING}, section 14.3",
        cost=Cost(start=0.0017, words=0.034, cells=0.13),
        weighting=PLAIN_TFIDF,
        search={**COSINE, **FEWER_TERMS, "model.k": Whole(3, 100), "model.threshold": Uniform(0.2, 0.6)},
    ),
    Method(
        "ml-knn",
        "ML-kNN: how many of the ten nearest neighbours carry a label, and what that number meant in training",
        "manylabel.models.ml_knn:MLkNN",
        "Zhang & Zhou 2007",
        cost=Cost(start=0.0013, words=0.061, cells=0.2),
        weighting=PLAIN_TFIDF,
        search={**COSINE, **FEWER_TERMS, "model.k": Whole(3, 50), "model.s": Log(0.1, 5)},
    ),
)
