"""The best terms of each label by several functions, from one pass over the documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manylabel.catalog import DEFAULT_METHOD
from manylabel.data import Corpus
from manylabel.estimator import Csr, Floats
from manylabel.exceptions import DataError, ParameterError, UnknownNameError
from manylabel.features import Vectorizer
from manylabel.features.contingency import Contingency, contingency_tables
from manylabel.features.term_scores import (
    FUNCTIONS,
    Combine,
    Options,
    best_terms,
    find_function,
    global_scores,
    label_scores,
)
from manylabel.progress import stage
from manylabel.recipe import Recipe
from manylabel.reports.records import BestTerms, SelectionRecord, Term
from manylabel.tasks.corpora import Source, load_source, split_of
from manylabel.wording import counted, is_worded_for

ALL = "all"


def select_terms(
    source: Source,
    functions: Sequence[str] = ("chi2",),
    *,
    labels: Sequence[str] | None = None,
    most: int | None = None,
    scope: str = "label",
    combine: Combine | None = None,
    top: int = 10,
    min_df: int = 1,
    options: Options | None = None,
    features: Mapping[str, Any] | None = None,
    split: str | None = None,
    n_jobs: int | None = None,
) -> SelectionRecord:
    """The `top` best terms by each function, for the `labels` named or the `most` frequent ones (None: all of them).

    With scope "global" one list for all labels together. Counted are the documents of the training split; `features`
    changes how texts become terms. Terms of fewer than `min_df` documents are left out.
    """
    chosen = list(FUNCTIONS) if ALL in functions else list(dict.fromkeys(functions))
    for name in chosen:
        find_function(name)
    if top < 1:
        raise ParameterError(f"At least one term must be asked for, not {top}.")
    if scope not in ("label", "global"):
        raise UnknownNameError("scope", scope, ("label", "global"))
    recipe = Recipe.of(DEFAULT_METHOD, {"features": features or {}})
    loaded = load_source(source)
    corpus = split_of(loaded.corpus, split, "train")
    wanted = _wanted(corpus, labels, most)
    X, names = _counts(corpus, recipe, n_jobs)
    with stage("Counting terms by label"):
        table = contingency_tables(X, corpus.label_matrix(), n_jobs=n_jobs)
    search = _Search(table, names, np.flatnonzero(table.term_documents >= min_df), top, options or Options())
    if not len(search.candidates):
        raise DataError(
            f"No term is in {counted(min_df, 'document')} or more.", remedy="Lower the least document frequency."
        )
    found = (
        [search.overall(chosen, combine)]
        if scope == "global"
        else search.by_label(chosen, wanted, list(corpus.label_names))
    )
    used = {name: combine or FUNCTIONS[name].combine for name in chosen} if scope == "global" else {}
    n_labels = int((table.label_documents > 0).sum())
    data = loaded.corpus.name or source.data
    return SelectionRecord(
        data,
        len(corpus),
        n_labels,
        len(search.candidates),
        min_df,
        chosen,
        search.options.eps,
        used,
        found,
        [str(problem) for problem in loaded.skipped],
    )


def _wanted(corpus: Corpus, labels: Sequence[str] | None, most: int | None) -> list[int]:
    """The columns of the labels asked for, or of the most frequent ones."""
    names = list(corpus.label_names)
    frequency = np.asarray(corpus.label_matrix().sum(axis=0)).reshape(-1)
    if not frequency.any():
        raise DataError("No document has a label, so that no term can be scored.")
    if labels:
        for name in labels:
            if name not in names:
                raise UnknownNameError("label", name, names)
            if not frequency[names.index(name)]:
                every = "--split all" if is_worded_for("command line") else "split='all'"
                raise DataError(f"No training document has the label {name!r}.", remedy=f"Try {every}.")
        return [names.index(name) for name in labels]
    order = np.argsort(-frequency, kind="stable")
    return [int(column) for column in order[: len(names) if most is None else most] if frequency[column]]


def _counts(corpus: Corpus, recipe: Recipe, n_jobs: int | None) -> tuple[Csr, Sequence[str]]:
    """X and the names of its columns."""
    if corpus.counts is not None:
        names = corpus.terms or [f"term {column}" for column in range(corpus.counts.shape[1])]
        return corpus.counts, names
    vectorizer = Vectorizer(**{"n_jobs": n_jobs, **recipe.vectorizer_settings})
    with stage("Reading words"):
        X = vectorizer.fit_transform(corpus.texts)
    return X, vectorizer.get_feature_names_out().tolist()


@dataclass(frozen=True, slots=True)
class _Search:
    table: Contingency
    names: Sequence[str]
    candidates: np.ndarray[Any, np.dtype[np.intp]]
    top: int
    options: Options

    def overall(self, functions: Sequence[str], combine: Combine | None) -> BestTerms:
        best = {name: self._best(global_scores(self.table, name, combine, self.options), None) for name in functions}
        return BestTerms(None, self.table.n_documents, best)

    def by_label(self, functions: Sequence[str], wanted: Sequence[int], labels: Sequence[str]) -> list[BestTerms]:
        best: dict[int, dict[str, list[Term]]] = {label: {} for label in wanted}
        for name in functions:
            for label, scores in label_scores(self.table, name, self.options, wanted):
                best[label][name] = self._best(scores, label)
        return [BestTerms(labels[c], int(self.table.label_documents[c]), best[c]) for c in wanted]

    def _best(self, scores: Floats, label: int | None) -> list[Term]:
        columns = self.candidates[best_terms(scores[self.candidates], self.top)]
        against = np.zeros(len(columns), dtype=np.bool_)
        if label is not None:
            n11, n10, n01, n00 = (cell[columns] for cell in self.table.cells(label))
            against = n11 * n00 < n10 * n01
        df = self.table.term_documents
        return [
            Term(str(self.names[t]), float(scores[t]), int(df[t]), bool(sign))
            for t, sign in zip(columns.tolist(), against, strict=True)
        ]
