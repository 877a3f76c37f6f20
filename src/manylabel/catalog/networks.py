"""Neural networks and decision trees."""

from __future__ import annotations

from manylabel.catalog.method import HALF, PER_LABEL, UEDA, Method

ROWS: tuple[Method, ...] = (
    Method(
        "neural",
        "A neural network of 50 hidden units on word frequencies, a label where its probability reaches one half",
        "manylabel.models.neural:NeuralNetwork",
        f"{UEDA}, section 4.2",
        weighting={"tf": "raw", "idf": "none", "norm": "l1"},
        **HALF,
    ),
    Method(
        "trees",
        "A decision tree for each label, a label where its probability reaches one half",
        "manylabel.models.trees:DecisionTrees",
        "Dumais, Platt, Heckerman & Sahami 1998",
        **HALF,
    ),
    Method(
        "forest",
        "A random forest of 50 trees that serve all labels, a learned threshold for each label",
        "manylabel.models.random_forest:RandomForest",
        "Breiman 2001",
        settings={"n_trees": 50},
        **PER_LABEL,
    ),
)
