"""Rocchio, nearest neighbours, neural networks and decision trees."""

from __future__ import annotations

from manylabel.catalog.method import HALF, MANNING, PER_LABEL, PLAIN_TFIDF, UEDA, Cost, Method, Settings
from manylabel.catalog.ranges import COSINE, FEWER_TERMS, SHRINKAGE, WORDS, Choice, Log, Search, Uniform, Whole

_ROCCHIO = "manylabel.models.rocchio:Rocchio"
_KNN = "manylabel.models.knn:NearestNeighbours"
_SCUT: Settings = {"decision": "per-label", "decision_settings": {"shrinkage": 0}}

NEIGHBOURS: tuple[Method, ...] = (
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
        "ML-kNN: how many of the ten nearest neighbours have a label, and what that number meant in training",
        "manylabel.models.ml_knn:MLkNN",
        "Zhang & Zhou 2007",
        cost=Cost(start=0.0013, words=0.061, cells=0.2),
        weighting=PLAIN_TFIDF,
        search={**COSINE, **FEWER_TERMS, "model.k": Whole(3, 50), "model.s": Log(0.1, 5)},
    ),
)


_TERMS: Search = {"model.max_terms": Whole(200, 5000)}

NETWORKS_AND_TREES: tuple[Method, ...] = (
    Method(
        "neural",
        "A neural network of 50 hidden units on word frequencies, a label where its probability reaches one half",
        "manylabel.models.neural:NeuralNetwork",
        f"{UEDA}, section 4.1",
        cost=Cost(start=0.1, words=1.2, cells=0.39),
        weighting={"tf": "raw", "idf": "none", "norm": "l1"},
        search={
            **WORDS,
            "model.hidden": Whole(20, 200),
            "model.decay": Log(1e-5, 0.01),
            "decision.value": Uniform(0.2, 0.6),
        },
        **HALF,
    ),
    Method(
        "trees",
        "A decision tree for each label, a label where its probability reaches one half",
        "manylabel.models.trees:DecisionTrees",
        "Dumais, Platt, Heckerman & Sahami 1998",
        cost=Cost(start=0.1, words=2.6, work=3),
        search={**WORDS, **_TERMS, "model.min_leaf": Whole(1, 20), "decision.value": Uniform(0.2, 0.6)},
        **HALF,
    ),
    Method(
        "forest",
        "A random forest of 50 trees that serve all labels, a learned threshold for each label",
        "manylabel.models.random_forest:RandomForest",
        "Breiman 2001",
        cost=Cost(start=0.5, words=7.2),
        settings={"n_trees": 50},
        search={**WORDS, **_TERMS, "model.min_leaf": Whole(1, 10), "model.n_trees": Choice(50, 100), **SHRINKAGE},
        **PER_LABEL,
    ),
)

ROWS = (*NEIGHBOURS, *NETWORKS_AND_TREES)
