"""Train a model, save it, inspect the file, and predict labels with it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import Prediction, TextClassifier
from manylabel.data import Corpus
from manylabel.data.corpus import Text
from manylabel.data.problems import Problem
from manylabel.decisions.decided import shown_thresholds
from manylabel.evaluation.result import SplitCounts, fingerprint
from manylabel.exceptions import DataError, ModelFileError
from manylabel.modelfile import ModelFile, open_model
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
            "stemmer": None if model.features_.vectorizer_ is None else model.features_.vectorizer_.stemmer_,
            "seconds": self.seconds,
            "recipe": model.recipe.as_dict(),
            "chosen": model.decided_.choice_,
            "guarantee": None if model.guarantee is None else model.guarantee.as_dict(),
            "skipped": [str(problem) for problem in self.skipped],
        }


def terms_of(classifier: TextClassifier) -> int:
    """How many terms the model knows."""
    keywords = classifier.features_.keywords_
    rules = 0 if keywords is None else len(keywords.labels_)
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


@dataclass(frozen=True, slots=True)
class Answer:
    """The labels given to one document, best first, with the score of each and the threshold it had to reach."""

    id: str
    labels: list[str]
    scores: dict[str, float]
    thresholds: dict[str, float]

    def as_dict(self, *, with_scores: bool) -> dict[str, Any]:
        """The answer as plain data, for one JSON line."""
        if not with_scores:
            return {"id": self.id, "labels": self.labels}
        scored = [{"label": name, "score": score, **self._threshold(name)} for name, score in self.scores.items()]
        return {"id": self.id, "labels": self.labels, "scores": scored}

    def _threshold(self, name: str) -> dict[str, float]:
        return {"threshold": self.thresholds[name]} if name in self.thresholds else {}


def predict_source(classifier: TextClassifier, source: Source, *, runners_up: int = 0) -> Iterator[Answer]:
    """Label every document of a file or a named data set."""
    corpus = load_source(source).corpus
    predictions = classifier.iter_predictions(documents_of(corpus))
    for identifier, prediction in zip(corpus.ids, predictions, strict=True):
        yield make_answer(classifier, identifier, prediction, runners_up)


def predict_stream(
    classifier: TextClassifier, texts: Iterable[tuple[str, Text]], *, runners_up: int = 0, batch: int = 256
) -> Iterator[Answer]:
    """Label (id, text) pairs as they come, a batch at a time."""
    pairs = iter(texts)
    while group := list(islice(pairs, batch)):
        predictions = classifier.iter_predictions([text for _, text in group])
        for (identifier, _), prediction in zip(group, predictions, strict=True):
            yield make_answer(classifier, identifier, prediction, runners_up)


def make_answer(classifier: TextClassifier, identifier: str, prediction: Prediction, runners_up: int) -> Answer:
    """Name the scores of the labels given, and of the best ones that were not."""
    names = classifier.labels_
    given = set(prediction.labels)
    order = sorted(range(len(names)), key=lambda column: (-prediction.scores[column], column))
    labels = [names[column] for column in order if names[column] in given]
    rest = islice((column for column in order if names[column] not in given), runners_up)
    shown = [column for column in order if names[column] in given] + list(rest)
    thresholds: Mapping[str, float] = {}
    if prediction.thresholds is not None:
        thresholds = {names[column]: float(prediction.thresholds[column]) for column in shown}
    return Answer(identifier, labels, {names[c]: float(prediction.scores[c]) for c in shown}, dict(thresholds))


@dataclass(frozen=True, slots=True)
class Inspected:
    """The facts of a model file."""

    path: str
    bytes: int
    versions: dict[str, str]
    facts: dict[str, Any]
    labels: list[str]
    label_counts: list[int]
    thresholds: list[float] | None
    language: str | None
    """That of the stemmer, where it was guessed from the texts."""
    chosen: dict[str, Any] | None
    guarantee: dict[str, Any] | None
    arrays: dict[str, dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """The facts as plain data."""
        return asdict(self)


def inspect(path: Path) -> Inspected:
    """Read the header of a model file, its labels and their thresholds; vocabulary and weights stay on disk."""
    opened = open_model(path)
    tree = opened.header["tree"]
    if tree.get("@object") != "TextClassifier":
        raise ModelFileError(f"{path}: this file holds a {tree.get('@object')}, not a TextClassifier.")
    state = tree["state"]
    labels = opened.decode(state["labels_"])
    return Inspected(
        path=str(path),
        bytes=opened.size,
        versions={"manylabel": opened.header["manylabel"], "numpy": opened.header["numpy"]},
        facts=opened.facts,
        labels=labels,
        label_counts=opened.decode(state["label_counts_"]).tolist(),
        thresholds=_thresholds(opened, len(labels)),
        language=_language(state),
        chosen=_chosen(opened),
        guarantee=_guarantee(opened),
        arrays={
            name: {"dtype": dtype, "shape": list(shape)} for name, (dtype, shape, _) in sorted(opened.places.items())
        },
    )


def _language(state: dict[str, Any]) -> str | None:
    """The language that the vectoriser guessed; None where there was nothing to guess."""
    vectorizer = state["features_"]["state"]["vectorizer_"]
    language: str | None = None if vectorizer is None else vectorizer["state"].get("language_")
    return language


def _thresholds(opened: ModelFile, n_labels: int) -> list[float] | None:
    decided = opened.header["tree"]["state"]["decided_"]
    rule = opened.decode(decided["state"]["rule_"])
    if rule is None:
        return None
    # What kind its scores are, a model says by its settings: without what it learned it is quickly made.
    kind = opened.decode({**decided["state"]["model_"], "state": {}}).score_kind
    calibration = opened.decode(decided["state"].get("calibration_"))
    values = shown_thresholds(rule, n_labels, kind, calibration)
    return None if values is None else values.tolist()


def _chosen(opened: ModelFile) -> dict[str, Any] | None:
    chosen: dict[str, Any] | None = opened.decode(opened.header["tree"]["state"]["decided_"]["state"]["choice_"])
    return chosen


def _guarantee(opened: ModelFile) -> dict[str, Any] | None:
    rule = opened.decode(opened.header["tree"]["state"]["decided_"]["state"]["rule_"])
    guarantee = None if rule is None else rule.guarantee()
    return None if guarantee is None else guarantee.as_dict()
