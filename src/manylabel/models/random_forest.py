"""Random forests: many trees, each grown on a random sample of the documents and of the terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from manylabel.estimator import Csr, Ints
from manylabel.models.tree_arrays import GrownTree
from manylabel.models.trees import TREE_CONSTRAINTS, TreeModel, check_table
from manylabel.parameters import AnyOf, Constraint, Number, OneOf


class RandomForest(TreeModel):
    """The mean of many trees, each grown for all labels on a bootstrap sample of the documents.

    At every node a tree considers `node_terms` terms drawn at random (``"sqrt"``: the square root of their number).
    Terms (`max_terms`, `selection`), splits (`criterion`), leaves (`min_leaf`, `max_depth`) and the m-estimate (`m`)
    are those of `DecisionTrees`. Source: Breiman 2001. With ``m=0`` the probabilities are those of scikit-learn's
    RandomForestClassifier with the same seed.

    >>> X, Y = np.array([[0, 2], [1, 2], [2, 0], [3, 1]]), np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> RandomForest(n_trees=20, min_leaf=1).fit(X, Y).predict([[0, 2], [3, 1]]).tolist()
    [[1, 0], [0, 1]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_trees": Number(low=1, whole=True),
        "node_terms": AnyOf(OneOf("sqrt", "log2", None), Number(low=1, whole=True)),
        **TREE_CONSTRAINTS,
    }

    def __init__(
        self,
        n_trees: int = 100,
        node_terms: Literal["sqrt", "log2"] | int | None = "sqrt",
        criterion: Literal["entropy", "gini"] = "gini",
        max_depth: int | None = None,
        min_leaf: int = 1,
        max_terms: int | None = 1000,
        selection: Literal["ig", "df"] = "ig",
        m: float = 0.1,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.node_terms = node_terms
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.max_terms = max_terms
        self.selection = selection
        self.m = m
        self.seed = seed
        self.n_jobs = n_jobs

    def grow(self, X: Any, Y: Csr, labels: Ints) -> list[GrownTree]:
        """One tree for all labels on each bootstrap sample; the seeds are drawn as scikit-learn's forests draw them."""
        check_table(Y.shape[0], len(labels))
        dense = Y[:, labels].toarray()
        random = np.random.RandomState(self.seed)
        seeds = [int(random.randint(np.iinfo(np.int32).max)) for _ in range(self.n_trees)]
        n = Y.shape[0]
        terms = min(self.node_terms, X.shape[1]) if isinstance(self.node_terms, int) else self.node_terms

        def grow_one(seed: int) -> GrownTree:
            drawn = np.bincount(np.random.RandomState(seed).randint(0, n, n), minlength=n)
            tree = self.new_tree(max_features=terms, random_state=seed)
            return GrownTree.of(tree.fit(X, dense, sample_weight=drawn.astype(np.float64)), labels, Y.shape[1])

        return self.in_parallel("Growing a forest", grow_one, seeds)
