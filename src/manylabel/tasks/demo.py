"""The demonstration: the main job, from letters to a model file, on the corpus that comes with manylabel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manylabel.catalog import DEFAULT_METHOD
from manylabel.data.corpus import Text
from manylabel.evaluation.result import Result
from manylabel.tasks.corpora import Source
from manylabel.tasks.evaluate import evaluate_model
from manylabel.tasks.predict import Answer, predict_stream
from manylabel.tasks.train import train

LETTERS: tuple[dict[str, str], ...] = (
    {
        "title": "Lorries on Tannery Row",
        "body": "Every weekday from six, delivery lorries for the new supermarket park half on the footway in "
        "Tannery Row with their engines running. My daughter has to step into the road with the pram, and the "
        "reversing alarms wake the whole terrace.",
    },
    {
        "title": "Where does the oak stand in the plan?",
        "body": "The application for nine houses behind the dairy shows a car port exactly where the old oak grows. Is "
        "the tree protected, and may neighbours still object? Two more limes on the boundary are marked for felling.",
    },
    {
        "title": "The 9 again",
        "body": "Twice this week the 9 did not come at all and the next driver told us it had been cancelled. The stop "
        "outside the school has no shelter and no timetable, so thirty children waited in the rain.",
    },
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the demonstration found."""

    result: Result
    split: str
    letters: list[tuple[dict[str, str], Answer]]
    model: Path
    probabilities: bool

    def as_dict(self) -> dict[str, Any]:
        """The demonstration as plain data."""
        letters = [{**letter, **answer.as_dict(with_scores=True)} for letter, answer in self.letters]
        return {"model": str(self.model), "result": self.result.as_dict(), "letters": letters}


def demo(model: Path, *, method: str = DEFAULT_METHOD, seed: int = 0) -> Shown:
    """Train on the town hall's letters, measure on the later ones, and label three new ones with the saved model."""
    source = Source("townhall")
    trained = train(source, model, method=method, seed=seed)
    evaluated = evaluate_model(source, model)
    texts: list[tuple[str, Text]] = [(letter["title"], letter) for letter in LETTERS]
    answers = list(predict_stream(trained.classifier, texts, runners_up=2))
    return Shown(
        evaluated.results[0],
        evaluated.split,
        list(zip(LETTERS, answers, strict=True)),
        model,
        trained.classifier.scores_are_probabilities,
    )
