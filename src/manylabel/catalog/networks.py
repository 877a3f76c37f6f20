"""Neural networks and decision trees."""

from __future__ import annotations

from manylabel.catalog.method import HALF, PER_LABEL, UEDA, Cost, Method
from manylabel.catalog.ranges import SHRINKAGE, WORDS, Choice, Log, Search, Uniform, Whole

_TERMS: Search = {"model.max_terms": Whole(200, 5000)}

ROWS: tuple[Method, ...] = (
    Method(
        "neural",
        "A neural network of 50 hidden units on word frequencies, a label where its probability reaches one half",
        "manylabel.models.neural:NeuralNetwork",
        f"{UEDA}, section 4.2",
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
