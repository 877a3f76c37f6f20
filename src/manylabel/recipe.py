"""A recipe: the whole pipeline as plain settings, and the pipeline it describes.

Four sections, each a table of the settings of one class: ``features`` (the vectoriser), ``weighting``, ``model`` and
``decision``, plus ``method``, the row of the catalogue they start from. A key that does not exist is answered with the
nearest one that does.

    >>> recipe = Recipe.of("nb-binary", {"decision": {"value": 0.9}, "features": {"min_df": 2}})
    >>> recipe.decision
    {'rule': 'threshold', 'value': 0.9}
    >>> recipe.features["min_df"], recipe.features["tokens"]
    (2, 'letters')
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from manylabel.catalog import OWN_RULE, find_class, find_method
from manylabel.decisions.table import find_rule
from manylabel.exceptions import ParameterError, UnknownNameError
from manylabel.models.base import MultiLabelModel

SECTIONS = ("features", "weighting", "model", "decision")


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of a pipeline, resolved: what is stored in every model and result."""

    method: str
    features: dict[str, Any]
    weighting: dict[str, Any]
    model: dict[str, Any]
    decision: dict[str, Any]

    @classmethod
    def of(cls, method: str, overrides: Mapping[str, Mapping[str, Any]] | None = None) -> Self:
        """The catalogue's preset of a method with some settings changed."""
        row = find_method(method)
        changes = {section: dict(values) for section, values in (overrides or {}).items()}
        for section in changes:
            if section not in SECTIONS:
                raise UnknownNameError("section of a recipe", section, SECTIONS)
        decision = changes.get("decision", {})
        rule = decision.pop("rule", row.decision)
        preset = row.decision_settings if rule == row.decision else {}
        recipe = cls(
            method=row.name,
            features={**row.features, **changes.get("features", {})},
            weighting={**row.weighting, **changes.get("weighting", {})},
            model={**row.settings, **changes.get("model", {})},
            decision={"rule": rule, **preset, **decision},
        )
        recipe._check_names()
        return recipe

    def as_dict(self) -> dict[str, Any]:
        """The recipe as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The recipe that `as_dict` gave, or one read from TOML."""
        for key in data:
            if key != "method" and key not in SECTIONS:
                raise UnknownNameError("key of a recipe", key, ("method", *SECTIONS))
        if "method" not in data:
            raise ParameterError("A recipe names its method, for example: method = 'nb'.")
        return cls.of(data["method"], {section: data.get(section, {}) for section in SECTIONS})

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Read a recipe written as TOML."""
        return cls.from_dict(tomllib.loads(text))

    def _check_names(self) -> None:
        from manylabel.features import Vectorizer, Weighting

        row = find_method(self.method)
        model = find_class(row.model)
        inner = find_class(row.inner).parameter_names() if row.inner else []  # type: ignore[attr-defined]
        names = [name for name in model.parameter_names() if name != "model"]  # type: ignore[attr-defined]
        rule = self.decision["rule"]
        known = {
            "features": Vectorizer.parameter_names(),
            "weighting": Weighting.parameter_names(),
            "model": [*names, *inner],
            "decision": ["rule", *(find_rule(rule).parameter_names() if rule != OWN_RULE else [])],
        }
        for section, allowed in known.items():
            for key in getattr(self, section):
                if key not in allowed:
                    raise UnknownNameError(f"setting in [{section}] of {self.method}", key, allowed)

    def build_model(self) -> MultiLabelModel:
        """The model, not yet fitted."""
        row = find_method(self.method)
        outer = find_class(row.model)
        if row.inner is None:
            return outer(**self.model)  # type: ignore[no-any-return]
        inner = find_class(row.inner)
        names = inner.parameter_names()  # type: ignore[attr-defined]
        own = {key: value for key, value in self.model.items() if key not in names}
        nested = {key: value for key, value in self.model.items() if key in names}
        return outer(model=inner(**nested), **own)  # type: ignore[no-any-return]

    def build_rule(self) -> Any:
        """The decision rule, not yet fitted; None where the model decides by itself."""
        if self.decision["rule"] == OWN_RULE:
            return None
        settings = {key: value for key, value in self.decision.items() if key != "rule"}
        return find_rule(self.decision["rule"])(**settings)


def parse_settings(assignments: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Read ``section.key=value`` assignments; values are written as in TOML, and a bare word is a string.

    >>> parse_settings(["features.min_df=2", "decision.rule=top-k", "features.ngram_range=[1, 2]"])
    {'features': {'min_df': 2, 'ngram_range': (1, 2)}, 'decision': {'rule': 'top-k'}}
    """
    settings: dict[str, dict[str, Any]] = {}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        section, dot, key = path.strip().partition(".")
        if not (equals and dot and section and key):
            raise ParameterError(
                f"A setting is written section.key=value, for example features.min_df=2, not {assignment!r}."
            )
        settings.setdefault(section, {})[key] = parse_value(text)
    return settings


def parse_value(text: str) -> Any:
    """A TOML value; anything that is not one is taken as a string, and a list as a tuple.

    >>> parse_value("0.5"), parse_value("true"), parse_value("none"), parse_value("top-k")
    (0.5, True, None, 'top-k')
    """
    word = text.strip()
    if word.lower() == "none":
        return None
    try:
        value = tomllib.loads(f"value = {word}")["value"]
    except tomllib.TOMLDecodeError:
        return word
    return tuple(value) if isinstance(value, list) else value
