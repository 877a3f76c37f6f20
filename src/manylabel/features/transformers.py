"""scikit-learn's transformers in place of `Vectorizer`: vectorisers, embeddings, scalers, pipelines of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from manylabel.data.corpus import Text
from manylabel.data.documents import length_of, read_documents, rows_of, strings
from manylabel.estimator import Csr, Estimator, Ints
from manylabel.exceptions import DataError, ParameterError
from manylabel.wording import counted

DENSE = 0.5
"""Ready-made matrices with at least this share of non-zeros are passed to a transformer as dense arrays."""

FoldRows: TypeAlias = Callable[[Ints, Ints], tuple[Csr, Csr]]
"""Rows of training and of test documents → X of both."""


def is_transformer(features: Any) -> bool:
    """Whether `features` is an estimator that turns documents into numbers; False for settings of a `Vectorizer`.

    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> is_transformer(TfidfVectorizer()), is_transformer({"min_df": 2}), is_transformer(None)
    (True, False, False)
    """
    if features is None or isinstance(features, Mapping):
        return False
    from sklearn.base import BaseEstimator

    if isinstance(features, (BaseEstimator, Estimator)):
        return True
    raise ParameterError(
        f"features must be settings by name, such as {{'min_df': 2}}, or a transformer of scikit-learn, not "
        f"{type(features).__name__}. A function that returns one row of numbers per document can be given as "
        "sklearn.preprocessing.FunctionTransformer(function)."
    )


class DocumentTransformer:
    """A transformer of documents, fitted or not, that is fitted without changing the one that was passed."""

    def __init__(self, transformer: Any) -> None:
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted

        self.transformer = transformer
        self.dense = False
        try:
            check_is_fitted(transformer)
            self.was_fitted = True
        except NotFittedError:
            self.was_fitted = False

    def fit_transform(self, documents: Sequence[Text] | Csr, Y: Csr) -> Csr:
        """X of training documents; a transformer that is not fitted is copied and fitted to them."""
        if isinstance(documents, Csr):
            self.dense = documents.nnz >= DENSE * documents.shape[0] * documents.shape[1]
        if self.was_fitted:
            return self.transform(documents)
        from sklearn.base import clone

        self.transformer = clone(self.transformer)
        found = self.transformer.fit_transform(self._given(documents), Y)
        return _as_matrix(found, self.transformer, length_of(documents))

    def transform(self, documents: Sequence[Text] | Csr) -> Csr:
        """X of any documents."""
        return _as_matrix(self.transformer.transform(self._given(documents)), self.transformer, length_of(documents))

    def names(self) -> list[str] | None:
        """The names that the fitted transformer gives its columns; None where it gives none."""
        try:
            return [str(name) for name in self.transformer.get_feature_names_out()]
        except (AttributeError, ValueError):  # a FunctionTransformer without names, or names that need others
            return None

    def rows_in_folds(self, documents: Sequence[Text] | Csr, Y: Csr) -> FoldRows:
        """A function that fits a copy to the training documents of a fold and returns X of them and of the others.

        Models with several settings are tried on the same folds, so each fold is kept.
        """
        from sklearn.base import clone

        known: dict[bytes, tuple[Csr, Csr]] = {}

        def rows(train: Ints, test: Ints) -> tuple[Csr, Csr]:
            key = train.tobytes()
            if key not in known:
                fitted = DocumentTransformer(clone(self.transformer))
                X = fitted.fit_transform(rows_of(documents, train), Csr(Y[train]))
                known[key] = X, fitted.transform(rows_of(documents, test))
            return known[key]

        return rows

    def _given(self, documents: Sequence[Text] | Csr) -> Any:
        if isinstance(documents, Csr):
            return documents.toarray() if self.dense else documents
        return strings(documents)


def _as_matrix(found: Any, transformer: Any, n_documents: int) -> Csr:
    name = type(transformer).__name__
    try:
        matrix = read_documents(found)
    except DataError as error:
        raise DataError(f"{name} has to return one row of numbers per document. It returned: {error.problem}") from None
    if isinstance(matrix, Csr) and matrix.shape[0] != n_documents:
        rows, given = counted(matrix.shape[0], "row"), counted(n_documents, "document")
        raise DataError(f"{name} has to return one row of numbers per document. It returned {rows} for {given}.")
    if not isinstance(matrix, Csr):
        raise DataError(
            f"{name} returned texts where one row of numbers per document is expected.",
            remedy="Put a vectoriser behind it, for example with sklearn.pipeline.make_pipeline.",
        )
    return matrix


def rows_of_counts(counts: Csr) -> FoldRows:
    """The rows of counts that need no transformer: they are the same in every fold."""
    return lambda train, test: (Csr(counts[train]), Csr(counts[test]))
