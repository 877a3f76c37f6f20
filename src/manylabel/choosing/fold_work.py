"""The matrices of each fold of a cross-validation, with terms counted once for all methods.

Texts are counted once for each way of counting them, whatever the number of folds and methods. In a fold the terms that
no training document has are dropped, and pruning, selection and weighting are learned from the training documents
alone, so that X is the matrix that vectorising the training texts by themselves would give, to the bit (the language of
stemmer "auto" is guessed once, from all documents). Labels without a training document are dropped in the same way:
they can be missed but not predicted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np

from manylabel.data.corpus import Corpus
from manylabel.data.documents import as_matrix, strings
from manylabel.data.hierarchy import Hierarchy
from manylabel.data.splits import Split
from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError, ParameterError
from manylabel.features import Vectorizer
from manylabel.features.facts import Facts, FoldFeatures
from manylabel.features.pipeline import PRUNING, Documents, FeaturePipeline
from manylabel.features.vector_view import VectorView
from manylabel.features.weighting import has_negative
from manylabel.progress import stage
from manylabel.recipe import Recipe

KEPT = 4
"""How many ways of counting, and how many fold matrices, are kept at a time."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, eq=False)
class FoldData:
    """The training and test matrices of one fold.

    `X`, `Y` are the training documents, `X_test`, `Y_test` the tested ones, `rows_test` their rows in the corpus.
    `Y` has only the labels of training documents: `labels` are their columns in `Y_test`, which has all labels.
    """

    X: Csr
    Y: Csr
    X_test: Csr
    Y_test: Csr
    rows_test: Ints
    labels: Ints
    facts: Facts
    """Further facts about the training documents."""
    in_folds: FoldFeatures | None
    """Learns selection and weighting anew from some of the training documents; None where neither is learned."""
    vectors: int = 0
    """The number of the last columns of X that hold vectors of an encoder."""


class FoldWork:
    """Labelled documents, their folds, and the matrices computed from them.

    >>> from manylabel.data.splits import k_fold
    >>> texts = ["late bus", "bad road", "bus on a bad road", "late again"]
    >>> Y = Csr(np.array([[1, 0], [0, 1], [1, 1], [1, 0]]))
    >>> work = FoldWork(texts, Y, ["buses", "roads"], k_fold(4, 2, seed=0))
    >>> fold = work.fold(Recipe.of("svm"), 0)
    >>> fold.X.shape, fold.X_test.shape, fold.rows_test.tolist()
    ((2, 3), (2, 3), [1, 2])
    """

    def __init__(
        self,
        documents: Documents,
        Y: Csr,
        label_names: Sequence[str],
        splits: Sequence[Split],
        *,
        hierarchy: Hierarchy | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        memory: str | int | None = None,
    ) -> None:
        self.documents = documents
        self.Y = Y
        self.label_names = list(label_names)
        self.splits = list(splits)
        self.hierarchy = hierarchy
        self.seed = seed
        self.n_jobs = n_jobs
        self.memory = memory
        self._counts: OrderedDict[object, tuple[Csr, bool]] = OrderedDict()
        self._folds: OrderedDict[object, FoldData] = OrderedDict()
        self._vectors: dict[str, tuple[Csr, Floats | None]] = {}

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        splits: Sequence[Split],
        *,
        seed: int = 0,
        n_jobs: int | None = None,
        memory: str | int | None = None,
    ) -> Self:
        """The work on a labelled corpus; labels that no document has are dropped."""
        documents: Documents = corpus.counts if corpus.counts is not None else corpus.texts
        used = {name for labels in corpus.label_sets for name in labels}
        names = [name for name in corpus.label_names if name in used]
        if not names:
            raise DataError("No document has a label, so there is nothing to learn.", path=corpus.source or None)
        Y = corpus.label_matrix(names)
        return cls(documents, Y, names, splits, hierarchy=corpus.hierarchy, seed=seed, n_jobs=n_jobs, memory=memory)

    def divided(self, splits: Sequence[Split]) -> FoldWork:
        """The same documents in other folds; the counted terms are shared."""
        other = FoldWork(
            self.documents,
            self.Y,
            self.label_names,
            splits,
            hierarchy=self.hierarchy,
            seed=self.seed,
            n_jobs=self.n_jobs,
            memory=self.memory,
        )
        other._counts, other._vectors = self._counts, self._vectors
        return other

    @property
    def has_texts(self) -> bool:
        """Whether the documents came as texts, so that there is a choice of how to count them."""
        return as_matrix(self.documents) is None

    @property
    def has_negative(self) -> bool:
        """Whether the documents came as numbers of which some are negative, so that they are not counts."""
        matrix = as_matrix(self.documents)
        return matrix is not None and has_negative(matrix)

    def counts(self, settings: Mapping[str, Any]) -> tuple[Csr, bool]:
        """Counts of all documents × all terms, nothing pruned, and whether the columns are a vocabulary.

        Columns of ready-made counts and of hashes are kept even if no training document has them.
        """
        matrix = as_matrix(self.documents)
        if matrix is not None:
            return matrix, False
        plain = {name: value for name, value in settings.items() if name not in PRUNING}

        def count() -> tuple[Csr, bool]:
            vectorizer = Vectorizer(**{"n_jobs": self.n_jobs, **plain})
            with stage("Reading words"):
                return vectorizer.count(self.documents), vectorizer.n_hashes is None  # type: ignore[arg-type]

        return _kept(self._counts, _key(plain), count)

    def fold(self, recipe: Recipe, number: int) -> FoldData:
        """The matrices of one fold, made by the recipe's features, selection and weighting."""
        if recipe.features.get("rules") is not None:
            raise ParameterError("Methods are not compared with hand-written keyword rules. Leave out features.rules.")
        # A few models want counts of counts, which depend on the model's settings.
        wants = () if recipe.weighting else (*_key(recipe.model), recipe.method)
        key = (_key(recipe.features), _key(recipe.selection), _key(recipe.weighting), wants, number)
        return _kept(self._folds, key, lambda: self._make(recipe, number))

    def _make(self, recipe: Recipe, number: int) -> FoldData:
        train, test = self.splits[number]
        everything, is_vocabulary = self.counts(recipe.vectorizer_settings)
        labels = np.flatnonzero(np.bincount(self.Y[train].indices, minlength=self.Y.shape[1])).astype(np.int64)
        Y = Csr(self.Y[train][:, labels])
        pipeline = FeaturePipeline(recipe.vectorizer_settings, recipe.selection, recipe.weighting, self.n_jobs)
        vectors, of_names = self._encoded(recipe)
        further = None if vectors is None else Csr(vectors[train])
        learned = pipeline.fit_counts(everything[train], Y, has_vocabulary=is_vocabulary, further=further)
        X_test = pipeline.transform_counts(everything[test], None if vectors is None else Csr(vectors[test]))
        facts = self._facts(labels, of_names)
        if self.has_texts and learned.counts is not None:
            of_counts = recipe.build().counts_of_counts(learned.counts, Y)
            if of_counts is not None:
                facts["counts_of_counts"] = of_counts
        rows_test = np.asarray(test, dtype=np.int64)
        width = 0 if vectors is None else vectors.shape[1]
        return FoldData(learned.X, Y, X_test, Csr(self.Y[test]), rows_test, labels, facts, learned.in_folds, width)

    def _encoded(self, recipe: Recipe) -> tuple[Csr | None, Floats | None]:
        """The vectors of all documents and of all label names by the encoder of a recipe; None without one."""
        name = recipe.features.get("encoder")
        if name is None:
            return None, None
        if as_matrix(self.documents) is not None:
            raise DataError("An encoder reads texts, but the documents are a matrix.", remedy="Give texts.")
        if name not in self._vectors:
            view = VectorView(name).fit()
            vectors = view.transform(strings(self.documents, None))  # type: ignore[arg-type]
            self._vectors[name] = vectors, view.of_names(self.label_names)
        return self._vectors[name]

    def _facts(self, labels: Ints, of_names: Floats | None) -> Facts:
        facts: Facts = {}
        if self.hierarchy is not None:
            facts["parents"] = self.hierarchy.columns([self.label_names[label] for label in labels.tolist()])[1]
        if of_names is not None:
            facts["label_vectors"] = of_names[labels]
        return facts


def _key(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, repr(value)) for name, value in settings.items()))


def _kept(store: OrderedDict[object, Value], key: object, make: Callable[[], Value]) -> Value:
    """The value stored under the key, computed if missing; the least recently used value makes room for it."""
    if key not in store:
        made = make()
        while len(store) >= KEPT:
            store.popitem(last=False)
        store[key] = made
    store.move_to_end(key)
    return store[key]
