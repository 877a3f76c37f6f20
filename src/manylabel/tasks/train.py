"""Train a classifier on labelled documents and keep it in a file."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import TextClassifier
from manylabel.data import Corpus
from manylabel.data.problems import Problem
from manylabel.evaluation.comparability import fingerprint
from manylabel.evaluation.result import SplitCounts
from manylabel.exceptions import DataError
from manylabel.recipe import Recipe
from manylabel.tasks.corpora import Source, documents_of, load_source, split_of

Overrides = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Trained:
    """A classifier, the file it is kept in, and what it learned from."""

    classifier: TextClassifier
    path: Path | None
    data: str
    counts: SplitCounts
    seconds: float
    skipped: list[Problem]

    def as_dict(self) -> dict[str, Any]:
        """The summary as plain data."""
        model = self.classifier
        return {
            "model": None if self.path is None else str(self.path),
            "data": self.data,
            "documents": self.counts.documents,
            "unlabelled": self.counts.unlabelled,
            "labels": len(model.labels_),
            "terms": terms_of(model),
            "stemmer": None if model.vectorizer_ is None else model.vectorizer_.stemmer_,
            "seconds": self.seconds,
            "recipe": model.recipe.as_dict(),
            "chosen": model.decided_.chosen_for_metric(),
            "guarantee": None if model.guarantee is None else model.guarantee.as_dict(),
            "skipped": [str(problem) for problem in self.skipped],
        }


def terms_of(classifier: TextClassifier) -> int:
    """How many terms the model knows."""
    rules = 0 if classifier.keywords_ is None else len(classifier.keywords_.labels_)
    return int(classifier.decided_.n_features_in_) - rules


def fit_corpus(corpus: Corpus, recipe: Recipe, *, seed: int = 0, n_jobs: int | None = None) -> TextClassifier:
    """A classifier fitted to all documents of a corpus; what these lack is told with the name of their file."""
    classifier = TextClassifier.from_recipe(recipe, seed=seed, n_jobs=n_jobs)
    used = {name for names in corpus.label_sets for name in names}
    names = [name for name in corpus.label_names if name in used]
    try:
        return classifier.fit(
            documents_of(corpus), corpus.label_sets, label_names=names, terms=corpus.terms, hierarchy=corpus.hierarchy
        )
    except DataError as error:
        if error.path is None:
            error.path = corpus.source
        raise


def train(
    source: Source,
    model: Path | None,
    *,
    method: str = DEFAULT_METHOD,
    overrides: Overrides | None = None,
    part: str | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Trained:
    """Load the documents, fit the method, save the model (unless `model` is None)."""
    recipe = Recipe.of(method, overrides)
    loaded = load_source(source)
    corpus = split_of(loaded.corpus, part, "train")
    began = time.perf_counter()
    classifier = fit_corpus(corpus, recipe, seed=seed, n_jobs=n_jobs)
    seconds = time.perf_counter() - began
    name = loaded.corpus.name or source.data
    counts = SplitCounts.of(corpus.label_sets)
    if model is not None:
        trained_on = {"data": name, "documents": counts.documents, "unlabelled": counts.unlabelled}
        classifier.save(model, {**trained_on, "train_sha256": fingerprint(corpus.ids, corpus.label_sets)})
    return Trained(classifier, model, name, counts, seconds, list(loaded.skipped))
