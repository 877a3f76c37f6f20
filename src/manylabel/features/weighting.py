"""Counts → weights: tf-idf and length normalisation (`Weighting`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints, Transformer, as_csr, rows_of_cells
from manylabel.exceptions import DataError
from manylabel.kernels.canonical import canonical
from manylabel.parameters import Constraint, OneOf
from manylabel.stored import Flag, Sometimes, Stored, total, wholes
from manylabel.wording import counted


class Weighting(Transformer):
    """Weight the counts of X by tf-idf and scale every document to the same length.

    ``v_w = tf(x_w) · idf_w``, then divided by the norm of the document's vector:

    - tf: "raw" x_w; "log" 1 + ln x_w; "binary" 1 for a term that occurs.
    - idf: "none" 1; "plain" ln(N / df_w), 0 for a term of every document; "smooth"
      ln((1 + N) / (1 + df_w)) + 1, which is scikit-learn's.
    - fractions: how to treat values that are not whole numbers, which were weighted before: "weigh" treats them as
      counts, whose logarithm may then be negative; "keep" leaves out tf and idf if the training documents have any.
    - norm: None, "l1" (sum of absolute values 1) or "l2" (Euclidean length 1).

    N and df are learned from the training documents only. A document without terms stays zero. A term never seen in
    training (df 0) has idf 0 in "plain", so that nothing is divided by zero. The idf is computed by `fit`: a change of
    `idf` or `dtype` takes effect when the weighting is fitted again. tf and idf are formulas on counts, and negative
    values are refused; only tf "raw" with idf "none", which leaves just the norm, takes any numbers.

    Source: Manning, Raghavan & Schütze 2008, sections 6.2 to 6.4; the L1 norm scales the input of Ueda &
    Saito 2002.

    >>> X = Csr(np.array([[2, 1, 0], [1, 0, 1], [0, 2, 2]]))
    >>> Weighting(idf="plain").fit_transform(X).toarray().round(4).tolist()
    [[0.8944, 0.4472, 0.0], [0.7071, 0.0, 0.7071], [0.0, 0.7071, 0.7071]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "tf": OneOf("raw", "log", "binary"),
        "idf": OneOf("none", "plain", "smooth"),
        "norm": OneOf(None, "l1", "l2"),
        "fractions": OneOf("weigh", "keep"),
        "dtype": OneOf("float64", "float32"),
    }

    document_frequency_: Ints
    """The number of training documents that contain each term."""
    n_documents_: int
    """The number of training documents."""
    weighed_before_: bool = False
    """Whether the training documents were weighted before (see `fractions`), so that tf and idf are left out."""
    idf_: npt.NDArray[Any]
    """The inverse document frequency of each term. Model files leave it out: it follows from the counts."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "document_frequency_": wholes("terms"),
        "n_documents_": total(),
        "weighed_before_": Sometimes(Flag()),
    }

    def __init__(
        self,
        *,
        tf: str = "raw",
        idf: str = "plain",
        norm: str | None = "l2",
        fractions: str = "weigh",
        dtype: str = "float64",
    ) -> None:
        self.tf = tf
        self.idf = idf
        self.norm = norm
        self.fractions = fractions
        self.dtype = dtype

    @property
    def needs_counts(self) -> bool:
        """Whether negative values are refused: True unless only the norm is left."""
        return self.tf != "raw" or self.idf != "none"

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn in how many documents each term occurs; `y` is ignored."""
        self.forget()
        if X.shape[0] == 0:
            raise DataError("There are no documents to learn from.", remedy="Give at least one document.")
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Learn from further documents; the batches of a corpus give the same result as `fit` on all of it."""
        self.check_parameters()
        X = self._checked(X)
        df = np.bincount(X.indices[X.data != 0], minlength=X.shape[1]).astype(np.int64)
        n_documents = int(X.shape[0])
        if self.is_fitted:
            df, n_documents = self.document_frequency_ + df, self.n_documents_ + n_documents
        self.document_frequency_, self.n_documents_ = df, n_documents
        self.weighed_before_ |= self.fractions == "keep" and not bool((X.data == np.floor(X.data)).all())
        self.idf_ = self._inverse_document_frequency()
        return self

    def learned_state(self) -> dict[str, Any]:
        """The document frequencies and the number of documents; `restore` computes the idf from them."""
        return {name: value for name, value in super().learned_state().items() if name != "idf_"}

    def restore(self, state: Mapping[str, Any]) -> Self:
        """Set the learned attributes to what `learned_state` returned, and compute the idf."""
        super().restore(state)
        if self.is_fitted:
            self.idf_ = self._inverse_document_frequency()
        return self

    def transform(self, X: Any) -> Csr:
        """The weighted documents; a weight of 0 is not stored."""
        self.check_fitted()
        given, X = X, self._checked(X)
        values = self._weigh(X.indices, X.data.astype(self.dtype), rows_of_cells(X), X.shape[0])
        weighted = Csr((values, X.indices, X.indptr), shape=X.shape)
        weighted.has_sorted_indices = X.has_sorted_indices
        return self.framed(weighted if values.all() else canonical(weighted, keep_zeros=False), given)

    def weigh_one(self, terms: npt.NDArray[np.int32], counts: Floats) -> npt.NDArray[Any]:
        """The weights of one document's distinct terms, whose counts are at least 1; the same bits as `transform`."""
        values: npt.NDArray[Any] = counts.astype(self.dtype)
        if self.weighed_before_:
            pass
        elif self.tf == "log":
            values = 1 + np.log(values)
        elif self.tf == "binary":
            values = np.ones_like(values)
        if self.idf != "none" and not self.weighed_before_:
            values *= self.idf_[terms]
        if self.norm is not None and len(values):
            wide = values.astype(np.float64)
            # The last cumulative sum is added up in the order of `_lengths`; `sum` would add pairs.
            total = np.cumsum(np.abs(wide) if self.norm == "l1" else wide * wide)[-1]
            length = np.sqrt(total) if self.norm == "l2" else total
            if length > 0:
                values /= length.astype(self.dtype)
        return values

    def _weigh(self, terms: npt.NDArray[Any], values: npt.NDArray[Any], rows: Ints, n_rows: int) -> npt.NDArray[Any]:
        """The weights of the terms of all documents; `rows` is the document of each, `values` is overwritten."""
        if self.weighed_before_:
            pass
        elif self.tf == "log":
            positive = values > 0
            values[positive] = 1 + np.log(values[positive])
        elif self.tf == "binary":
            values = (values != 0).astype(self.dtype)
        if self.idf != "none" and not self.weighed_before_:
            values *= self.idf_[terms]
        if self.norm is not None:
            values /= _lengths(values, rows, n_rows, self.norm).astype(self.dtype)[rows]
        return values

    def fit_transform(self, X: Any, y: object = None) -> Csr:
        """Learn from the documents, then return their weights."""
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The names of the columns, which are those of the input: every column is kept."""
        self.check_fitted()
        names = [f"x{i}" for i in range(self.n_features_in)] if input_features is None else list(input_features)
        return np.array(names, dtype=object)

    @property
    def n_features_in(self) -> int:
        """The number of terms seen in training."""
        return len(self.document_frequency_)

    def _inverse_document_frequency(self) -> npt.NDArray[Any]:
        """The idf of each term under the chosen formula, in the type of the weights."""
        df = self.document_frequency_.astype(np.float64)
        if self.idf == "none":
            idf = np.ones_like(df)
        elif self.idf == "smooth":
            idf = np.log((1 + self.n_documents_) / (1 + df)) + 1
        else:
            idf = np.log(np.divide(self.n_documents_, df, out=np.ones_like(df), where=df > 0))
        return idf.astype(self.dtype)

    def _checked(self, X: Any) -> Csr:
        matrix = as_csr(X)
        if not np.isfinite(matrix.data).all():
            raise DataError("X has infinite or missing values.", remedy="Give finite numbers.")
        if self.needs_counts and matrix.data.size and matrix.data.min() < 0:
            raise DataError(
                "Negative values in data passed to Weighting: "
                f"tf = {self.tf!r} with idf = {self.idf!r} weighs counts, 0 or above.",
                remedy="Give counts, or train on documents with negative values.",
            )
        if self.is_fitted and matrix.shape[1] != self.n_features_in:
            raise DataError(
                f"X has {counted(matrix.shape[1], 'column')}, but "
                f"{counted(self.n_features_in, 'term was', 'terms were')} learned.",
                remedy="Use the vectorizer this weighting was fitted with.",
            )
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return matrix


def has_negative(X: Csr) -> bool:
    """Whether a matrix holds measurements, such as embeddings, rather than counts: any value is below 0."""
    return bool(X.nnz) and bool(X.data.min() < 0)


def norm_alone(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """The settings of a `Weighting` without tf and idf, which are formulas on counts; the norm stays.

    >>> norm_alone({"tf": "log", "idf": "smooth", "norm": "l2"}), norm_alone({})
    ({'tf': 'raw', 'idf': 'none', 'norm': 'l2'}, {})
    """
    return {**settings, "tf": "raw", "idf": "none"} if settings else {}


def _lengths(values: npt.NDArray[Any], rows: Ints, n_rows: int, norm: str) -> Floats:
    """The norm of each row; 1 for a row of zeros, which stays zero when it is divided by it."""
    wide = values.astype(np.float64)
    lengths = np.bincount(rows, weights=np.abs(wide) if norm == "l1" else wide * wide, minlength=n_rows)
    if norm == "l2":
        lengths = np.sqrt(lengths)
    return np.where(lengths > 0, lengths, 1.0)
