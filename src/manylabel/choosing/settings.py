"""The settings a search tries: a method's own, and others drawn from its ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from manylabel.catalog import method_over
from manylabel.catalog.ranges import Search
from manylabel.estimator import Estimator
from manylabel.exceptions import ParameterError
from manylabel.recipe import Recipe

Settings = Mapping[str, Any]
"""Values by the name of the setting, written ``section.key``."""
Overrides = Mapping[str, Mapping[str, Any]]

DRAWS = 20
"""How often missing settings are drawn again before the space counts as exhausted."""


def searched(method: str, fixed: Overrides | None = None, *, has_texts: bool = True) -> Search:
    """The ranges to search for a method: those it declares, except for settings fixed by hand.

    Ready-made counts leave no choice of features, and a decision rule other than the method's own has no ranges.

    >>> sorted(searched("svm", {"model": {"C": 1.0}, "decision": {"rule": "top-k"}}, has_texts=False))
    ['weighting.tf']
    """
    row = method_over(method, (fixed or {}).get("model", {}).get("base"))
    given = {section: set(values) for section, values in (fixed or {}).items()}
    other_rule = (fixed or {}).get("decision", {}).get("rule", row.decision) != row.decision

    def is_free(setting: str) -> bool:
        section, _, key = setting.partition(".")
        lost = (section == "decision" and other_rule) or (section == "features" and not has_texts)
        return key not in given.get(section, ()) and not lost

    found = {setting: values for setting, values in row.search.items() if is_free(setting)}
    if not found:
        raise ParameterError(f"There is nothing to search for {method}: every setting it declares is fixed.")
    return found


def draw_settings(search: Search, count: int, seed: int) -> list[dict[str, Any]]:
    """Up to `count` different settings, spread evenly over every range.

    A Latin hypercube: each range is divided into `count` equal intervals, and each interval is drawn from once, in
    random order (McKay, Beckman & Conover 1979). Duplicates, which ranges of a few choices cause, are replaced by new
    draws; fewer settings are returned if there are no others. The same seed gives the same settings.

    >>> from manylabel.catalog.ranges import Choice, Log
    >>> drawn = draw_settings({"model.C": Log(0.1, 10), "weighting.tf": Choice("log", "raw")}, 4, seed=0)
    >>> sorted(settings["weighting.tf"] for settings in drawn)
    ['log', 'log', 'raw', 'raw']
    >>> len(draw_settings({"weighting.tf": Choice("log", "raw")}, 9, seed=0))
    2
    """
    random = np.random.default_rng(seed)
    found: dict[str, dict[str, Any]] = {}
    for _ in range(DRAWS):
        missing = count - len(found)
        if missing <= 0:
            break
        intervals = {setting: random.permutation(missing) for setting in search}
        for place in range(missing):
            drawn = {
                setting: values.at((int(intervals[setting][place]) + random.random()) / missing)
                for setting, values in search.items()
            }
            found.setdefault(repr(drawn), drawn)
    return list(found.values())[:count]


def with_settings(method: str, fixed: Overrides | None, settings: Settings) -> Recipe:
    """The method's recipe with the settings fixed by hand and those drawn.

    >>> with_settings("svm", {"features": {"min_df": 2}}, {"model.C": 0.5, "decision.shrinkage": 0.0}).decision
    {'rule': 'per-label', 'shrinkage': 0.0}
    """
    changes = {section: dict(values) for section, values in (fixed or {}).items()}
    for setting, value in settings.items():
        section, _, key = setting.partition(".")
        changes.setdefault(section, {})[key] = value
    return Recipe.of(method, changes)


def value_in(recipe: Recipe, setting: str) -> Any:
    """The recipe's value of a setting, or else the default of the class it belongs to.

    >>> value_in(Recipe.of("svm"), "model.C"), value_in(Recipe.of("svm"), "features.ngram_range")
    (1.0, (1, 1))
    """
    section, _, key = setting.partition(".")
    given = getattr(recipe, section)
    return given[key] if key in given else defaults(recipe, section).get(key)


def defaults(recipe: Recipe, section: str) -> dict[str, Any]:
    """The defaults of the classes behind a section of a recipe."""
    from manylabel.features import Vectorizer, Weighting

    if section == "selection":
        return {}  # without this section no terms are selected, whatever a selector's defaults are
    if section == "model":
        built = recipe.build_model()
        own = built.get_params(deep=False)
        inner = own.get("model")
        return {**(inner.get_params(deep=False) if isinstance(inner, Estimator) else {}), **own}
    if section == "decision":
        rule = recipe.build_rule()
        return {} if rule is None else dict(rule.get_params(deep=False))
    return dict((Vectorizer if section == "features" else Weighting)().get_params())
