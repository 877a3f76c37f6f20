"""What a row of the catalogue says of a method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Settings = Mapping[str, Any]

VILAR = "Vilar, Castro & Sanchis 2004"
UEDA = "Ueda & Saito 2002"
LEE = "Lee 2018"
GODBOLE = "Godbole & Sarawagi 2004"
MANNING = "Manning, Raghavan & Schütze 2008"
READ = "Read, Pfahringer, Holmes & Frank 2011"


@dataclass(frozen=True, slots=True)
class Method:
    """A method: the class that scores, the features it wants and the rule that decides.

    `model` and `inner` (the model inside a strategy) are written ``module:Class``; `members` are the methods that make
    a committee, named as in the catalogue.
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


LETTERS: Settings = {"tokens": "letters"}
PLAIN_TFIDF: Settings = {"tf": "log", "idf": "plain", "norm": "l2"}
TFIDF: Settings = {"tf": "log", "idf": "smooth", "norm": "l2"}

ACCUMULATED: Settings = {"decision": "accumulated-posterior", "decision_settings": {"threshold": "learn"}}
BEST_LABEL: Settings = {"decision": "top-k", "decision_settings": {"k": 1}}
PER_LABEL: Settings = {"decision": "per-label"}
HALF: Settings = {"decision": "threshold", "decision_settings": {"value": 0.5}}
