"""What is predicted for documents: labels with their scores, of batches in memory, and of shards as tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.classifier import TextClassifier
from manylabel.predicting import Prediction
from manylabel.reports.records import LabelledDocument
from manylabel.scale.engine import Engine, Task
from manylabel.scale.shards import ShardedCorpus


@dataclass(frozen=True, slots=True)
class Asked:
    """What a prediction should hold: instead of the model's rule a threshold or number of labels, and which scores."""

    threshold: float | None = None
    top: int | None = None
    raw: bool = False
    runners_up: int = 0
    """How many labels that were not predicted to list with their scores."""

    def predict(self, classifier: TextClassifier, documents: Any) -> Iterator[Prediction]:
        """The predictions of a classifier."""
        return classifier.iter_predictions(documents, threshold=self.threshold, top=self.top, raw=self.raw)


BY_RULE = Asked()


def label_document(
    classifier: TextClassifier,
    identifier: str,
    prediction: Prediction,
    runners_up: int,
    addresses: Mapping[str, str] | None = None,
) -> LabelledDocument:
    """The predicted labels with their scores, and the scores of the best labels that were not predicted."""
    names = classifier.labels_
    given = set(prediction.labels)
    predicted: list[int] = []
    rest: list[int] = []
    for column in np.argsort(-prediction.scores, kind="stable").tolist():
        if names[column] in given:
            predicted.append(column)
        elif len(rest) < runners_up:
            rest.append(column)
        elif len(predicted) == len(given):
            break
    shown = predicted + rest
    thresholds: Mapping[str, float] = {}
    if prediction.thresholds is not None:
        thresholds = {names[column]: float(prediction.thresholds[column]) for column in shown}
    return LabelledDocument(
        identifier,
        [names[c] for c in predicted],
        {names[c]: float(prediction.scores[c]) for c in shown},
        dict(thresholds),
        addresses or {},
    )


# ---- from disk -------------------------------------------------------------------------------------------------------


def predict_shard(output: Path, corpus: Mapping[str, Any], model: str, asked: Mapping[str, Any]) -> None:
    """Write the predictions for the documents of a shard, one JSON object per line; a task.

    `corpus` describes a `ShardedCorpus` of one shard, `asked` an `Asked`.
    """
    opened, wanted = ShardedCorpus.from_dict(corpus), Asked(**asked)
    classifier = TextClassifier.load(model).use_threads(1)
    with output.open("w", encoding="utf-8") as stream:
        for batch in opened.batches(opened.shards[0]):
            predictions = wanted.predict(classifier, batch.texts)
            for identifier, prediction in zip(batch.ids, predictions, strict=True):
                found = label_document(classifier, identifier, prediction, wanted.runners_up)
                stream.write(json.dumps([found.id, found.labels, found.scores, found.thresholds]) + "\n")


def predict_shards(corpus: ShardedCorpus, model: Path, asked: Asked, engine: Engine, folder: Path) -> list[Path]:
    """Have an engine predict all shards, and return the files of their predictions in the order of the shards."""
    common = {"model": str(model.absolute()), "asked": asdict(asked)}
    tasks = [
        Task(
            "predictions:predict_shard",
            folder / f"shard-{number:05d}",
            {"corpus": corpus.of_shard(shard).as_dict(), **common},
        )
        for number, shard in enumerate(corpus.shards)
    ]
    engine.run(tasks, "Classifying")
    return [task.output for task in tasks]


def read_predictions(path: Path, addresses: Mapping[str, str]) -> Iterator[LabelledDocument]:
    """The predictions that `predict_shard` wrote; `addresses` are those of labels that a vocabulary named."""
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            identifier, labels, scores, thresholds = json.loads(line)
            yield LabelledDocument(identifier, labels, scores, thresholds, addresses)
