"""A recipe: the whole pipeline as plain settings, and the pipeline built from them.

Five sections, each a table of the settings of one class: ``features`` (the vectoriser), ``selection`` (which terms are
kept; if empty, all of them), ``weighting``, ``model`` and ``decision``, plus ``method``, the method of the catalogue
whose settings they change. The error for an unknown key names the nearest known one.

    >>> recipe = Recipe.of("nb-binary", {"decision": {"value": 0.9}, "features": {"min_df": 2}})
    >>> recipe.decision
    {'rule': 'threshold', 'value': 0.9}
    >>> recipe.features["min_df"], recipe.features["tokens"]
    (2, 'letters')

The ``model`` section of a strategy over another model names the settings of both. One that both have is the strategy's;
`seed` and `n_jobs` are passed on to the model inside as well. ``inner.`` before a name means the model inside and
nothing else (in TOML also as a table, ``[model.inner]``). ``base`` puts the model of another method inside:

    >>> recipe = Recipe.of("svm-undersampled", {"model": {"ratio": 0.5, "C": 2.0, "n_jobs": 2, "inner.n_jobs": 1}})
    >>> model = recipe.build_model()
    >>> (model.ratio, model.n_jobs), (model.model.C, model.model.n_jobs)
    ((0.5, 2), (2.0, 1))
    >>> Recipe.of("mnb-vw-cc", {"model": {"base": "svm", "C": 0.5}}).build_model()
    ClassifierChain(model=LinearSVM(C=0.5))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from manylabel.catalog import DEFAULT_METHOD, METHODS, OWN_RULE, Method, find_class, find_method, method_over
from manylabel.data.limits import LIMITS
from manylabel.data.nested_text import parse_toml
from manylabel.decisions.table import find_rule, rule_hint
from manylabel.exceptions import DataError, ParameterError, UnknownNameError
from manylabel.models.base import MultiLabelModel
from manylabel.setting_values import INNER, not_settings, toml_key, toml_value, with_tuples

if TYPE_CHECKING:
    from manylabel.decisions.decided import DecidedModel

FEATURE_SETTINGS = ("rules", "rules_effect", "encoder")
"""Keys of [features] besides the vectoriser's settings: hand-written keyword rules (the path of a file, or a table of
labels and queries), whether a match assigns the label or is required for it, and the name or folder of an encoder.
"""
DECISION_SETTINGS = ("rule", "probabilities")
"""Keys of [decision] besides the rule's settings: its name, and the calibration of scores as probabilities, if any."""
BEST_RULE = "best"
"""The rule that is chosen for a metric."""
BASE = "base"
"""The setting of a strategy that names a method, whose model is used inside instead of the strategy's own."""
BUILT = ("model", "others", "rule", "probabilities")
"""Parameters of models that other sections or keys define; [model] does not set them."""
PASSED_ON = ("seed", "n_jobs")
"""Settings of a strategy that are passed on to the model inside."""
SECTIONS = ("features", "selection", "weighting", "model", "decision")


@dataclass(frozen=True, slots=True)
class Recipe:
    """The resolved settings of a pipeline, stored in every model and result."""

    method: str
    features: dict[str, Any]
    selection: dict[str, Any]
    weighting: dict[str, Any]
    model: dict[str, Any]
    decision: dict[str, Any]

    @classmethod
    def of(cls, method: str, overrides: Mapping[str, Mapping[str, Any]] | None = None) -> Self:
        """The catalogue's preset of a method with some settings changed."""
        changes = _settings_by_section(overrides or {})
        row = method_over(method, changes.get("model", {}).get(BASE))
        if isinstance(table := changes.get("model", {}).get("inner"), Mapping):
            del changes["model"]["inner"]
            changes["model"].update({f"{INNER}{name}": value for name, value in table.items()})
        decision = changes.get("decision", {})
        rule = decision.pop("rule", row.decision)
        preset = dict(row.decision_settings) if rule == row.decision else {}
        recipe = cls(
            method=row.name,
            features={**row.features, **changes.get("features", {})},
            selection={**row.selection, **changes.get("selection", {})},
            weighting={**row.weighting, **changes.get("weighting", {})},
            model={**({"members": row.members} if row.members else {}), **row.settings, **changes.get("model", {})},
            decision={"rule": rule, **preset, **decision},
        )
        recipe._check_names()
        recipe._spell_none()
        return recipe

    def as_dict(self) -> dict[str, Any]:
        """The recipe as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The recipe for data from `as_dict` or from TOML."""
        for key in data:
            if key != "method" and key not in SECTIONS:
                raise UnknownNameError("key of a recipe", key, ("method", *SECTIONS))
        if not isinstance(data.get("method"), str):
            raise ParameterError("A recipe names its method, for example: method = 'nb'.")
        return cls.of(data["method"], {section: data.get(section, {}) for section in SECTIONS})

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Read a recipe written as TOML."""
        try:
            found = parse_toml(text, LIMITS.nesting)
        except ValueError as error:
            raise ParameterError(f"This is not TOML: {error}.") from None
        return cls.from_dict(with_tuples(found))

    def to_toml(self) -> str:
        """The recipe as TOML, which `from_toml` reads back; a value that is None is written "none".

        >>> print(Recipe.of("svm", {"model": {"C": 0.5}}).to_toml())
        method = "svm"
        <BLANKLINE>
        [weighting]
        tf = "log"
        idf = "smooth"
        norm = "l2"
        fractions = "keep"
        <BLANKLINE>
        [model]
        C = 0.5
        <BLANKLINE>
        [decision]
        rule = "per-label"
        <BLANKLINE>
        """
        parts = [f"method = {toml_value(self.method)}\n"]
        for section in SECTIONS:
            if settings := getattr(self, section):
                lines = [f"{toml_key(key)} = {toml_value(value)}\n" for key, value in settings.items()]
                parts.append(f"[{section}]\n{''.join(lines)}")
        return "\n".join(parts)

    def _check_names(self) -> None:
        for section, allowed in self.defaults().items():
            for key in getattr(self, section):
                if key not in allowed:
                    hint = rule_hint(key) if section == "decision" else ""
                    raise UnknownNameError(f"setting in [{section}] of {self.method}", key, list(allowed), hint)
        if find_method(self.method).members:
            self._check_members(self.model["members"])

    def defaults(self) -> dict[str, dict[str, Any]]:
        """All settings that the sections of this method and rule may hold, with the defaults of the classes.

        >>> Recipe.of("svm").defaults()["model"]["C"]
        1.0
        """
        from manylabel.features import TermSelector, Vectorizer, Weighting

        row, rule = self._row, self.decision["rule"]
        outer = find_class(row.model)
        fixed = (*BUILT, "folds", "seed", "n_jobs") if self._learns_rule else BUILT
        own = {name: value for name, value in outer.parameter_defaults().items() if name not in fixed}
        inner: dict[str, Any] = {} if row.inner is None else find_class(row.inner).parameter_defaults()
        named = {"members": row.members} if row.members else {} if row.inner is None else {BASE: None}
        return {
            "features": {**Vectorizer.parameter_defaults(), **dict.fromkeys(FEATURE_SETTINGS)},
            "selection": TermSelector.parameter_defaults(),
            "weighting": Weighting.parameter_defaults(),
            "model": {**inner, **own, **named, **{f"{INNER}{name}": value for name, value in inner.items()}},
            "decision": {
                **dict.fromkeys(DECISION_SETTINGS),
                **({} if rule == OWN_RULE else find_rule(rule).parameter_defaults()),
                "rule": rule,
            },
        }

    def _spell_none(self) -> None:
        """Replace None by the word "none" for settings that allow only the word, and the other way round.

        >>> Recipe.of("svm", {"decision": {"fallback": None}}).decision["fallback"]
        'none'
        >>> Recipe.of("svm", {"features": {"n_hashes": "none"}}).features["n_hashes"] is None
        True
        """
        from manylabel.features import TermSelector, Vectorizer, Weighting

        row, rule = self._row, self.decision["rule"]
        owners: dict[str, list[Any]] = {
            "features": [Vectorizer],
            "selection": [TermSelector],
            "weighting": [Weighting],
            "model": [find_class(path) for path in (row.model, row.inner) if path],
            "decision": [] if rule == OWN_RULE else [find_rule(rule)],
        }
        for section, classes in owners.items():
            settings = getattr(self, section)
            for key in [key for key, value in settings.items() if value is None or value == "none"]:
                given = settings[key]
                other = "none" if given is None else None
                allowed = [c.parameter_constraints.get(key.removeprefix(INNER)) for c in classes]
                if any(one and one.allows(other) and not one.allows(given) for one in allowed):
                    settings[key] = other

    def _check_members(self, members: Any) -> None:
        listed = isinstance(members, (list, tuple)) and members and all(isinstance(name, str) for name in members)
        if not listed:
            raise ParameterError(
                f"{self.method}: members must be a list of methods, for example "
                f'model.members=["svm", "nb"], not {members!r}.'
            )
        for name in members:
            find_method(name)

    @property
    def vectorizer_settings(self) -> dict[str, Any]:
        """The settings of the vectoriser: [features] without the keyword rules and the encoder.

        Tokens and the handling of HTML follow the texts unless the features set them.
        """
        from manylabel.features.reading import CHOSEN_BY_TEXTS

        own = {key: value for key, value in self.features.items() if key not in FEATURE_SETTINGS}
        return {**CHOSEN_BY_TEXTS, **own}

    def read_rules(self) -> str | None:
        """The text of the hand-written keyword rules, checked; None if there are none."""
        from manylabel.features.keyword_rules import rules_text

        given = self.features.get("rules")
        return None if given is None else rules_text(given)

    def for_any_numbers(self) -> Recipe:
        """The recipe for documents with negative values: without tf, idf and the method's own selection of terms."""
        from manylabel.features.weighting import norm_alone

        return replace(self, weighting=norm_alone(self.weighting), selection=self.selection if self.must_select else {})

    @property
    def must_select(self) -> bool:
        """Whether a selection of terms was set that is not the method's own."""
        return self.selection != find_method(self.method).selection

    @property
    def needs_counts(self) -> bool:
        """Whether documents with negative values are refused."""
        return _without_tf_idf(self.build()).needs_counts

    def build_for_any_numbers(self, *, folds: int = 5, seed: int = 0, n_jobs: int | None = None) -> DecidedModel:
        """The model of `build` for documents with negative values; an error if it is a model of counts."""
        decided = _without_tf_idf(self.build(folds=folds, seed=seed, n_jobs=n_jobs))
        if decided.needs_counts:
            raise DataError(
                f"Negative values in data passed to {self.method}, which needs counts of terms, 0 or above.",
                remedy=f"Use a method for any numbers: {', '.join(methods_for_any_numbers())}.",
            )
        return decided

    def read_vectors(self, decided: DecidedModel, dimensions: int) -> None:
        """Let the model read X with vectors behind the terms; an error if it is a model of counts."""
        decided.set_everywhere("vectors", dimensions)
        if decided.needs_counts:
            what = "Keyword rules are matched" if self.features.get("rules") is not None else f"{self.method} learns"
            raise ParameterError(
                f"{what} beside counts of terms, not beside vectors of an encoder. Leave the encoder out, or use a "
                f"method for any numbers without rules: {', '.join(methods_for_any_numbers())}."
            )

    def build(self, *, folds: int = 5, seed: int = 0, n_jobs: int | None = None) -> DecidedModel:
        """The model with its decision rule, not yet fitted; the rule will be learned with `folds` and `seed`."""
        from manylabel.decisions.decided import DecidedModel

        training = {"folds": folds, "seed": seed, "probabilities": self.probabilities}
        if self._learns_rule:
            first, *others = (build_member(name) for name in self.model["members"])
            settings = {key: value for key, value in self.model.items() if key != "members"}
            # Keyword rules wrap a single model, so the model is not averaged with others.
            others = [] if self.features.get("rules") is not None else others
            outer = find_class(self._row.model)
            decided: DecidedModel = outer(
                self._behind_rules(first), tuple(others), self.build_rule(), **{**training, **settings}
            )
        else:
            decided = DecidedModel(self.build_model(), self.build_rule(), **training)
        return decided.set_everywhere("n_jobs", n_jobs)

    @property
    def _row(self) -> Method:
        """The row of the method in the catalogue, over the model of another method where ``model.base`` names one."""
        return method_over(self.method, self.model.get(BASE))

    @property
    def _learns_rule(self) -> bool:
        """Whether the method's class takes the decision rule and chooses its own settings together with it."""
        outer = find_class(find_method(self.method).model)
        return bool(outer.learns_rule)

    def build_model(self) -> MultiLabelModel:
        """The model without its decision rule, not yet fitted; wrapped in keyword rules if there are any."""
        row = self._row
        outer = find_class(row.model)
        if self._learns_rule:
            return self.build().unfitted_model()
        if row.members:
            with_rules = self.model.get("combine") == "votes"
            members = tuple(build_member(name, with_rules) for name in self.model["members"])
            return self._behind_rules(outer(**{**self.model, "members": members}))
        if row.inner is None:
            return self._behind_rules(outer(**self.model))
        inner = find_class(row.inner)
        own, nested = self._divide(outer.parameter_names(), inner.parameter_names())
        return self._behind_rules(outer(model=inner(**nested), **own))

    def _behind_rules(self, model: MultiLabelModel) -> MultiLabelModel:
        """The model, wrapped in the hand-written keyword rules if there are any."""
        if self.features.get("rules") is None or "rule_labels" in model.wants:
            return model
        from manylabel.models.keyword_rules import KeywordRules

        return KeywordRules(model, effect=self.features.get("rules_effect", "give"))

    def _divide(self, outer: Sequence[str], inner: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The settings of a strategy and those of the model inside; see this module's docstring."""
        plain = {key: value for key, value in self.model.items() if not key.startswith(INNER)}
        named = {key.removeprefix(INNER): value for key, value in self.model.items() if key.startswith(INNER)}
        own = {key: value for key, value in plain.items() if key in outer}
        nested = {key: value for key, value in plain.items() if key in inner and (key not in own or key in PASSED_ON)}
        return own, nested | named

    def build_rule(self) -> Any:
        """The decision rule, not yet fitted; None if the model decides by itself."""
        if self.decision["rule"] == OWN_RULE:
            return None
        settings = {key: value for key, value in self.decision.items() if key not in DECISION_SETTINGS}
        return find_rule(self.decision["rule"])(**settings)

    @property
    def probabilities(self) -> Any:
        """The curve that turns scores into calibrated probabilities, by default "auto"; None for none."""
        return None if (given := self.decision.get("probabilities", "auto")) == "none" else given


@cache
def methods_for_any_numbers() -> tuple[str, ...]:
    """The methods of the catalogue that learn from documents with negative values, the default first."""
    names = [DEFAULT_METHOD, *(name for name in METHODS if name != DEFAULT_METHOD)]
    return tuple(name for name in names if not Recipe.of(name).needs_counts)


def _without_tf_idf(decided: DecidedModel) -> DecidedModel:
    return decided.set_everywhere("tf", "raw").set_everywhere("idf", "none")


def build_member(method: str, with_rule: bool = False) -> MultiLabelModel:
    """A method as a member of an ensemble: its model, its weighting and, with `with_rule`, its decision rule.

    All members learn from the ensemble's counts, so a method's own features and selection are ignored.
    """
    from manylabel.decisions.decided import DecidedModel
    from manylabel.features import Weighting
    from manylabel.strategies.weighted_member import WeightedMember

    recipe = Recipe.of(method)
    model, rule = recipe.build_model(), recipe.build_rule() if with_rule else None
    weighting = Weighting(**recipe.weighting) if recipe.weighting else None
    return WeightedMember(model if rule is None else DecidedModel(model, rule), weighting)


def _settings_by_section(overrides: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """A copy of settings by section; an error unless they are such."""
    for section, values in overrides.items():
        if section not in SECTIONS:
            raise UnknownNameError("section of a recipe", section, SECTIONS)
        if not isinstance(values, Mapping):
            raise not_settings(section, values)
    return {section: dict(values) for section, values in overrides.items()}


def with_metric(overrides: Mapping[str, Mapping[str, Any]], metric: str | None) -> dict[str, dict[str, Any]]:
    """The settings, changed so that the decision rule, and other open choices of a method, are made for a metric.

    >>> with_metric({"model": {"C": 0.5}}, "macro-f1")
    {'model': {'C': 0.5}, 'decision': {'rule': 'best', 'metric': 'macro-f1'}}
    """
    settings = _settings_by_section(overrides)
    if metric is None:
        return settings
    from manylabel.metrics.targets import find_target_metric

    decision = settings.setdefault("decision", {})
    if decision.get("rule", BEST_RULE) != BEST_RULE:
        raise ParameterError(
            f"The metric {metric} already chooses the decision rule. "
            f"Give the metric or the rule {decision['rule']!r}, not both."
        )
    wanted = find_target_metric(metric).name
    if decision.get("metric", wanted) != wanted:
        raise ParameterError(f"The metric is {metric} and decision.metric is {decision['metric']}. Give one of them.")
    decision.update({"rule": BEST_RULE, "metric": wanted})
    return settings
