"""Measure a model, or methods, on labelled documents."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import TextClassifier
from manylabel.data import Corpus
from manylabel.data.problems import Problem
from manylabel.evaluation.comparability import fingerprint
from manylabel.evaluation.experiment import evaluate as measure
from manylabel.evaluation.result import Result, SplitCounts
from manylabel.modelfile import open_model
from manylabel.recipe import Recipe
from manylabel.tasks.corpora import Source, documents_of, load_source, split_of, train_and_test
from manylabel.tasks.duplicates import Straddle, drop_straddling, find_straddling
from manylabel.tasks.train import Overrides, fit_corpus


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The results of one evaluation, in the order the methods were named, and what was skipped in reading."""

    results: list[Result]
    split: str
    skipped: list[Problem]
    straddle: Straddle | None = None
    """Near-duplicates in training and test; None where there was no training."""
    remembered: bool = False
    """Whether the model was trained on the very documents it was measured on."""

    def as_dict(self) -> dict[str, Any]:
        """The evaluation as plain data."""
        return {
            "split": self.split,
            "remembered": self.remembered,
            "near_duplicates": None if self.straddle is None else self.straddle.as_dict(),
            "results": [result.as_dict() for result in self.results],
        }


def evaluate_model(source: Source, model: Path, *, part: str | None = None) -> Evaluated:
    """Measure a saved model on the test split of the documents (all of them where there is no split)."""
    classifier = TextClassifier.load(model)
    loaded = load_source(source)
    corpus = split_of(loaded.corpus, part, "test")
    whole = len(corpus) == len(loaded.corpus)
    chosen = "all documents" if whole else f"the {part or 'test'} part"
    name = loaded.corpus.name or source.data
    trained_on = open_model(model).facts.get("train_sha256")
    result = _measure(classifier, corpus, name, part or ("all" if whole else "test"), None, trained_on, None)
    parts = (corpus, loaded.corpus)
    remembered = trained_on is not None and trained_on in [fingerprint(one.ids, one.label_sets) for one in parts]
    return Evaluated([result], chosen, list(loaded.skipped), remembered=remembered)


def evaluate_methods(
    source: Source,
    methods: Sequence[str] = (DEFAULT_METHOD,),
    *,
    overrides: Overrides | None = None,
    test_share: float = 0.25,
    drop_duplicates: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Evaluated:
    """Train each method on the training split and measure it on the test split.

    Only labels that occur in training can be predicted; a test label without a training document counts as missed.
    With `drop_duplicates`, training leaves out documents that are near-duplicates of test documents.
    """
    recipes = [Recipe.of(method, overrides) for method in methods]
    loaded = load_source(source)
    train, test, how = train_and_test(loaded.corpus, test_share, seed)
    if drop_duplicates:
        train, straddle = drop_straddling(train, test)
    else:
        straddle = find_straddling(train, test)
    name = loaded.corpus.name or source.data
    counts, trained_on = SplitCounts.of(train.label_sets), fingerprint(train.ids, train.label_sets)
    results = []
    for recipe in recipes:
        began = time.perf_counter()
        classifier = fit_corpus(train, recipe, seed=seed, n_jobs=n_jobs)
        seconds = time.perf_counter() - began
        results.append(_measure(classifier, test, name, "test", counts, trained_on, seconds))
    return Evaluated(results, how, list(loaded.skipped), straddle)


def _measure(
    classifier: TextClassifier,
    corpus: Corpus,
    data: str,
    part: str,
    train: SplitCounts | None,
    train_sha256: str | None,
    fit_seconds: float | None,
) -> Result:
    return measure(
        classifier,
        documents_of(corpus),
        corpus.label_sets,
        ids=corpus.ids,
        data=data,
        part=part,
        train=train,
        train_sha256=train_sha256,
        fit_seconds=fit_seconds,
        hierarchy=corpus.hierarchy or classifier.hierarchy,
    )
