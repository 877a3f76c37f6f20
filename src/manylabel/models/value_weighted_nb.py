"""Value-weighted naive Bayes: every value of a term has its own weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, unfitted_copy
from manylabel.exceptions import ParameterError
from manylabel.features.discretize import Scope
from manylabel.features.information_weights import Norm, ValueWeight
from manylabel.models.base import DocumentScorer
from manylabel.models.evidence import LOG_JOINT, ScoreParts, asked_for, evidence_table
from manylabel.models.exported import Bins, ExportedScores, LinearBlock, threshold_form
from manylabel.models.linear_scores import DenseScores, LinearScores, linear_scores
from manylabel.models.score_kinds import Bools, ScoreKind, natural_decisions, posteriors_of_seen
from manylabel.models.smoothing import class_log_prior, label_log_odds
from manylabel.models.value_counts import (
    Event,
    Frequency,
    ValueCoder,
    ValueCounts,
    ValueTable,
    count_values,
    learn_coder,
)
from manylabel.models.value_refinement import Ascent, ClassProblem, refine_classes, refine_label_values, refines_all
from manylabel.models.value_scores import (
    class_log_probabilities,
    class_value_weights,
    label_values,
    mean_bin_weights,
    weighted,
)
from manylabel.models.value_table_model import ValueTableModel
from manylabel.parameters import FLAG, Constraint, Number, OneOf
from manylabel.stored import Maybe, Sizes, Sometimes, Stored, reals, wholes
from manylabel.wording import counted

TIE = 1e-12
"""Log-odds up to here are a tie, so that rounding in the last bits never decides a label."""


class ValueWeightedNaiveBayes(ValueTableModel):
    """Naive Bayes in which every value of a term, its frequency bin, has a weight of its own.

    s_c = log P(c) + Σ_i w_{i,j(i)} log P(value j(i) of word i | c)

    P(c) is the share of the documents, with one document added to each class (`prior`: ``"add-one"``) or without
    (``"documents"``). Frequencies are cut into `n_bins` bins, 0 being absence (`scope`; see
    `manylabel.features.discretize`). `event` is what a term contributes:

    exponent      log P(w_i|c) if it occurs, P(w_i|c) = (F_ic + 1)/(F_c + V)
    multinomial   f_i log P(w_i|c), so that all weights 1 is multinomial naive Bayes
    categorical   log P(a_ij|c) = log (n_ijc + 1)/(N_c + B) of its bin, absence included

    `weight` measures the information of the bin about the class (`m` shrinks it; see
    `manylabel.features.information_weights`), scaled to mean 1 over all bins that the reading uses (``norm="global"``),
    over those of each word (``"feature"``) or not at all (``"none"``); ``"auto"`` is none for two classes and global
    for more. The frequency f is the number of the bin, or the value itself (`frequency`), which matters where values
    are no counts. ``refine="cll"`` improves the weights by `steps` steps up the conditional likelihood (`eta`, `l2`,
    `tolerance`; see `manylabel.models.value_refinement`).

    ``target="labels"`` is one two-class problem per label, against all other documents, with log-odds as scores and
    weights for each label; ``"classes"`` is one problem of as many classes as labels, a document with several labels
    counting once per label, with posteriors as scores. With ``"labels"``, a label without documents is never predicted
    and one of all documents always. Refining the weights of every term for every label takes a dense table;
    ``refine_cells="seen"`` refines only those of terms seen with the label and keeps the model sparse, ``"auto"`` does
    so where the table would exceed 256 MB.

    The last `binary_columns` columns of X may be label indicators: two-valued features whose absence counts too, in
    every reading. Their weights are normalised apart from those of words unless `norm_joint`; with `skip_own` they are
    the labels themselves, in order, and a label does not use its own; with `skip_later`, only those before its own.

    Without refinement all this is a formula on the documents with each value of each word, by label. `keep_counts`
    keeps that table, so that `partial_fit` can add to it and `merge` can add two of them.

    Source: Lee 2018, on value weights, whose formulas are lost. The reading nearest to its text is
    ``event="categorical", norm="global", refine="none"``; the defaults are the reading that does best on data of its
    kind.

    >>> X, y = np.array([[1, 0], [2, 0], [0, 1], [0, 2], [1, 1], [0, 0]]), [1, 1, 0, 0, 1, 0]
    >>> model = ValueWeightedNaiveBayes("categorical", norm="global", n_bins=3, refine="none", target="classes")
    >>> model.fit(X, y).predict_proba(X)[:, 1].round(6).tolist()
    [0.858496, 0.617053, 0.012497, 0.008844, 0.842276, 0.014173]
    """

    needs_counts: ClassVar[bool] = True
    additive_scores = True
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
        "prior": OneOf("add-one", "documents"),
        "binary_columns": Number(low=0, whole=True),
        "norm_joint": FLAG,
        "skip_own": FLAG,
        "skip_later": FLAG,
        "keep_counts": FLAG,
    }

    low_: Floats
    high_: Floats
    cells_: npt.NDArray[np.int32]
    intercept_: Floats
    dense_weights_: Floats | None = None
    """Cells × labels, where every cell of every label was refined."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "low_": reals("terms"),
        "high_": reals("terms"),
        "dense_weights_": Sometimes(Maybe(reals("cells", "labels"))),
        **{name: Sometimes(stored) for name, stored in linear_scores("cells").items()},
        "intercept_": reals("labels"),
        "cells_": wholes("terms", None, low=-1, below="cells", bits=32),
        "value_weights_": Sometimes(reals("cells")),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` unless there is a column for each bin, and bins have bounds."""
        sizes = super().check_learned(state)
        if not np.isfinite(state["low_"]).all() or not np.isfinite(state["high_"]).all():
            raise ValueError("ValueWeightedNaiveBayes has bins without bounds")
        if state["cells_"].shape[1] < self.n_bins:
            raise ValueError("ValueWeightedNaiveBayes.cells_ lacks bins")
        if state["cells_"].max(initial=-1) + 1 != sizes.get("cells", 0):
            raise ValueError("ValueWeightedNaiveBayes has weights of cells that no term has")
        return sizes

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
        prior: Literal["add-one", "documents"] = "add-one",
        binary_columns: int = 0,
        norm_joint: bool = False,
        skip_own: bool = False,
        skip_later: bool = False,
        keep_counts: bool = False,
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
        self.prior: Literal["add-one", "documents"] = prior
        self.binary_columns = binary_columns
        self.norm_joint = norm_joint
        self.skip_own = skip_own
        self.skip_later = skip_later
        self.keep_counts = keep_counts

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """Log-odds of each label, or posteriors over the classes."""
        return ScoreKind.LOG_ODDS if self.target == "labels" else ScoreKind.POSTERIOR

    @property
    def independent_labels(self) -> bool:  # type: ignore[override]
        """Whether each label is a two-class problem of its own, as ``target="labels"`` asks."""
        return self.target == "labels"

    @property
    def hides_labels(self) -> bool:  # type: ignore[override]
        """Whether label columns can be hidden from labels: where each label is a problem of its own."""
        return self.independent_labels

    def for_two_classes(self, binary_columns: int = 0) -> Self:
        """An unfitted copy that bins the label columns by themselves, where each label is a problem of its own."""
        copy = unfitted_copy(self)
        return copy.set_params(binary_columns=binary_columns) if self.independent_labels else copy

    def hiding_labels(self, n_labels: int, hidden: Literal["own", "later"]) -> Self:
        """An unfitted copy whose last `n_labels` columns are the labels, some hidden from each."""
        return unfitted_copy(self).set_params(binary_columns=n_labels, **{f"skip_{hidden}": True})

    def prior_log_odds(self, label_documents: npt.ArrayLike, n_documents: int) -> Floats:
        """The log-odds of each label before a document is read, by `prior`."""
        return label_log_odds(label_documents, n_documents, self.prior)

    # --- learning ---------------------------------------------------------------------------------------------

    def learn_table(self, table: ValueTable, X: Csr, Y: Csr) -> None:
        """Learn from the counted values; the documents are read again only to refine the weights."""
        coder = learn_coder(
            table, event=self.event, frequency=self.frequency, n_bins=self.n_bins, scope=self.scope,
            binary_columns=self.binary_columns, every_bin=self.weight == "none",
        )  # fmt: skip
        self.low_, self.high_, self.cells_ = coder.low, coder.high, coder.cells
        counts = count_values(table, coder, self._skips, self.skip_later)
        learned = self._learn_labels if self.target == "labels" else self._learn_classes
        self.restore(learned(X, Y, coder, counts).as_learned())

    @property
    def is_additive(self) -> bool:
        """Whether the scores are a formula on counts; refined weights are not, since refining reads each document."""
        return self.refine == "none" or self.steps == 0

    def check_columns(self, n_columns: int, n_labels: int) -> None:
        """Raise an error where `binary_columns` does not fit the columns and labels."""
        if self.binary_columns > n_columns:
            raise ParameterError(
                f"{type(self).__name__}: binary_columns is {self.binary_columns}, but X has only "
                f"{counted(n_columns, 'column')}."
            )
        if self._skips and (self.binary_columns != n_labels or self.target != "labels"):
            option = "skip_own" if self.skip_own else "skip_later"
            raise ParameterError(
                f"{type(self).__name__}: {option} needs target='labels' and one indicator column for each of the "
                f"{counted(n_labels, 'label')}, not binary_columns={self.binary_columns} with target={self.target!r}."
            )

    @property
    def _skips(self) -> bool:
        """Whether the last columns of X are the labels themselves, some of them hidden from each label."""
        return self.skip_own or self.skip_later

    def _norm(self, n_classes: int) -> Norm:
        if self.norm != "auto":
            return self.norm
        return "none" if self.target == "labels" or n_classes <= 2 else "global"

    def _learn_labels(self, X: Csr, Y: Csr, coder: ValueCoder, counts: ValueCounts) -> LinearScores | DenseScores:
        values = label_values(counts, self.weight, self.m, self._norm(2), self.norm_joint, self._skips, self.skip_later)
        N_k, N = counts.label_documents, counts.n_documents
        constant = np.where(N_k == 0, -np.inf, np.where(N_k == N, np.inf, 0.0))
        log_odds = np.where(constant == 0, label_log_odds(N_k, N, self.prior), 0.0)
        self.bin_weights_ = mean_bin_weights(counts, values.cell_totals(counts) / max(len(N_k), 1))
        if self.is_additive or not coder.n_cells:
            return values.scores(counts, log_odds + constant)
        all_cells = refines_all(self.refine_cells, coder.n_cells * len(N_k))
        refined, totals = refine_label_values(
            coder.code(X), Y, counts, values, log_odds, Ascent(self.steps, self.eta, self.l2, self.tolerance),
            all_cells=all_cells, own_columns=self._skips, later=self.skip_later,
        )  # fmt: skip
        self.bin_weights_ = mean_bin_weights(counts, totals / len(N_k))
        if all_cells:
            return DenseScores(log_odds + counts.absent @ refined + constant, refined)
        return replace(values, entry_weight=refined).scores(counts, log_odds + constant)

    def _learn_classes(self, X: Csr, Y: Csr, coder: ValueCoder, counts: ValueCounts) -> LinearScores:
        N_c = counts.label_documents
        seen = N_c > 0
        weights = class_value_weights(counts, self.weight, self.m, self._norm(int(seen.sum())), self.norm_joint)
        log_prior = class_log_prior(N_c, self.prior)
        log_p, absent = class_log_probabilities(counts), counts.absent.astype(np.float64)
        if not self.is_additive and seen.sum() > 1:
            problem = ClassProblem(coder.code(X), absent, Y, log_p, log_prior)
            weights = refine_classes(problem, weights, Ascent(self.steps, self.eta, self.l2, self.tolerance))
        self.value_weights_, self.bin_weights_ = weights, mean_bin_weights(counts, weights)
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
        return LinearScores.from_learned(self) if self.dense_weights_ is None else DenseScores.from_learned(self)

    def log_joint(self, X: object) -> Floats:
        """Scores before they become posteriors: log P(c) + Σ w log P(a|c), or the log-odds of each label."""
        return self.linear(self.coder.code(self.features(X)))

    def score_batch(self, X: Csr) -> Floats:
        """Log-odds of each label, or posteriors over the classes."""
        return self._finished(self.linear(self.coder.code(X)))

    def _finished(self, joint: Floats) -> Floats:
        return joint if self.target == "labels" else posteriors_of_seen(joint, self.intercept_)

    def document_scorer(self) -> DocumentScorer:
        """A scorer that reads the weights of the document's cells only."""
        linear, coder = self.linear, self.coder

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            cells, amounts = coder.cells_of(terms, values)
            kept = cells >= 0
            return np.asarray(self._finished(linear.of_document(cells[kept], amounts[kept])[np.newaxis])[0])

        return score

    @property
    def is_exportable(self) -> bool:
        """Whether the columns are terms alone, not label indicators."""
        return self.binary_columns == 0

    def exported_scores(self) -> ExportedScores:
        """The linear scores over the bins of the terms' frequencies."""
        amount: Any = "one" if self.event != "multinomial" else self.frequency
        bins = Bins(self.n_bins, self.low_, self.high_, self.cells_, amount, self.event == "categorical")
        block = LinearBlock.of(self.linear, values=bins, is_posterior=self.target == "classes")
        above_tie = threshold_form(TIE, self.n_labels_, strict=True) if self.target == "labels" else None
        return ExportedScores((block,), (self.score_kind,), natural=above_tie)

    def natural_decision(self, scores: Floats) -> Bools:
        """The labels more probable than not (at exactly one half: not), or the one most probable class."""
        return np.asarray(scores > TIE) if self.target == "labels" else natural_decisions(scores, self.score_kind)

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds to the scores of some labels (default: all), labels × terms.

        Compared with the term being absent, so that intercept and evidence add up to `log_joint`.
        """
        document, wanted = asked_for(self, x, labels)
        cells, amounts = self.coder.cells_of(document.indices, document.data)
        known = cells >= 0
        values = np.zeros((document.nnz, len(wanted)))
        weights = self.linear.weights(cells[known].astype(np.int64), wanted)
        np.add.at(values, np.nonzero(known)[0], amounts[known][:, np.newaxis] * weights)
        return evidence_table(document, values.T)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's scores before they become posteriors; absent terms are in the intercept."""
        document, wanted = asked_for(self, x, labels)
        return ScoreParts(
            self.evidence(document, wanted),
            self.log_joint(document)[0, wanted],
            self.linear.intercept[wanted],
            quantity="score" if self.target == "labels" else LOG_JOINT,
        )
