"""Selection of the terms that are most informative about the labels (`TermSelector`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints, Transformer, as_csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.features.contingency import Contingency, contingency_tables
from manylabel.features.term_scores import COMBINE, FUNCTIONS, Options, best_terms, global_scores, label_scores
from manylabel.features.vocabulary import select_columns
from manylabel.parameters import AnyOf, Constraint, Number, OneOf
from manylabel.stored import Stored, total, wholes
from manylabel.wording import counted


class TermSelector(Transformer):
    """Keep the k best terms, or all above a threshold, by a function of the 2 × 2 tables of terms and labels.

    Selection works on counts, before weighting: idf and norms are then those of the kept terms. A document may have no
    kept term. Ties go to the lowest column; a `k` larger than the number of terms keeps all.

    Parameters
    ----------
    function : a name of `manylabel.features.term_scores.FUNCTIONS`: "df", "dia", "ig", "mi", "chi2", "ngl", "rs",
        "rs_printed", "or" or "gss".
    k : the number of terms to keep; with scope "label", the number per label.
    threshold : keep the terms whose score is above it; with `k`, the k best of them.
    scope : "global" scores each term once, combined over the labels; "label" keeps the union of the terms
        kept for each label.
    combine : "sum", "weighted" (with P(c)) or "max" over the labels; None uses the default of the function, the sum
        for "ig" and the maximum for the others.
    min_df : leave out terms of fewer documents first. The rule "drop words with df ≤ m" is ``min_df = m + 1``.
    base, eps, d : the base of logarithms; the number added to each cell in "mi" and "or"; d of "rs" and "rs_printed".
    n_jobs : the number of threads for counting.

    Source: Sebastiani 2002, sections 5.3 and 5.4.

    >>> X = Csr(np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]]))
    >>> Y = Csr(np.array([[1, 0], [0, 1], [1, 1], [0, 0]]))
    >>> selector = TermSelector(function="chi2", k=2).fit(X, Y)
    >>> selector.kept_, selector.transform(X).toarray().tolist()
    (array([0, 1]), [[2, 0], [0, 2], [1, 1], [0, 0]])
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "function": OneOf(*FUNCTIONS),
        "k": AnyOf(OneOf(None), Number(low=1, whole=True)),
        "threshold": AnyOf(OneOf(None), Number()),
        "scope": OneOf("global", "label"),
        "combine": OneOf(None, *COMBINE),
        "min_df": Number(low=0, whole=True),
        "base": Number(low=1, open_low=True),
        "eps": Number(low=0),
        "d": Number(low=0, open_low=True),
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
    }
    kept_: Ints
    """The columns of the kept terms, in ascending order."""
    n_features_in_: int
    """The number of terms before the selection."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "n_features_in_": total("terms"),
        "kept_": wholes(None, below="terms"),
    }

    def __init__(
        self,
        *,
        function: str = "chi2",
        k: int | None = None,
        threshold: float | None = None,
        scope: str = "global",
        combine: str | None = None,
        min_df: int = 0,
        base: float = 2.0,
        eps: float = 0.0,
        d: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.function = function
        self.k = k
        self.threshold = threshold
        self.scope = scope
        self.combine = combine
        self.min_df = min_df
        self.base = base
        self.eps = eps
        self.d = d
        self.n_jobs = n_jobs

    def fit(self, X: Any, Y: Any) -> Self:
        """Learn which terms to keep from training documents X (counts) and their labels Y."""
        self.check_parameters()
        return self.fit_table(self.count(X, Y))

    def count(self, X: Csr, Y: Csr) -> Contingency:
        """The additive tables that `fit_table` learns from."""
        return contingency_tables(X, Y, n_jobs=self.n_jobs)

    def fit_table(self, table: Contingency) -> Self:
        """Learn from contingency tables, for example the sum of the tables of several batches."""
        self.check_parameters()
        if table.n_documents == 0:
            raise DataError("There are no documents to learn from.", remedy="Give at least one document.")
        candidates = table.term_documents >= self.min_df
        if self.k is None and self.threshold is None:
            kept = candidates
        elif self.scope == "global":
            scores = global_scores(table, self.function, self.combine, self._options)  # type: ignore[arg-type]
            kept = self._kept(scores, candidates)
        else:
            kept = np.zeros(table.n_terms, dtype=np.bool_)
            for _, scores in label_scores(table, self.function, self._options):
                kept |= self._kept(scores, candidates)
        if not kept.any():
            raise DataError(
                f"None of the {counted(table.n_terms, 'term')} is kept: {self._reason()}.",
                remedy="Lower threshold or min_df, or set k instead.",
            )
        self.kept_ = np.flatnonzero(kept).astype(np.int64)
        self.n_features_in_ = table.n_terms
        return self

    def transform(self, X: Any) -> Csr:
        """The columns of the kept terms."""
        self.check_fitted()
        matrix = as_csr(X)
        if matrix.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has {counted(matrix.shape[1], 'column')}, but the selection was made among {self.n_features_in_}.",
                remedy="Use documents counted with the same vocabulary.",
            )
        return self.framed(select_columns(matrix, self.mask), X)

    def fit_transform(self, X: Any, Y: Any) -> Csr:
        """Learn which terms to keep, then return their columns."""
        return self.fit(X, Y).transform(X)

    @property
    def mask(self) -> npt.NDArray[np.bool_]:
        """Which of the terms are kept."""
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.kept_] = True
        return mask

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The names of the kept columns, selected from the names of all columns."""
        self.check_fitted()
        names = [f"x{i}" for i in range(self.n_features_in_)] if input_features is None else list(input_features)
        return np.array([names[column] for column in self.kept_.tolist()], dtype=object)

    def check_parameters(self) -> None:
        """Check each parameter, then that at least one of them selects terms."""
        super().check_parameters()
        if self.k is None and self.threshold is None and self.min_df == 0:
            raise ParameterError("TermSelector: set how much to keep: k (for example 1000 terms), threshold or min_df.")

    @property
    def _options(self) -> Options:
        return Options(base=float(self.base), eps=float(self.eps), d=float(self.d))

    def _kept(self, scores: Floats, candidates: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        chosen = candidates if self.threshold is None else candidates & (scores > self.threshold)
        if self.k is None or int(chosen.sum()) <= self.k:
            return chosen
        left = np.flatnonzero(chosen)
        best = np.zeros(len(scores), dtype=np.bool_)
        best[left[best_terms(scores[left], self.k)]] = True
        return best

    def _reason(self) -> str:
        bounds = [f"in at least {counted(self.min_df, 'document')}"] if self.min_df else []
        if self.threshold is not None:
            bounds.append(f"with {self.function} above {self.threshold:g}")
        return "none is " + " and ".join(bounds) if bounds else "the documents are empty"
