"""Value-weighted naive Bayes: every value of a word has its own weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats
from manylabel.exceptions import ParameterError
from manylabel.features.discretize import Scope
from manylabel.features.value_weights import Norm, ValueWeight
from manylabel.kernels.label_tables import score_one
from manylabel.models.base import DocumentScorer, MultiLabelModel
from manylabel.models.dense_scores import DenseScores
from manylabel.models.evidence import asked_for, evidence_table
from manylabel.models.linear_scores import LinearScores
from manylabel.models.score_kinds import Bools, ScoreKind, natural_decisions, posteriors
from manylabel.models.value_cells import Event, Frequency, ValueCoder, ValueCounts, count_values, learn_coder
from manylabel.models.value_class_scores import class_log_probabilities, class_value_weights, weighted
from manylabel.models.value_label_scores import LabelValues, entries_of, label_values, own_entries
from manylabel.models.value_refinement import BLOCK, Ascent, ClassProblem, LabelProblems, refine_classes, refine_labels
from manylabel.parameters import FLAG, Constraint, Number, OneOf
from manylabel.progress import stage

MOST_DENSE = 1 << 25
"""Cells × labels up to which ``refine_cells="auto"`` refines, and so keeps, a weight for each of them (256 MB)."""


class ValueWeightedNaiveBayes(MultiLabelModel):
    """Naive Bayes in which every value of a word, its frequency bin, has a weight of its own.

    s_c = log P(c) + Σ_i w_{i,j(i)} log P(value j(i) of word i | c)

    Frequencies are cut into `n_bins` bins, 0 being absence (`scope`; see `manylabel.features.discretize`). `event` says
    what a word contributes:

    exponent      log P(w_i|c) if it occurs, P(w_i|c) = (F_ic + 1)/(F_c + V)
    multinomial   f_i log P(w_i|c), so that all weights 1 is multinomial naive Bayes
    categorical   log P(a_ij|c) = log (n_ijc + 1)/(N_c + B) of its bin, absence included

    `weight` is how much the bin says of the class (`m` shrinks it; see `manylabel.features.value_weights`), scaled to
    mean 1 over all bins that the reading uses (``norm="global"``), over those of each word (``"feature"``) or not at
    all (``"none"``); ``"auto"`` is none for two classes and global for more. The frequency f is the number of the bin,
    or the value itself (`frequency`), which matters where values are no counts. ``refine="cll"`` improves the weights
    by `steps` steps up the conditional likelihood (`eta`, `l2`, `tolerance`; see `manylabel.models.value_refinement`).

    ``target="labels"`` is one two-class problem a label, against all other documents, with log-odds as scores and
    weights for each label; ``"classes"`` is one problem of as many classes as labels, a document with several labels
    counting once for each, with posteriors as scores. A label without documents is never given, one of all documents
    always (``"labels"``).
    Refining the weights of every word for every label takes a dense table; ``refine_cells="seen"`` moves only those of
    words seen with the label and keeps the model sparse, ``"auto"`` does so where the table would exceed 256 MB.

    The last `binary_columns` columns of X may be label indicators: two-valued features whose absence counts too, in
    every reading. Their weights are normalised apart from those of words unless `norm_joint`; with `skip_own` they are
    the labels themselves, in order, and no label looks at its own; with `skip_later`, only at those before its own.

    Source: Lee 2018, section 3, whose formulas are lost. The reading nearest to its text is ``event="categorical",
    norm="global", refine="none"``; the defaults are the reading that does best on data of its kind.

    >>> X, y = np.array([[1, 0], [2, 0], [0, 1], [0, 2], [1, 1], [0, 0]]), [1, 1, 0, 0, 1, 0]
    >>> model = ValueWeightedNaiveBayes("categorical", norm="global", n_bins=3, refine="none", target="classes")
    >>> model.fit(X, y).predict_proba(X)[:, 1].round(6).tolist()
    [0.858496, 0.617053, 0.012497, 0.008844, 0.842276, 0.014173]
    """

    needs_counts: ClassVar[bool] = True
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "event": OneOf("exponent", "categorical", "multinomial"),
        "weight": OneOf("kl_split", "kl", "p_kl", "none"),
        "m": Number(low=0),
        "norm": OneOf("auto", "global", "feature", "none"),
        "n_bins": Number(low=2, whole=True),
        "scope": OneOf("feature", "global"),
        "frequency": OneOf("bin", "value"),
        "refine": OneOf("cll", "none"),
        "steps": Number(low=0, whole=True),
        "eta": Number(low=0, open_low=True),
        "l2": Number(low=0),
        "tolerance": Number(low=0),
        "refine_cells": OneOf("auto", "all", "seen"),
        "target": OneOf("labels", "classes"),
        "prior": OneOf("add-one", "ml"),
        "binary_columns": Number(low=0, whole=True),
        "norm_joint": FLAG,
        "skip_own": FLAG,
        "skip_later": FLAG,
    }

    low_: Floats
    high_: Floats
    cells_: npt.NDArray[np.int32]
    intercept_: Floats

    def __init__(
        self,
        event: Event = "exponent",
        weight: ValueWeight = "kl_split",
        m: float = 1.0,
        norm: Norm | Literal["auto"] = "auto",
        n_bins: int = 5,
        scope: Scope = "feature",
        frequency: Frequency = "bin",
        refine: Literal["cll", "none"] = "cll",
        steps: int = 20,
        eta: float = 0.01,
        l2: float = 0.0,
        tolerance: float = 1e-4,
        refine_cells: Literal["auto", "all", "seen"] = "auto",
        target: Literal["labels", "classes"] = "labels",
        prior: Literal["add-one", "ml"] = "add-one",
        binary_columns: int = 0,
        norm_joint: bool = False,
        skip_own: bool = False,
        skip_later: bool = False,
    ) -> None:
        self.event: Event = event
        self.weight: ValueWeight = weight
        self.m = m
        self.norm: Norm | Literal["auto"] = norm
        self.n_bins = n_bins
        self.scope: Scope = scope
        self.frequency: Frequency = frequency
        self.refine = refine
        self.steps = steps
        self.eta = eta
        self.l2 = l2
        self.tolerance = tolerance
        self.refine_cells = refine_cells
        self.target = target
        self.prior = prior
        self.binary_columns = binary_columns
        self.norm_joint = norm_joint
        self.skip_own = skip_own
        self.skip_later = skip_later

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """Log-odds of each label, or posteriors over the classes."""
        return ScoreKind.LOG_ODDS if self.target == "labels" else ScoreKind.POSTERIOR

    # --- learning ---------------------------------------------------------------------------------------------

    def learn(self, X: Csr, Y: Csr) -> None:
        """Cut the frequencies into bins, count, weigh, refine."""
        self._check_columns(X.shape[1], Y.shape[1])
        if self.target == "classes":
            labelled = np.diff(Y.indptr) > 0
            X, Y = Csr(X[labelled]), Csr(Y[labelled])
        copies = np.ones(X.shape[0]) if self.target == "labels" else np.diff(Y.indptr).astype(np.float64)
        coder = learn_coder(
            X, copies, event=self.event, frequency=self.frequency, n_bins=self.n_bins, scope=self.scope,
            binary_columns=self.binary_columns, every_bin=self.weight == "none",
        )  # fmt: skip
        self.low_, self.high_, self.cells_ = coder.low, coder.high, coder.cells
        counts = count_values(X, Y, coder, copies, self._skips, self.skip_later)
        learned = self._learn_labels if self.target == "labels" else self._learn_classes
        for name, value in learned(X, Y, coder, counts).as_learned().items():
            setattr(self, name, value)

    def _check_columns(self, n_columns: int, n_labels: int) -> None:
        if self.binary_columns > n_columns:
            raise ParameterError(
                f"{type(self).__name__}: binary_columns is {self.binary_columns}, but X has only {n_columns} columns."
            )
        if self._skips and (self.binary_columns != n_labels or self.target != "labels"):
            option = "skip_own" if self.skip_own else "skip_later"
            raise ParameterError(
                f"{type(self).__name__}: {option} needs target='labels' and one indicator column for each of the "
                f"{n_labels} labels, not binary_columns={self.binary_columns} with target={self.target!r}."
            )

    @property
    def _skips(self) -> bool:
        """Whether the label columns are the labels themselves, and some are hidden from each."""
        return self.skip_own or self.skip_later

    def _norm(self, n_classes: int) -> Norm:
        if self.norm != "auto":
            return self.norm
        return "none" if self.target == "labels" or n_classes <= 2 else "global"

    @property
    def _ascent(self) -> Ascent:
        return Ascent(self.steps, self.eta, self.l2, self.tolerance)

    def _learn_labels(self, X: Csr, Y: Csr, coder: ValueCoder, counts: ValueCounts) -> LinearScores | DenseScores:
        values = label_values(counts, self.weight, self.m, self._norm(2), self.norm_joint, self._skips, self.skip_later)
        N_k, N = counts.label_documents, counts.n_documents
        added = 1.0 if self.prior == "add-one" else 0.0
        with np.errstate(divide="ignore"):
            log_odds = np.log(N_k + added) - np.log(N - N_k + added)
        constant = np.where(N_k == 0, -np.inf, np.where(N_k == N, np.inf, 0.0))
        log_odds = np.where(constant == 0, log_odds, 0.0)
        if self.refine == "none" or not self.steps or not coder.n_cells:
            return values.scores(counts, log_odds + constant)
        everything = coder.n_cells * len(N_k) <= MOST_DENSE
        all_cells = self.refine_cells == "all" or (self.refine_cells == "auto" and everything)
        refined = self._refine_labels(coder.code(X), Y, counts, values, log_odds, all_cells)
        if all_cells:
            base = counts.absent @ refined
            return DenseScores(log_odds + base + constant, refined)
        return LabelValues(
            values.group, values.group_weight, values.group_ratio, values.cell_ratio,
            entry_weight=refined, entry_ratio=values.entry_ratio,
        ).scores(counts, log_odds + constant)  # fmt: skip

    def _refine_labels(
        self, coded: Csr, Y: Csr, counts: ValueCounts, values: LabelValues, log_odds: Floats, all_cells: bool
    ) -> Floats:
        """Refined w · r, cells × labels, or with `all_cells` off the refined w of each entry; in blocks of labels."""
        n_cells, n_labels = len(values.group), len(log_odds)
        result = np.zeros((n_cells, n_labels)) if all_cells else values.entry_weight.copy()
        size = max(1, BLOCK // max(n_cells, coded.shape[0], 1))
        by_cell, by_label = Csr(coded.T.tocsr()), Y.tocsc()
        own = own_entries(counts, self.skip_later)
        with stage("Refining weights", n_labels) as advance:
            for start in range(0, n_labels, size):
                labels = slice(start, min(start + size, n_labels))
                weight, ratio = values.dense(counts, labels)
                wanted = by_label[:, labels].toarray().astype(np.float64)
                absent = counts.absent.astype(np.float64)
                problems = LabelProblems(coded, by_cell, absent, wanted, ratio, log_odds[labels])
                inside = entries_of(counts, labels)
                cell, label = counts.pairs.entry_cell[inside], counts.pairs.entry_label[inside] - start
                free = None
                if not all_cells or self._skips:
                    free = np.full_like(weight, float(all_cells))
                    free[cell, label] = ~own[inside] if self._skips else True
                refined = refine_labels(problems, weight, free, self._ascent)
                if all_cells:
                    result[:, labels] = refined * ratio
                else:
                    result[inside] = refined[cell, label]
                advance(labels.stop - start)
        return result

    def _learn_classes(self, X: Csr, Y: Csr, coder: ValueCoder, counts: ValueCounts) -> LinearScores:
        N_c = counts.label_documents
        seen = N_c > 0
        weights = class_value_weights(counts, self.weight, self.m, self._norm(int(seen.sum())), self.norm_joint)
        added = np.where(seen, N_c + (1.0 if self.prior == "add-one" else 0.0), 0.0)
        with np.errstate(divide="ignore"):
            log_prior = np.log(added / max(added.sum(), 1.0))
        log_p, absent = class_log_probabilities(counts), counts.absent.astype(np.float64)
        if self.refine == "cll" and seen.sum() > 1:
            problem = ClassProblem(coder.code(X), absent, Y, log_p, log_prior)
            weights = refine_classes(problem, weights, self._ascent)
        self.value_weights_ = weights
        return weighted(log_p, weights, absent, log_prior)

    # --- scoring ----------------------------------------------------------------------------------------------

    @property
    def coder(self) -> ValueCoder:
        """How documents become rows over the cells, the values of features that training has seen."""
        self.check_fitted()
        return ValueCoder(
            self.event, self.frequency, self.n_bins, self.binary_columns, self.low_, self.high_, self.cells_
        )

    @property
    def linear(self) -> LinearScores | DenseScores:
        """The learned scores as a linear model over coded documents."""
        self.check_fitted()
        return DenseScores.from_learned(self) if hasattr(self, "dense_weights_") else LinearScores.from_learned(self)

    def log_joint(self, X: object) -> Floats:
        """Scores before they become posteriors: log P(c) + Σ w log P(a|c), or the log-odds of each label."""
        return self.linear(self.coder.code(self.features(X)))

    def score_batch(self, X: Csr) -> Floats:
        """Log-odds of each label, or posteriors over the classes."""
        return self._finished(self.linear(self.coder.code(X)))

    def _finished(self, joint: Floats) -> Floats:
        if self.target == "labels":
            return joint
        return posteriors(joint) if np.isfinite(self.intercept_).any() else np.zeros_like(joint)

    def document_scorer(self) -> DocumentScorer:
        """The rows of the document's cells only."""
        linear, coder = self.linear, self.coder

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            cells, amounts = coder.cells_of(terms, values)
            kept = cells >= 0
            finished: Floats = self._finished(_score_one(linear, cells[kept], amounts[kept])[np.newaxis])[0]
            return finished

        return score

    def natural_decision(self, scores: Floats) -> Bools:
        """The labels more probable than not (at exactly one half: not), or the one most probable class."""
        return np.asarray(scores > 0) if self.target == "labels" else natural_decisions(scores, self.score_kind)

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each word of one document adds to the scores of some labels (default: all), labels × terms.

        Compared with the word being absent, so that intercept and evidence add up to `log_joint`.
        """
        document, wanted = asked_for(self, x, labels)
        cells, amounts = self.coder.cells_of(document.indices, document.data)
        known = np.where(cells >= 0, amounts, 0.0)
        weights = self.linear.weights(np.maximum(cells, 0).ravel().astype(np.int64), wanted)
        parts = (known.ravel()[:, np.newaxis] * weights).reshape(*cells.shape, len(wanted))
        return evidence_table(document, parts.sum(axis=1).T)


def _score_one(linear: LinearScores | DenseScores, cells: npt.NDArray[np.int32], amounts: Floats) -> Floats:
    """The scores of one coded document, by gathering the rows of its cells."""
    scores = np.zeros(len(linear.intercept))
    if isinstance(linear, DenseScores):
        score_one(cells, amounts, None, None, linear.dense_weights, scores)
    else:
        table = linear.difference
        score_one(cells, amounts, table.indptr, table.indices, table.data, scores)
        scores += np.asarray((amounts @ linear.background[cells]) @ linear.loadings)
    scores += linear.intercept
    return scores
