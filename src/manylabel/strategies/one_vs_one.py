"""One-vs-one: one two-class problem per pair of labels; a label's score counts the pairs it wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.kernels.threads import in_threads
from manylabel.models.base import Columns, MultiLabelModel, row_batches
from manylabel.models.evidence import ScoreParts, asked_for, evidence_table
from manylabel.models.score_kinds import LOG_ODDS_LIMIT, Bools, ScoreKind
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf
from manylabel.progress import reporting_to, stage
from manylabel.stored import Each, Maybe, Part, Sizes, Sometimes, Stored, flags, reals, wholes
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.two_class import BASE_MODEL, as_model, fit_problem, for_rows, problem_scores

PAIR_MEMORY = 64 << 20
"""Bytes the decision values of a batch of documents against all pairs may take."""


class OneVsOne(MultiLabelModel):
    """The share of other labels a label wins against, one two-class problem for each of the K(K − 1)/2 pairs.

    s_k = (v_k + z_k / (3 (|z_k| + 1))) / (K − 1)

    v_k counts the pairs that label k wins, z_k sums the decision values of its pairs, taken from its side: it decides
    between labels with the same number of wins, since its term stays within ±1/3. Ties that remain go to the lower
    index, in a pair (decision value 0) and between labels. For a 1-D `y` the label of the highest score is predicted.

    On multi-label data, documents that carry both labels of a pair are left out of it, and so are those that carry
    neither. Where one label of a pair has no document of its own left, the other wins by 1; where neither has, neither
    wins. A label that no document carries scores −∞.

    ``calibrated=True`` adds a virtual label that stands between the labels a document has and those it has not: its
    pair with label k is k against the rest of all documents. Scores then are s_k − s_0 with K in place of K − 1, a
    margin: labels ranked above the virtual one are predicted. Without it votes have no natural zero; they rank labels,
    and a decision rule is needed.

    Source: Manning, Raghavan & Schütze 2008, section 14.5, and Hastie & Tibshirani 1998 for pairs; ties as in
    scikit-learn's `OneVsOneClassifier`; Fürnkranz, Hüllermeier, Loza Mencía & Brinker 2008 for multi-label data and the
    virtual label. With `LinearSVM` the weights of all pairs are kept as one table, terms × pairs.

    >>> from manylabel.models.linear_svm import LinearSVM
    >>> X, y = np.array([[3.0, 0.0], [0.0, 3.0], [1.0, 1.0]]), ["a", "b", "c"]
    >>> model = OneVsOne(LinearSVM(C=100.0)).fit(X, y)
    >>> model.predict(X).tolist(), model.pairs_.tolist()
    (['a', 'b', 'c'], [[0, 1], [0, 2], [1, 2]])
    >>> (2 * model.scores(X)).round().astype(int).tolist()
    [[2, 0, 1], [0, 2, 1], [0, 1, 2]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": BASE_MODEL,
        "calibrated": FLAG,
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
    }

    pairs_: Ints
    """The two labels of each learned pair; a positive decision value is a win of the second."""
    all_pairs_: MultiLabelModel | None = None
    """The one model of all pairs, where models can be joined (`learns_labels_apart`)."""
    models_: list[Any]
    """Otherwise, the model of each pair."""
    walkovers_: Floats
    """Labels × 2: pairs won without a classifier, and the decision values they count for."""
    seen_: npt.NDArray[np.bool_]
    rest_: BinaryRelevance
    """Each label against the rest, where calibrated."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "seen_": flags("labels"),
        "walkovers_": reals("labels", 2),
        "pairs_": wholes("pairs", 2, below="labels"),
        "all_pairs_": Sometimes(Maybe(Part(MultiLabelModel, "pairs", "terms"))),
        "models_": Sometimes(Each(Part(MultiLabelModel, terms="terms"), "pairs")),
        "rest_": Sometimes(Part(BinaryRelevance, "labels", "terms")),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` unless the pairs have models, and labels against the rest where calibrated."""
        if state.get("all_pairs_") is None and "models_" not in state:
            raise ValueError("OneVsOne has no models of its pairs")
        if self.calibrated and "rest_" not in state:
            raise ValueError("OneVsOne.rest_ is missing")
        return super().check_learned(state)

    def __init__(self, model: Any, calibrated: bool = False, n_jobs: int | None = 1) -> None:
        self.model = model
        self.calibrated = calibrated
        self.n_jobs = n_jobs

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """A margin where the virtual label defines zero, a similarity otherwise."""
        return ScoreKind.MARGIN if self.calibrated else ScoreKind.SIMILARITY

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model needs non-negative input."""
        return as_model(self.model).needs_counts

    # --- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object, **options: Any) -> Self:
        """Learn every pair; `options` go to the model's `fit`, `sample_weight` for the documents of the pair."""
        features, targets = self.check_training(X, Y)
        model, duels = as_model(self.model), duels_of(targets.Y)
        self.seen_, self.walkovers_, self.pairs_ = duels.seen, duels.walkovers, duels.pairs
        with stage("Learning pairs of labels", len(duels.pairs)) as advance:

            def learn_pair(pair: int) -> tuple[MultiLabelModel, Columns]:
                # Progress within a pair of a few documents would only flicker.
                with reporting_to(None):
                    learned = _learn_pair(model, features, duels, pair, options)
                advance(1)
                return learned

            learned = in_threads(learn_pair, range(len(duels.pairs)), self.n_jobs)
        self.models_ = [fitted for fitted, _ in learned]
        if model.learns_labels_apart:
            self.all_pairs_ = model.joined(self.models_, features.shape[1], [columns for _, columns in learned])
            del self.models_
        if self.calibrated:
            self.rest_ = BinaryRelevance(self.model, n_jobs=self.n_jobs).fit(features, targets.Y, **options)
        return self

    # --- scoring ----------------------------------------------------------------------------------------------

    def score_batch(self, X: Csr) -> Floats:
        """Wins and summed decision values of each label, as one score."""
        votes, sums = self.votes(X)
        opponents = max(int(self.seen_.sum()) - 1, 1)
        scores = votes + squashed(sums)
        if self.calibrated:
            rest = np.clip(self.rest_.score_batch(X)[:, self.seen_], -LOG_ODDS_LIMIT, LOG_ODDS_LIMIT)
            scores[:, self.seen_] = votes[:, self.seen_] + (rest >= 0) + squashed(sums[:, self.seen_] + rest)
            scores -= ((rest < 0).sum(axis=1) + squashed(-rest.sum(axis=1)))[:, np.newaxis]
            opponents = max(int(self.seen_.sum()), 1)
        scores /= opponents
        scores[:, ~self.seen_] = -np.inf
        return scores

    def votes(self, X: Csr) -> tuple[Floats, Floats]:
        """How many pairs each label wins, v, and its summed decision values, z, documents × labels."""
        votes = np.tile(self.walkovers_[:, 0], (X.shape[0], 1))
        sums = np.tile(self.walkovers_[:, 1], (X.shape[0], 1))
        n_pairs = len(self.pairs_)
        if n_pairs == 0:
            return votes, sums
        sides, firsts = self._sides(), np.bincount(self.pairs_[:, 0], minlength=self.n_labels_)
        for rows in row_batches(X.shape[0], n_pairs, PAIR_MEMORY):
            values = self._decision_values(X[rows])
            votes[rows] += (values > 0).astype(np.float64) @ sides + firsts
            sums[rows] += values @ sides
        return votes, sums

    def _sides(self) -> Csr:
        """Pairs × labels: +1 for the second label of a pair, −1 for the first."""
        places = np.repeat(np.arange(len(self.pairs_)), 2), self.pairs_.ravel()
        signs = np.tile([-1.0, 1.0], len(self.pairs_))
        return Csr(sparse.coo_array((signs, places), shape=(len(self.pairs_), self.n_labels_)))

    def _decision_values(self, X: Csr) -> Floats:
        if self.all_pairs_ is not None:
            return self.all_pairs_.score_batch(X)
        found = in_threads(lambda fitted: problem_scores(fitted, X), self.models_, self.n_jobs)
        return np.clip(np.column_stack(found), -LOG_ODDS_LIMIT, LOG_ODDS_LIMIT)

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term adds to a label's mean decision value, for pairs joined in one model, labels × terms.

        That is z_k over the number of opponents: votes are steps, to which single terms add nothing. With other models
        it is what the score loses without the term.
        """
        if self.all_pairs_ is None:
            return super().evidence(x, labels)
        document, wanted = asked_for(self, x, labels)
        terms = document.indices
        sums = np.zeros((self.n_labels_, len(terms)))
        if len(self.pairs_):
            sums += self._sides().T @ self.all_pairs_.evidence(document)[:, terms].toarray()
        if self.calibrated:
            sums += self.rest_.evidence(document)[:, terms].toarray()
        opponents = max(int(self.seen_.sum()) - (not self.calibrated), 1)
        return evidence_table(document, sums[wanted] / opponents)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of a label's mean decision value for one document, for pairs joined in one model."""
        if self.all_pairs_ is None:
            return super().score_parts(x, labels)
        document, wanted = asked_for(self, x, labels)
        total, intercept = self.votes(document)[1][0], self.walkovers_[:, 1].astype(np.float64)
        if len(self.pairs_):
            intercept = intercept + self.all_pairs_.score_parts(document).intercept @ self._sides()
        if self.calibrated:
            total = total + self.rest_.score_batch(document)[0]
            intercept = intercept + self.rest_.score_parts(document).intercept
        opponents = max(int(self.seen_.sum()) - (not self.calibrated), 1)
        mean, fixed = total[wanted] / opponents, intercept[wanted] / opponents
        quantity = "mean decision value against the other labels"
        return ScoreParts(self.evidence(document, wanted), mean, fixed, quantity=quantity)


def _learn_pair(
    model: MultiLabelModel, X: Csr, duels: Duels, pair: int, options: Mapping[str, Any]
) -> tuple[MultiLabelModel, Columns]:
    """The fitted model of one pair, and the columns it learned from, which are few if models can be joined."""
    rows, second = duel_rows(duels, pair)
    documents, chosen = X[rows], for_rows(options, rows)
    if not model.learns_labels_apart:
        return fit_problem(model, documents, second, **chosen), np.arange(X.shape[1], dtype=np.int32)
    columns, narrow = used_columns(documents)
    # Pairs are learned in threads already.
    return fit_problem(unfitted_copy(model).set_everywhere("n_jobs", 1), narrow, second, **chosen), columns


@dataclass(frozen=True, slots=True)
class Duels:
    """The pairs of labels that need a classifier, and those decided without one."""

    by_label: sparse.csc_array
    """Y by columns."""
    pairs: Ints
    """Pairs × 2: labels that each have a document without the other; the lower one first."""
    walkovers: Floats
    """Labels × 2: pairs won because the other label has no document of its own; and wins minus losses."""
    seen: Bools
    """Labels that any document carries."""


def duels_of(Y: Csr) -> Duels:
    """The pairs of the labels in Y.

    >>> duels = duels_of(Csr([[1, 0, 0], [1, 1, 0], [0, 0, 1]]))
    >>> duels.pairs.tolist(), duels.walkovers.tolist()
    ([[0, 2], [1, 2]], [[1.0, 1.0], [0.0, -1.0], [0.0, 0.0]])
    """
    documents = np.bincount(Y.indices, minlength=Y.shape[1])
    seen, n_labels = np.flatnonzero(documents), Y.shape[1]
    low, high = np.triu_indices(len(seen), k=1)
    first, second = seen[low], seen[high]
    together = Csr(Y.T.astype(np.int64) @ Y.astype(np.int64))
    above = [together[[label]].toarray()[0, seen[place + 1 :]] for place, label in enumerate(seen.tolist())]
    shared = np.concatenate([np.zeros(0, dtype=np.int64), *above])
    first_alone, second_alone = documents[first] > shared, documents[second] > shared
    both = first_alone & second_alone
    walkovers = np.zeros((n_labels, 2))
    for winners, losers, mask in ((first, second, first_alone & ~both), (second, first, second_alone & ~both)):
        np.add.at(walkovers, winners[mask], 1.0)
        np.subtract.at(walkovers[:, 1], losers[mask], 1.0)
    pairs = np.column_stack([first, second])[both].astype(np.int64)
    return Duels(sparse.csc_array(Y), pairs, walkovers, documents > 0)


def duel_rows(duels: Duels, pair: int) -> tuple[Ints, Bools]:
    """The documents with exactly one label of a pair, and whether that is the second."""
    carried = duels.by_label
    first, second = (carried.indices[carried.indptr[label] : carried.indptr[label + 1]] for label in duels.pairs[pair])
    rows = np.setxor1d(first, second, assume_unique=True).astype(np.int64)
    return rows, np.isin(rows, second)


def used_columns(X: Csr) -> tuple[Columns, Csr]:
    """The columns of X that are not empty, and X without the others: the documents of a pair have few terms."""
    used = np.zeros(X.shape[1], dtype=np.bool_)
    used[X.indices] = True
    columns = np.flatnonzero(used).astype(np.int32)
    if len(columns) == 0:
        return np.zeros(1, dtype=np.int32), X[:, :1]
    place = np.cumsum(used, dtype=np.int32) - np.int32(1)
    narrow = Csr((X.data, place[X.indices], X.indptr), shape=(X.shape[0], len(columns)))
    narrow.has_canonical_format = X.has_canonical_format
    return columns, narrow


def squashed(sums: Floats) -> Floats:
    """Summed decision values z as z / (3 (|z| + 1)): less than a third of a vote, their order kept.

    >>> squashed(np.array([-1.0, 0.0, 2.0])).round(4).tolist()
    [-0.1667, 0.0, 0.2222]
    """
    return np.asarray(sums / (3 * (np.abs(sums) + 1)))
