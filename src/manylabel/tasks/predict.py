"""Label new documents with a saved model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from manylabel.classifier import Prediction, TextClassifier
from manylabel.data.corpus import Text
from manylabel.tasks.corpora import Source, documents_of, load_source


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
