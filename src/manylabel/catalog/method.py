"""The class of a row of the catalogue, and the settings that several rows share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from manylabel.catalog.ranges import Search

Settings = Mapping[str, Any]

VILAR = "Vilar, Castro & Sanchis 2004"
UEDA = "Ueda & Saito 2002"
LEE = "Lee 2018"
LEE_WEIGHTS = f"{LEE}, 'Improving the performance of multinomial naïve Bayes'"
LEE_BR = f"{LEE}, 'Binary relevance method'"
LEE_CO_TRAINING = f"{LEE}, 'Building base classifiers'"
"""The text of Lee 2018 at hand has headings without numbers."""
GODBOLE = "Godbole & Sarawagi 2004"
MANNING = "Manning, Raghavan & Schütze 2008"
READ = "Read, Pfahringer, Holmes & Frank 2011"


@dataclass(frozen=True, slots=True)
class Cost:
    """Estimated seconds of one trial of a method on one thread, by which `compare` and `tune` plan.

        seconds = start + words · z/10⁵ + cells · n L/10⁵ + work · z L/10⁷

    of n documents with z non-zero counts and L labels. A trial learns in three inner folds and once from all documents,
    tries a few decision rules and predicts. Right within a factor of two or three (docs/comparing-methods.md).

    >>> Cost(start=0.1, words=0.5).seconds(documents=1000, nonzeros=50_000, labels=20)
    0.35
    """

    start: float = 0.01
    words: float = 0.0
    cells: float = 0.0
    work: float = 0.0

    def seconds(self, documents: int, nonzeros: int, labels: int) -> float:
        """The nominal seconds for a corpus of some size."""
        per_words, per_cells = self.words * nonzeros / 1e5, self.cells * documents * labels / 1e5
        return self.start + per_words + per_cells + self.work * nonzeros * labels / 1e7


@dataclass(frozen=True, slots=True)
class Method:
    """A method: the class that scores, the features it wants and the rule that decides.

    `model` and `inner` (the model inside a strategy) are written ``module:Class``; `members` are the methods that make
    an ensemble, named as in the catalogue.
    """

    name: str
    title: str
    model: str
    source: str
    settings: Settings = field(default_factory=dict)
    inner: str | None = None
    members: tuple[str, ...] = ()
    features: Settings = field(default_factory=dict)
    selection: Settings = field(default_factory=dict)
    weighting: Settings = field(default_factory=dict)
    decision: str = "own"
    decision_settings: Settings = field(default_factory=dict)
    search: Search = field(default_factory=dict)
    """Which settings are worth a search, and in what range; see `manylabel.catalog.ranges`."""
    cost: Cost = field(default_factory=Cost)
    requires: tuple[str, ...] = ()
    """What a corpus must have for the method to make sense: a ``hierarchy`` of labels, ``unlabelled`` documents."""


LETTERS: Settings = {"tokens": "letters"}
PLAIN_TFIDF: Settings = {"tf": "log", "idf": "plain", "norm": "l2"}
TFIDF: Settings = {"tf": "log", "idf": "smooth", "norm": "l2", "fractions": "keep"}

ACCUMULATED: Settings = {"decision": "accumulated-posterior", "decision_settings": {"threshold": "learn"}}
BEST_LABEL: Settings = {"decision": "top-k", "decision_settings": {"k": 1}}
PER_LABEL: Settings = {"decision": "per-label"}
HALF: Settings = {"decision": "threshold", "decision_settings": {"value": 0.5}}
