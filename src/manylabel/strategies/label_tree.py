"""Probabilistic label trees: thousands of labels in a tree of clusters, found by beam search."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from manylabel.deadline import Deadline
from manylabel.estimator import Csr, Floats, Ints, rows_of_cells
from manylabel.exceptions import ManylabelWarning
from manylabel.kernels.label_tree_reference import log_probability
from manylabel.kernels.label_trees import COMBINE, SLOPE, Combine, Search, TreeIndex, tree_index
from manylabel.models.base import DocumentScorer, MultiLabelModel
from manylabel.models.evidence import asked_for, removal_evidence
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import AnyOf, Constraint, Number, OneOf
from manylabel.stored import Matrix, Sizes, Starts, Stored, reals, wholes
from manylabel.wording import counted

_COUNT = Number(low=1, whole=True)


class LabelTree(MultiLabelModel):
    """Log-odds of the labels that a beam search through a tree of linear classifiers reaches.

        log P(child) = path · log P(its node) + log p(margin of the child),   score = log P/(1 − P) of a label

    Labels with similar documents share a cluster: their vectors (`label_vectors`) are divided by balanced 2-means,
    again and again, into at most `arity` clusters on each level and at most `leaf_size` labels in a leaf. Every child
    of a node, cluster or label, has a linear SVM (squared hinge, cost `C`). Prediction follows the `beam` best nodes
    of each level, so that a document costs beam × children instead of all labels. The `candidates` best labels have
    scores; every other label has −∞, as one that is impossible: no decision rule predicts it. So has a label that no
    training document has.

    The SVMs of a node learn from the documents that reach it: those that have a label of it, and those that the beam
    search takes there although they have none. They so learn to tell what they will be asked, and what is above them
    in the tree needs little say: `path` 0.15, where the product of probabilities of a label tree that learns from the
    first kind of documents alone has 1 (docs/methods/label-tree.md compares them).

    `combine` turns a margin m into p: ``"sigmoid"`` 1/(1 + exp(−3m)) as LibMultiLabel 0.10, ``"squared-hinge"``
    exp(−max(0, 1 − m)²) as Parabel and omikuji, ``"cubed-hinge"`` exp(−max(0, 1 − m)³) as PECOS. With several `trees`,
    grown from different random centres, P is the mean over trees.

    `prune` drops each classifier's smallest weights, as long as their norm is at most this share of ‖w‖: the margin of
    a document of length 1 changes by no more than that (see `LinearSVM`). With as few labels as a leaf may have, the
    tree is one-vs-rest.

    Source: Jasinska, Dembczyński, Busa-Fekete et al. 2016 (probabilistic label trees); Prabhu, Kag, Harsola, Agrawal &
    Varma 2018 (Parabel: clusters of labels, beam search); Khandagale, Xiao & Babbar 2020 (Bonsai: wide trees, whose
    arity and leaf size are the defaults, as in LibMultiLabel); Yu, Zhong, Zhang, Chang & Dhillon 2022 (PECOS: negatives
    that the search meets); Etter, Zhong, Yu, Ying & Dhillon 2022 (weights stored by node and term).

    >>> X = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
    >>> model = LabelTree(arity=2, leaf_size=2, beam=1).fit(X, np.eye(4))
    >>> model.score_candidates(Csr(X)).indices.reshape(4, 2).tolist()
    [[0, 1], [0, 1], [2, 3], [2, 3]]
    """

    score_kind = ScoreKind.LOG_ODDS
    scores_candidates = True
    wants: ClassVar[frozenset[str]] = frozenset({"deadline"})
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "arity": Number(low=2, whole=True),
        "leaf_size": _COUNT,
        "beam": _COUNT,
        "candidates": _COUNT,
        "trees": _COUNT,
        "combine": OneOf(*COMBINE),
        "path": Number(low=0, high=1),
        "C": Number(low=0, open_low=True),
        "prune": Number(low=0, high=1),
        "tol": Number(low=0, open_low=True),
        "max_iter": _COUNT,
        "seed": Number(low=0, whole=True),
        "n_jobs": AnyOf(OneOf(None, -1), _COUNT),
    }

    roots_: Ints
    node_starts_: Ints
    """Where the children of each node begin."""
    targets_: Ints
    """The node that each child is, or −1 − label."""
    bias_: Floats
    node_rows_: Ints
    """Where the weights of each node begin in `row_terms_` and `cells_`."""
    row_terms_: npt.NDArray[np.int32]
    cells_: Csr
    """(Nodes and their terms) × children: the weights."""
    _index: TreeIndex | None = None

    learned: ClassVar[Mapping[str, Stored]] = {
        "node_starts_": Starts("nodes", "children", filled=True),
        "targets_": wholes("children", low=None),
        "bias_": reals("children"),
        "node_rows_": Starts("nodes", "rows"),
        "roots_": wholes(None, below="nodes"),
        "row_terms_": wholes("rows", below="terms", bits=32),
        "cells_": Matrix("rows", None, ("f4",)),
    }

    def __init__(
        self,
        arity: int = 100,
        leaf_size: int = 100,
        beam: int = 10,
        candidates: int = 100,
        trees: int = 1,
        combine: Combine = "sigmoid",
        path: float = 0.15,
        C: float = 1.0,
        prune: float = 0.3,
        tol: float = 0.1,
        max_iter: int = 1000,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.arity = arity
        self.leaf_size = leaf_size
        self.beam = beam
        self.candidates = candidates
        self.trees = trees
        self.combine: Combine = combine
        self.path = path
        self.C = C
        self.prune = prune
        self.tol = tol
        self.max_iter = max_iter
        self.seed = seed
        self.n_jobs = n_jobs

    # --- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object, *, deadline: Deadline | None = None) -> Self:
        """Cluster the labels and learn the classifiers of all nodes; the `deadline` is checked during it."""
        features, targets = self.check_training(X, Y)
        self.learn(features, targets.Y, deadline)
        return self

    def learn(self, X: Csr, Y: Csr, deadline: Deadline | None = None) -> None:
        """Learn from checked data."""
        from manylabel.strategies.label_tree_nodes import grown  # predicting starts faster without the solvers

        found = grown(
            X, Y, self._search, sizes=(self.arity, self.leaf_size), trees=self.trees,
            seed=self.seed, C=self.C, prune=self.prune, tol=self.tol, max_iter=self.max_iter, n_jobs=self.n_jobs,
            deadline=deadline,
        )  # fmt: skip
        if found.late:
            warnings.warn(
                f"LabelTree: {counted(found.late, 'classifier was', 'classifiers were')} not within tol={self.tol:g} "
                f"after max_iter={self.max_iter} epochs. Raise max_iter, or lower C, or scale the documents to unit "
                "length.",
                ManylabelWarning,
                stacklevel=4,
            )
        self.roots_, self.bias_ = found.roots, found.bias
        self.node_starts_, self.targets_ = found.node_starts, found.targets
        self.node_rows_, self.row_terms_, self.cells_ = found.node_rows, found.row_terms, found.cells
        self._index = None

    def restore(self, state: Mapping[str, Any]) -> Self:
        """Set the learned attributes to what `learned_state` returned; an index over other trees is dropped."""
        self._index = None
        return super().restore(state)

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` unless nodes lead downwards and weights belong to children of their node."""
        sizes = super().check_learned(state)
        children, rows = np.diff(state["node_starts_"]), np.diff(state["node_rows_"])
        n_nodes, targets, cells = len(children), state["targets_"], state["cells_"]
        owner = np.repeat(np.arange(n_nodes), children)
        down = np.where(targets >= 0, (targets > owner) & (targets < n_nodes), targets >= -sizes["labels"])
        if not down.all():
            raise ValueError("LabelTree.targets_ does not describe trees")
        node_of_row = np.repeat(np.arange(n_nodes), rows)
        ascending = (np.diff(state["row_terms_"]) > 0) | (np.diff(node_of_row) > 0)
        widest = np.repeat(children[node_of_row], np.diff(cells.indptr))
        if not ascending.all() or (cells.indices >= widest).any():
            raise ValueError("LabelTree.cells_ does not belong to the children of its nodes")
        return sizes

    # --- scoring ----------------------------------------------------------------------------------------------

    @property
    def index(self) -> TreeIndex:
        """The trees by node and term, built on first use."""
        if self._index is None:
            self._index = tree_index(
                self.node_starts_, self.targets_, self.bias_, self.node_rows_, self.row_terms_, self.cells_,
                self.roots_, self.n_features_in_, self.n_labels_,
            )  # fmt: skip
        return self._index

    @property
    def _search(self) -> Search:
        return Search(self.beam, self.combine, self.path, self.n_jobs)

    def scores_a_document(self, n_labels: int) -> int:
        """The `candidates`, or all labels."""
        return min(self.candidates, n_labels)

    def score_candidates(self, X: Csr) -> Csr:
        """The scores of the labels that the beam search reached, the `candidates` best of each document."""
        labels, scores, counts = self.index.found(X, self.candidates, self._search)
        found = np.arange(labels.shape[1]) < counts[:, np.newaxis]
        starts = np.concatenate([[0], np.cumsum(counts)])
        candidates = Csr((_log_odds(scores[found]), labels[found], starts), shape=(X.shape[0], self.n_labels_))
        candidates.sort_indices()
        return candidates

    def score_batch(self, X: Csr) -> Floats:
        """The scores of `score_candidates`, −∞ for all other labels, documents × labels."""
        found = self.score_candidates(X)
        scores = np.full(found.shape, -np.inf)
        scores[rows_of_cells(found), found.indices] = found.data
        return scores

    def document_scorer(self) -> DocumentScorer:
        """A scorer of one document."""
        index, n_labels, search = self.index, self.n_labels_, replace(self._search, n_jobs=1)

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            document = Csr((values, terms, np.array([0, len(terms)])), shape=(1, index.n_terms))
            labels, found, counts = index.found(document, self.candidates, search)
            scores = np.full(n_labels, -np.inf)
            scores[labels[0, : counts[0]]] = _log_odds(found[0, : counts[0]])
            return scores

        return score

    # --- explaining -------------------------------------------------------------------------------------------

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What the score of a label loses when a term is removed from the document, labels × terms.

        A product of probabilities is no sum over terms, so this is by removal, along the label's own paths: a beam that
        leaves the path without the term does not matter.
        """
        document, wanted = asked_for(self, x, labels)
        return removal_evidence(lambda X: self.path_scores(X, wanted), document)

    def path_scores(self, X: Csr, labels: Ints) -> Floats:
        """The scores of some labels along their own paths, whether or not the beam follows them; documents × labels."""
        leading = np.full(len(self.node_starts_) - 1, -1)  # the child that each node is; −1 for roots
        inner = np.flatnonzero(self.targets_ >= 0)
        leading[self.targets_[inner]] = inner
        scores = np.full((X.shape[0], len(labels)), -np.inf)
        for column, label in enumerate(labels):
            ends = np.flatnonzero(self.targets_ == -1 - label)
            if len(ends):
                total = sum(np.exp(self._path_score(X, int(end), leading)) for end in ends)
                with np.errstate(divide="ignore"):
                    scores[:, column] = _log_odds(np.log(total / len(self.roots_)))
        return scores

    def _path_score(self, X: Csr, child: int, leading: Ints) -> Floats:
        """Log P of one child, the weighted sum over the nodes above it."""
        score, weight = np.zeros(X.shape[0]), 1.0
        while child >= 0:
            node = int(np.searchsorted(self.node_starts_, child, side="right")) - 1
            rows = slice(int(self.node_rows_[node]), int(self.node_rows_[node + 1]))
            weights = self.cells_[rows][:, [child - int(self.node_starts_[node])]].toarray().ravel()
            margins = X[:, self.row_terms_[rows]] @ weights.astype(np.float64) + self.bias_[child]
            log_p = [log_probability(float(margin), COMBINE[self.combine], SLOPE) for margin in margins]
            score += weight * np.array(log_p)
            child, weight = int(leading[node]), weight * self.path
        return score


def _log_odds(log_p: Floats) -> Floats:
    """The log-odds, log P/(1 − P), from log P."""
    with np.errstate(divide="ignore"):
        return np.asarray(log_p - np.log(-np.expm1(log_p)))
