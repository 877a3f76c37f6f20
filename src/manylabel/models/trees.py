"""Decision trees, one per label or one for all labels, and what trees of any kind share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError
from manylabel.features.information_weights import presence_weights
from manylabel.kernels.label_tables import label_term_table
from manylabel.kernels.threads import in_threads
from manylabel.models.base import MultiLabelModel
from manylabel.models.evidence import ScoreParts, asked_for
from manylabel.models.inputs import single_precision
from manylabel.models.score_kinds import ScoreKind
from manylabel.models.tree_arrays import GrownTree, TreeArrays
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf
from manylabel.progress import stage
from manylabel.stored import Matrix, Sizes, Stored, reals, wholes

LARGEST_TABLE = 1 << 30
"""Bytes that scikit-learn's dense documents × labels table may take where one tree is grown for all labels."""

CERTAIN = 1e-9
"""A probability this near to 0 or 1 is as certain as evidence gets: log-odds of ±20.7 instead of ±∞."""

Item = TypeVar("Item")

TREE_CONSTRAINTS: Mapping[str, Constraint] = {
    "criterion": OneOf("entropy", "gini"),
    "max_depth": AnyOf(OneOf(None), Number(low=1, whole=True)),
    "min_leaf": Number(low=1, whole=True),
    "max_terms": AnyOf(OneOf(None), Number(low=1, whole=True)),
    "selection": OneOf("ig", "df"),
    "m": Number(low=0),
    "seed": Number(low=0, whole=True),
    "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
}


class TreeModel(MultiLabelModel):
    """The base class of tree models: trees grown by scikit-learn, stored and evaluated as arrays.

    P_l = mean over the trees grown for l of (n_l + m · prior_l)/(n + m)   at the document's leaf

    n is the number of training documents at the leaf, n_l of those with the label; the score is log P/(1 − P). m = 0
    gives scikit-learn's shares. A label without documents has log-odds −∞, one of all documents +∞.
    """

    score_kind = ScoreKind.LOG_ODDS
    criterion: str
    max_depth: int | None
    min_leaf: int
    max_terms: int | None
    selection: str
    m: float
    seed: int
    n_jobs: int | None

    prior_: Floats
    """Each label's share of the training documents."""
    trees_per_label_: Ints

    learned: ClassVar[Mapping[str, Stored]] = {
        "prior_": reals("labels"),
        "trees_per_label_": wholes("labels"),
        "left_": wholes("nodes", low=-1, below="nodes", bits=32),
        "right_": wholes("nodes", low=-1, below="nodes", bits=32),
        "roots_": wholes(None, below="nodes"),
        "terms_": wholes("compared", below="terms"),
        "feature_": wholes("nodes", bits=32),
        "threshold_": reals("nodes"),
        "values_": Matrix("nodes", "labels"),
        "rest_": reals("nodes"),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` unless every child comes after its parent and every node compares a known term."""
        sizes = super().check_learned(state)
        left, right, nodes = state["left_"], state["right_"], np.arange(len(state["left_"]))
        inner = left >= 0
        if (inner != (right >= 0)).any() or (inner & ((left <= nodes) | (right <= nodes))).any():
            raise ValueError(f"{type(self).__name__} has a node that is its own descendant")
        if (state["feature_"] >= max(len(state["terms_"]), 1)).any():
            raise ValueError(f"{type(self).__name__}.feature_ names a term that is not there")
        return sizes

    def grow(self, X: Any, Y: Csr, labels: Ints) -> list[GrownTree]:
        """Grow trees on X (CSC, single precision) for `labels`, those that some documents have and some have not."""
        raise NotImplementedError

    def learn(self, X: Csr, Y: Csr) -> None:
        """Choose the terms, grow the trees, and keep their arrays."""
        n_l = np.bincount(Y.indices, minlength=Y.shape[1])
        columns = chosen_terms(X, Y, self.max_terms, self.selection)
        labels = np.flatnonzero((n_l > 0) & (n_l < X.shape[0]))
        trees = self.grow(_narrow(single_precision(X[:, columns]).tocsc()), Y, labels) if len(labels) else []
        self.prior_ = n_l / X.shape[0]
        self.trees_per_label_ = self.votes(len(trees), labels, Y.shape[1])
        grown = TreeArrays.of(trees or [_stump(Y.shape[1])], columns, float(self.m))
        self.restore(grown.as_learned())

    def votes(self, n_trees: int, labels: Ints, n_labels: int) -> Ints:
        """The number of trees grown for each label."""
        return np.where(np.isin(np.arange(n_labels), labels), n_trees, 0)

    @property
    def arrays(self) -> TreeArrays:
        """The trees as arrays."""
        self.check_fitted()
        return TreeArrays.from_learned(self)

    @property
    def shared_prior(self) -> Floats:
        """The prior in the part of the shares that is common to all labels of a tree."""
        return self.prior_

    def probabilities(self, X: Csr) -> Floats:
        """P_l of each document, documents × labels."""
        return self._averaged(self.arrays.shares(X, self.shared_prior))

    def _averaged(self, shares: Floats) -> Floats:
        """The mean over the trees; a label without a tree has its prior, which is 0 or 1."""
        known = self.trees_per_label_ > 0
        mean = np.clip(shares / np.maximum(self.trees_per_label_, 1), 0.0, 1.0)
        return np.where(known, mean, self.prior_)

    def score_batch(self, X: Csr) -> Floats:
        """The log-odds P/(1 − P)."""
        P = self.probabilities(X)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(P) - np.log1p(-P), dtype=np.float64)

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term the trees compared, present or not, adds to the log-odds of some labels, labels × terms.

        On the way to its leaf a document passes nodes, each with a share of the label; the change from node to node is
        the evidence of the term that the node compares (Saabas 2014). The changes of the probability are scaled to add
        up to the change of the log-odds from the roots to the leaves.
        """
        document, wanted = asked_for(self, x, labels)
        arrays, prior = self.arrays, self.shared_prior[wanted]
        moves = [(before[0], after[0]) for before, after in arrays.steps(document)]
        before, after = (np.concatenate(part) for part in zip(*moves, strict=True))
        moved = before != after
        before, after = before[moved], after[moved]
        change = arrays.values[after][:, wanted] - arrays.values[before][:, wanted]
        n_terms, steps = document.shape[1], np.arange(len(before))
        asked = arrays.terms[arrays.feature[before]] if len(before) else np.zeros(0, dtype=np.int64)
        step_of = Csr((np.ones(len(before)), (asked, steps)), shape=(n_terms, len(before)))
        gained = (step_of @ change).toarray()
        gained += np.multiply.outer(step_of @ (arrays.rest[after] - arrays.rest[before]), prior)
        roots = arrays.at(arrays.roots[np.newaxis], self.shared_prior)[:, wanted]
        leaves = arrays.at(arrays.leaves(document), self.shared_prior)[:, wanted]
        table = Csr(gained.T * _scale(roots[0], leaves[0], self.trees_per_label_[wanted])[:, np.newaxis])
        table.eliminate_zeros()
        return table

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's log-odds; the intercept is their value at the roots of the trees."""
        document, wanted = asked_for(self, x, labels)
        n_trees = self.trees_per_label_[wanted]
        roots = self.arrays.at(self.arrays.roots[np.newaxis], self.shared_prior)[0, wanted]
        total = np.clip(self.probabilities(document)[0, wanted], CERTAIN, 1 - CERTAIN)
        root = np.where(n_trees > 0, np.clip(roots / np.maximum(n_trees, 1), CERTAIN, 1 - CERTAIN), total)
        log_odds = [np.log(share / (1 - share)) for share in (total, root)]
        return ScoreParts(self.evidence(document, wanted), *log_odds)

    def in_parallel(self, what: str, work: Callable[[Item], GrownTree], items: Sequence[Item]) -> list[GrownTree]:
        """Grow a tree for each item on several threads, reporting each."""
        with stage(what, len(items)) as advance:

            def grow_one(item: Item) -> GrownTree:
                grown = work(item)
                advance(1)
                return grown

            return in_threads(grow_one, items, self.n_jobs)

    def new_tree(self, **settings: Any) -> Any:
        """A scikit-learn tree with this model's settings."""
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(
            criterion=self.criterion, max_depth=self.max_depth, min_samples_leaf=self.min_leaf, **settings
        )


class DecisionTrees(TreeModel):
    """Decision trees on the values of single terms.

    Each node compares the value of one term with a threshold, chosen to separate the documents with the label best from
    the others (`criterion`: least entropy, or Gini impurity), until a leaf has only one kind of documents, or fewer
    than 2 · `min_leaf`, or `max_depth` is reached. ``per_label=True`` grows a tree for each label against the rest;
    otherwise one tree serves all labels, with the splits that are best on average.

    `max_terms` keeps the terms of most information about the labels (`selection` ``"ig"``) or of most documents
    (``"df"``), because growing compares every term at every node. The probability at a leaf is (n_l + m · prior_l)/(n +
    m), Cestnik's m-estimate, so that a leaf of two documents is not certain of anything.

    Source: Dumais, Platt, Heckerman & Sahami 1998 (one tree for each label of Reuters); Breiman, Friedman, Olshen &
    Stone 1984. scikit-learn grows the trees, with binary splits; there is no pruning other than by size.

    >>> X, Y = np.array([[0, 2], [1, 0], [2, 0], [3, 2]]), np.array([[1], [1], [0], [0]])
    >>> DecisionTrees(min_leaf=1, m=0).fit(X, Y).predict_proba([[0, 0], [9, 9]]).tolist()
    [[1.0], [0.0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {"per_label": FLAG, **TREE_CONSTRAINTS}

    def __init__(
        self,
        per_label: bool = True,
        criterion: Literal["entropy", "gini"] = "entropy",
        max_depth: int | None = None,
        min_leaf: int = 5,
        max_terms: int | None = 1000,
        selection: Literal["ig", "df"] = "ig",
        m: float = 1.0,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.per_label = per_label
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.max_terms = max_terms
        self.selection = selection
        self.m = m
        self.seed = seed
        self.n_jobs = n_jobs

    def grow(self, X: Any, Y: Csr, labels: Ints) -> list[GrownTree]:
        """One tree for each label, or one for all."""
        if not self.per_label:
            check_table(Y.shape[0], len(labels))
            tree = self.new_tree(random_state=self.seed).fit(X, Y[:, labels].toarray())
            return [GrownTree.of(tree, labels, Y.shape[1])]
        by_label = Y.tocsc()

        def grow_one(label: int) -> GrownTree:
            y = np.zeros(Y.shape[0], dtype=np.int8)
            y[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = 1
            grown = GrownTree.of(self.new_tree(random_state=self.seed).fit(X, y), np.array([label]), Y.shape[1])
            return with_prior(grown, label, float(self.m) * y.mean())

        return self.in_parallel("Growing trees", grow_one, labels.tolist())

    def votes(self, n_trees: int, labels: Ints, n_labels: int) -> Ints:
        """1 for each label with a tree, whether of its own or shared."""
        return super().votes(min(n_trees, 1), labels, n_labels)

    @property
    def shared_prior(self) -> Floats:
        """Zeros where each label has a tree of its own, which contains its prior already."""
        return np.zeros(self.n_labels_) if self.per_label else self.prior_


def with_prior(tree: GrownTree, label: int, amount: float) -> GrownTree:
    """The tree of one label with `amount` = m · prior documents of it added at every node."""
    counts = tree.positives[:, [label]].toarray() + amount
    n_nodes, n_labels = tree.positives.shape
    positives = Csr((counts.ravel(), np.full(n_nodes, label), np.arange(n_nodes + 1)), (n_nodes, n_labels))
    return GrownTree(tree.left, tree.right, tree.feature, tree.threshold, positives, tree.documents)


def chosen_terms(X: Csr, Y: Csr, most: int | None, selection: str) -> Ints:
    """The columns a tree may compare: the `most` best by information gain or document frequency, ties by index."""
    if most is None or X.shape[1] <= most:
        return np.arange(X.shape[1])
    table = label_term_table(X, Y)
    if selection == "ig" and table.label_documents.any():
        scores = presence_weights(table.documents, table.label_documents, normalise=False)
    else:
        scores = table.term_documents.astype(np.float64)
    return np.sort(np.argsort(-scores, kind="stable")[:most])


def check_table(n_documents: int, n_labels: int) -> None:
    """Refuse a dense documents × labels table beyond the budget; scikit-learn needs one for a tree of all labels."""
    if 8 * n_documents * n_labels > LARGEST_TABLE:
        raise DataError(
            f"One tree for {n_labels} labels needs a dense table of {n_documents} documents × {n_labels} labels, which "
            "is larger than 1 GiB. Grow one tree for each label (per_label=True), or train on fewer documents."
        )


def _narrow(X: Any) -> Any:
    """X with indices of 32 bits, which scikit-learn's trees require; a matrix too large for them is unchanged."""
    if X.nnz <= np.iinfo(np.int32).max:
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _stump(n_labels: int) -> GrownTree:
    """A tree of one leaf without any label."""
    leaf = np.array([-1], dtype=np.int32)
    return GrownTree(leaf, leaf, np.zeros(1, dtype=np.int32), np.zeros(1), Csr((1, n_labels)), np.ones(1))


def _scale(roots: Floats, leaves: Floats, n_trees: npt.NDArray[np.int64]) -> Floats:
    """(logit P − logit P₀)/(P − P₀) per tree; the slope of the logit where nothing changed."""
    n = np.maximum(n_trees, 1)
    P0, P = (np.clip(sums / n, CERTAIN, 1 - CERTAIN) for sums in (roots, leaves))
    same = np.abs(P - P0) < CERTAIN
    logits = np.log(P / (1 - P)) - np.log(P0 / (1 - P0))
    scale = np.where(same, 1 / (P * (1 - P)), logits / np.where(same, 1.0, P - P0))
    return np.where(n_trees > 0, scale / n, 0.0)
