"""The base class of the parametric mixture models of Ueda & Saito 2002: learning, search, scores and evidence."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints, rows_of_cells
from manylabel.exceptions import DataError, ManylabelWarning, ParameterError
from manylabel.kernels.mixture_sets import WordTable, find_sets, word_table
from manylabel.kernels.mixtures import Ascent, GroupedCounts, LabelPairs, Mixture, group_documents, start, step
from manylabel.kernels.threads import in_threads
from manylabel.models.base import WORKING_MEMORY, MultiLabelModel
from manylabel.models.evidence import ScoreParts, asked_for, evidence_table
from manylabel.models.linear_scores import scaled_rows
from manylabel.models.out_of_fold import is_fitting_fold
from manylabel.models.pmm_search import Candidates, ExhaustiveSearch, GreedySearch, Table, blocks, exhaustive, greedy
from manylabel.models.score_kinds import ScoreKind, SingleLabelWarning
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf
from manylabel.progress import stage
from manylabel.stored import Flag, Matrix, Scalar, Stored, reals, total, wholes
from manylabel.wording import counted

MOST_LABELS_FOR_ALL_SETS = 15

Start = Literal["pmm1", "counts", "uniform", "random"]
Prior = Literal["labels", "sizes", "labels and sizes"] | None


class UnlabelledDocumentsWarning(ManylabelWarning):
    """Training documents without a label were left out."""


class ParametricMixture(MultiLabelModel):
    """The words of a document with labels S are drawn from φ(S) = Σ_{l in S} e_l θ_l, a mixture of its labels.

    The parameters are described in `PMM1`: `xi`, `start`, `search`, `max_labels`, `prior` and `equal_lengths`.
    Subclasses implement `learn_mixture`: how θ (and α) are learned from counts grouped by label set.
    """

    score_kind = ScoreKind.MARGIN
    needs_counts: ClassVar[bool] = True
    shared_constraints: ClassVar[Mapping[str, Constraint]] = {
        "xi": Number(low=1),
        "tol": Number(low=0),
        "max_iter": Number(low=1, whole=True),
        "seed": Number(low=0, whole=True),
        "search": OneOf("greedy", "exhaustive"),
        "max_labels": AnyOf(OneOf(None), Number(low=1, whole=True)),
        "prior": OneOf(None, "labels", "sizes", "labels and sizes"),
        "equal_lengths": FLAG,
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
    }

    theta_: Csr
    """θ, terms × labels, where the term occurs with the label."""
    background_: Floats
    """θ of each label for every term that does not occur with it."""
    label_documents_: Ints
    """The number of training documents with the label."""
    size_documents_: Ints
    """The number of training documents with 0, 1, 2 … labels."""
    mean_length_: float
    """The mean number of words per training document."""
    objective_: Floats
    """J at the start and after each step."""
    n_iter_: int
    converged_: bool
    _words: WordTable | None = None

    learned: ClassVar[Mapping[str, Stored]] = {
        "label_documents_": wholes("labels"),
        "size_documents_": wholes(None),
        "mean_length_": Scalar(),
        "converged_": Flag(),
        "objective_": reals(None),
        "n_iter_": total(),
        "theta_": Matrix("terms", "labels"),
        "background_": reals("labels"),
    }

    def __init__(
        self,
        xi: float = 2.0,
        start: Start = "counts",
        seed: int = 0,
        tol: float = 1e-6,
        max_iter: int = 100,
        search: Literal["greedy", "exhaustive"] = "greedy",
        max_labels: int | None = None,
        prior: Prior = None,
        equal_lengths: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.xi = xi
        self.start = start
        self.seed = seed
        self.tol = tol
        self.max_iter = max_iter
        self.search = search
        self.max_labels = max_labels
        self.prior = prior
        self.equal_lengths = equal_lengths
        self.n_jobs = n_jobs

    def first_theta(self, grouped: GroupedCounts) -> Mixture:
        """θ at the starting point `start`."""
        if self.start == "random":
            return random_start(grouped, np.random.default_rng(self.seed))
        return uniform_start(grouped) if self.start == "uniform" else start(grouped)

    def learn_mixture(self, grouped: GroupedCounts) -> Mixture:
        """θ and α from grouped counts; also sets `objective_`, `n_iter_` and `converged_`."""
        raise NotImplementedError

    # --- learning -------------------------------------------------------------------------------------------------

    def learn(self, X: Csr, Y: Csr) -> None:
        """Leave out documents without a label, add up the others by label set, and maximise J."""
        rows = self.learned_documents(Y)
        if len(rows) < X.shape[0]:
            X, Y = Csr(X[rows]), Csr(Y[rows])
        self.mean_length_ = _mean_length(X)
        self.learn_grouped(group_documents(self._scaled(X), Y, n_jobs=self.n_jobs))

    def learned_documents(self, Y: Csr) -> Ints:
        """The rows of the documents to learn from, those with a label; notes how many labels they have."""
        name, sizes = type(self).__name__, np.diff(Y.indptr)
        rows = np.flatnonzero(sizes).astype(np.int64)
        if not len(rows):
            raise DataError(
                f"{name}: none of the {counted(len(sizes), 'training document')} has a label, so there is nothing to "
                "learn from."
            )
        if not is_fitting_fold():
            self._warn_of_documents(len(sizes) - len(rows), len(sizes), Y.shape[1])
        self.label_documents_ = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64)
        self.size_documents_ = np.bincount(sizes[rows], minlength=2).astype(np.int64)
        self._check_search()
        return rows

    def _warn_of_documents(self, n_unlabelled: int, n_documents: int, n_labels: int) -> None:
        name = type(self).__name__
        if n_unlabelled:
            warnings.warn(
                f"{name}: {n_unlabelled} of {n_documents} training documents have no label and are left out, since a "
                "mixture needs at least one.",
                UnlabelledDocumentsWarning,
                stacklevel=5,
            )
        if n_labels == 1 and self.label_form_ != "single":
            warnings.warn(
                f"{name} predicts at least one label per document, so the only label is predicted for all. Use a "
                "method that decides each label by itself, for example BinaryNaiveBayes.",
                SingleLabelWarning,
                stacklevel=5,
            )

    def learn_grouped(self, grouped: GroupedCounts) -> None:
        """Maximise J on counts that were added up by label set."""
        mixture = self.learn_mixture(grouped)
        shape = grouped.n_terms, grouped.n_labels
        self.theta_ = Csr((mixture.theta, grouped.cells.labels, grouped.cells.starts), shape=shape)
        self.background_ = mixture.background
        self._words = None

    def _check_search(self) -> None:
        n_labels = int(np.count_nonzero(self.label_documents_))
        if self.search == "exhaustive" and n_labels > MOST_LABELS_FOR_ALL_SETS:
            raise ParameterError(
                f"{type(self).__name__}: search='exhaustive' compares every set of labels and allows up to "
                f"{MOST_LABELS_FOR_ALL_SETS} labels, but there are {n_labels}. Use search='greedy'."
            )

    def climb(
        self,
        grouped: GroupedCounts,
        mixture: Mixture,
        *,
        most: int,
        zeta: float = 2.0,
        pairs: LabelPairs | None = None,
    ) -> Mixture:
        """Up to `most` steps, until J rises by no more than its `tol`-th part; stores J before and after each."""
        with stage(f"Learning {type(self).__name__}") as advance:
            ascent = grouped.resumed(Ascent(mixture))
            while not ascent.converged and len(ascent.reached) <= most:
                better, value = step(grouped, ascent.mixture, xi=self.xi, zeta=zeta, pairs=pairs, n_jobs=self.n_jobs)
                reached = (*ascent.reached, value)
                is_last = len(reached) > most
                converged = 1 < len(reached) <= most and abs(value - reached[-2]) <= self.tol * abs(value)
                ascent = Ascent(ascent.mixture if converged or is_last else better, reached, converged)
                grouped.keep(ascent)
                advance(1)
        self.objective_, self.n_iter_ = np.array(ascent.reached), len(ascent.reached) - 1
        self.converged_ = ascent.converged
        return ascent.mixture

    # --- the learned mixture in the form of the searches ----------------------------------------------------------

    def _scaled(self, X: Csr) -> Csr:
        """With `equal_lengths`, every document with words at the mean length of the training documents."""
        if not self.equal_lengths:
            return X
        lengths = np.asarray(X.sum(axis=1), dtype=np.float64)
        factors = self.mean_length_ / np.where(lengths > 0, lengths, 1.0)
        return scaled_rows(X, factors)

    def _alpha(self) -> Csr | None:
        """α of pairs that share a training document, labels × labels; none: ½ everywhere."""
        return None

    def _word_table(self) -> WordTable:
        """The learned mixture in the form the kernel reads; built on first use after `fit` or `restore`."""
        if self._words is None:
            allowed = self.label_documents_ > 0
            self._words = word_table(self.theta_, self.background_, alpha=self._alpha(), allowed=allowed)
        return self._words

    def restore(self, state: Mapping[str, Any]) -> Self:
        """Set the learned attributes to what `learned_state` returned; a table of another mixture is dropped."""
        self._words = None
        return super().restore(state)

    def _table(self, X: Csr) -> Table:
        """θ of each stored word of X under every label."""
        cells = self.theta_[X.indices]
        theta = np.tile(self.background_, (X.nnz, 1))
        theta[rows_of_cells(cells), cells.indices] = cells.data
        alpha = self._alpha()
        lean = None if alpha is None else Csr((alpha.data - 0.5, alpha.indices, alpha.indptr), shape=alpha.shape)
        return Table(theta, lean)

    def _candidates(self) -> Candidates:
        most = 1 if self.label_form_ == "single" else min(self.max_labels or self.n_labels_, self.n_labels_)
        labels = sizes = None
        if self.prior is not None and "labels" in self.prior:
            share = (self.label_documents_ + 0.5) / (self.size_documents_.sum() + 1.0)
            labels = np.log(share) - np.log1p(-share)
        if self.prior is not None and "sizes" in self.prior:
            seen = np.zeros(self.n_labels_ + 1)
            seen[: len(self.size_documents_)] = self.size_documents_
            sizes = np.log((seen + 1.0) / (seen.sum() + self.n_labels_))
        return Candidates(self.label_documents_ > 0, most, labels, sizes)

    def _search(self, X: Csr) -> GreedySearch | ExhaustiveSearch:
        run = greedy if self.search == "greedy" else exhaustive
        return run(X, self._table(X), self._candidates())

    # --- predicting ---------------------------------------------------------------------------------------------------

    def predict(self, X: object, *, working_memory: int = WORKING_MEMORY) -> Any:
        """The label set of each document by the model's own search; class values where `y` was 1-D."""
        features = self.features(X)
        if self.label_form_ == "single" or self.search != "greedy" or self.prior is not None:
            return super().predict(features, working_memory=working_memory)
        found = find_sets(self._word_table(), self._scaled(features), max_labels=self.max_labels, n_jobs=self.n_jobs)
        return self.in_fitted_form([self._with_empty(features, found.sets)])

    def _with_empty(self, X: Csr, sets: Csr) -> Csr:
        """The sets, documents without words having the most frequent label."""
        empty = np.diff(X.indptr) == 0
        if not empty.any():
            return sets
        indptr = np.concatenate([[0], np.cumsum(empty)])
        usual = np.full(indptr[-1], self.label_documents_.argmax())
        return Csr(sets + Csr((np.ones(indptr[-1], np.int8), usual, indptr), shape=sets.shape))

    def score_batch(self, X: Csr) -> Floats:
        """Log-likelihood of the best set with the label minus that of the best set without it, documents × labels."""
        scores = np.empty((X.shape[0], self.n_labels_))
        filled = np.flatnonzero(np.diff(X.indptr))
        if len(filled) < X.shape[0]:
            scores[:] = self._scores_without_words()
        x = self._scaled(X if len(filled) == X.shape[0] else Csr(X[filled]))

        def score(rows: slice) -> None:
            scores[filled[rows]] = self._search(Csr(x[rows])).scores()

        in_threads(score, blocks(x, self.n_labels_), self.n_jobs)
        return scores

    def _scores_without_words(self) -> Floats:
        """Scores of empty documents, which all sets explain equally well: positive for the most frequent label only."""
        with np.errstate(divide="ignore"):
            scores = np.log(self.label_documents_) - np.log(self.label_documents_.max())
        scores = np.minimum(scores, -1e-12)
        scores[self.label_documents_.argmax()] = 1e-12
        return np.asarray(scores)

    # --- explaining ---------------------------------------------------------------------------------------------------

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds to the scores of some labels (default: all), labels × terms.

        x_i log φ_i(S) / φ_i(R), S the best set with the label and R the best without it: the values sum to the
        score, except for the prior's part in it. A label never seen, or without a rival, has no evidence.
        """
        document, wanted = asked_for(self, x, labels)
        values = np.zeros((len(wanted), document.nnz))
        if document.nnz:
            scaled = self._scaled(document)
            table, found = self._table(scaled), self._search(scaled)
            for row, label in enumerate(wanted.tolist()):
                if self.label_documents_[label]:
                    values[row] = scaled.data * _log_ratio(table, *found.best_sets(0, label))
        return evidence_table(document, values)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's scores; the intercept is the difference of the two sets' log-priors."""
        document, wanted = asked_for(self, x, labels)
        total = self.score_batch(document)[0, wanted]
        intercept = total.copy()  # of a document without terms, and of a label that was never seen or has no rival
        if document.nnz:
            found, candidates = self._search(self._scaled(document)), self._candidates()
            for row, label in enumerate(wanted.tolist()):
                pair = found.best_sets(0, label) if self.label_documents_[label] else ([], [])
                if all(pair):
                    sets = np.zeros((2, self.n_labels_), dtype=np.bool_)
                    sets[0, pair[0]] = sets[1, pair[1]] = True
                    priors = candidates.of_sets(sets)
                    intercept[row] = priors[0] - priors[1]
        return ScoreParts(self.evidence(document, wanted), total, intercept)


def _log_ratio(table: Table, with_label: list[int], without: list[int]) -> Floats:
    """The log-ratio log φ(with)/φ(without) on each word; 0 where either set is missing."""
    if not with_label or not without:
        return np.zeros(len(table.theta))
    sets = np.zeros((2, table.theta.shape[1]), dtype=np.bool_)
    sets[0, with_label] = sets[1, without] = True
    with np.errstate(divide="ignore"):
        logs = np.log(table.theta @ table.shares(sets).T)
    both = np.isneginf(logs).all(axis=1)
    return np.where(both, 0.0, np.where(both, 0.0, logs[:, 0]) - np.where(both, 0.0, logs[:, 1]))


def random_start(grouped: GroupedCounts, generator: np.random.Generator) -> Mixture:
    """A random θ that sums to 1 for each label: exponential weights, one of them for all words never seen with it."""
    weights = generator.standard_exponential(len(grouped.cells.labels)) + 1e-3
    rest = generator.standard_exponential(grouped.n_labels) + 1e-3
    return _normalised(grouped, weights, rest)


def uniform_start(grouped: GroupedCounts) -> Mixture:
    """θ = 1/V."""
    return _normalised(grouped, np.ones(len(grouped.cells.labels)), np.ones(grouped.n_labels))


def _normalised(grouped: GroupedCounts, weights: Floats, rest: Floats) -> Mixture:
    labels = grouped.cells.labels
    seen = np.bincount(labels, weights=weights, minlength=grouped.n_labels)
    total = seen + (grouped.n_terms - grouped.label_cells) * rest
    return Mixture(weights / total[labels], rest / total)


def _mean_length(X: Csr) -> float:
    """Mean words of the documents that have any."""
    filled = int(np.count_nonzero(np.diff(X.indptr)))
    return float(X.data.sum()) / filled if filled else 1.0
