"""The candidates of a comparison: methods of the catalogue × features × decision rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manylabel.catalog import DEFAULT_METHOD, METHODS, OWN_RULE, Method, find_method
from manylabel.choosing.fold_work import FoldWork
from manylabel.data.documents import strings
from manylabel.decisions.best_rule import in_words
from manylabel.decisions.table import find_rule
from manylabel.features.languages import guess_language
from manylabel.features.reading import CHOSEN_BY_TEXTS
from manylabel.features.views import VIEWS
from manylabel.metrics.targets import TargetMetric
from manylabel.recipe import Recipe, methods_for_any_numbers

WORDS, STEMS, FIELDS = "words", "stems", "title again"
GIVEN = "as given"
"""The features of documents that are no texts."""
VARIANTS: Mapping[str, tuple[Mapping[str, Any], float]] = {
    WORDS: ({"stemmer": None}, 1.0),
    STEMS: ({"stemmer": "auto"}, 1.0),
    FIELDS: ({"fields": ("title", "*")}, 1.3),
    "word pairs": ({"ngram_range": (1, 2), "min_df": 2}, 1.5),
    "characters": (VIEWS["characters"], 3.0),
}
"""Other ways to count terms, and how many times as many a document has; the first two are the defaults."""
AVERAGED, STACKED = "ensemble", "ensemble-stacked"
BESIDE = ("mnb-vw", "knn")
"""The methods that make an ensemble with a leader: they err on other documents than linear models do."""
FEWEST_STACKED = 1_000
"""The documents from which on a stack is tried before an average: its regressions need documents to learn from."""
TITLE = "title"
BEST = "best"
FIRST = (DEFAULT_METHOD, "svm")
"""Methods that run before cheaper ones, since they are usually the best."""
OVERHEAD = 0.12
"""Nominal seconds of a trial beyond the method's own: matrices, metrics, the comparison with the leader."""
MOST_SETS = 1 << 23
"""Seen label sets × documents beyond which rules that compare all seen sets are not tried: they cost too much."""


@dataclass(frozen=True, slots=True)
class Traits:
    """The size of a comparison's folds, and which texts, fields and hierarchy the documents have."""

    documents: int
    nonzeros: int
    labels: int
    label_sets: int
    has_texts: bool = True
    has_title: bool = False
    has_hierarchy: bool = False
    has_unlabelled: bool = False
    has_stems: bool = False
    """Whether the language of the texts was detected, so that words can be reduced to stems."""
    has_negative: bool = False
    """Whether the documents are numbers of which some are negative, so that methods of counts do not apply."""
    encoder: str | None = None
    """The name or folder of an encoder, whose vectors methods for any numbers read beside the terms."""

    @classmethod
    def of(cls, work: FoldWork, fields: Iterable[str] = ()) -> Traits:
        """The traits of the documents; sizes are those of a fold's training documents, or of all without folds."""
        counts, _ = work.counts(CHOSEN_BY_TEXTS)
        learned = [len(train) for train, _ in work.splits] or [work.Y.shape[0]]
        share = sum(learned) / len(learned) / max(work.Y.shape[0], 1)
        Y = work.Y
        sets = {Y.indices[a:b].tobytes() for a, b in zip(Y.indptr[:-1], Y.indptr[1:], strict=True)}
        named = list(fields)
        return cls(
            documents=round(share * Y.shape[0]),
            nonzeros=round(share * counts.nnz),
            labels=int(Y.shape[1]),
            label_sets=len(sets),
            has_texts=work.has_texts,
            has_title=TITLE in named and len(named) > 1,
            has_hierarchy=work.hierarchy is not None,
            has_negative=work.has_negative,
            has_unlabelled=bool((np.diff(Y.indptr) == 0).any()),
            has_stems=work.has_texts and guess_language(strings(work.documents, None)) is not None,  # type: ignore[arg-type]
        )

    def lacks(self, row: Method) -> str | None:
        """The first requirement of the method that the documents do not meet, in words; None if they meet all."""
        if self.has_negative and row.name not in methods_for_any_numbers():
            return "counts of terms are needed, and these documents have negative values"
        there = {"hierarchy": self.has_hierarchy, "unlabelled": self.has_unlabelled}
        words = {"hierarchy": "no label hierarchy", "unlabelled": "no document without a label"}
        return next((words[need] for need in row.requires if not there[need]), None)


@dataclass(frozen=True, slots=True)
class Option:
    """A whole pipeline: the names of its method, features and rule, and its recipe."""

    method: str
    features: str
    rule: str
    recipe: Recipe

    @property
    def name(self) -> str:
        """Method, features and rule in one line."""
        return f"{self.method} · {self.features} · {self.rule}"


@dataclass(frozen=True, slots=True)
class Entrant:
    """Pipelines that share features, weighting and model, so that one trial scores all of them.

    `name` is the method's, extended where several entrants share a method; `seconds` is the nominal time of one trial.
    """

    name: str
    method: str
    features: str
    options: tuple[Option, ...]
    seconds: float

    @property
    def recipe(self) -> Recipe:
        """A recipe with the features and the model that all options share."""
        return self.options[0].recipe


def entrants(
    methods: Sequence[str] | None, traits: Traits, metric: TargetMetric
) -> tuple[list[Entrant], dict[str, str]]:
    """The entrants for the requested methods (default: all the documents allow), and the reasons of those left out.

    Those of `FIRST` come first, the others by cost. Methods that differ only by their rule share an entrant. A method
    requested by name is never left out.
    """
    left_out: dict[str, str] = {}
    together: dict[str, list[str]] = {}
    for name in dict.fromkeys(methods or METHODS):
        row = find_method(name)
        if methods is None and (missing := traits.lacks(row)) is not None:
            left_out[name] = missing
            continue
        recipe = Recipe.of(name)
        key = (row.model, row.inner, recipe.features, recipe.selection, recipe.weighting, recipe.model)
        together.setdefault(repr(key), []).append(name)
    found = [_entrant(names, traits, metric) for names in together.values()]
    return sorted(found, key=lambda one: (_turn(one), one.seconds)), left_out


def _turn(entrant: Entrant) -> int:
    turns = [FIRST.index(option.method) for option in entrant.options if option.method in FIRST]
    return min(turns, default=len(FIRST))


def variants(option: Option, traits: Traits, metric: TargetMetric) -> list[Entrant]:
    """Entrants that vary a leading pipeline: other features, each also with rule "best"; cheapest first."""
    chosen = {"rule": BEST, "metric": metric.name}
    own = option.recipe.decision
    rules = [own] if own["rule"] == BEST else [own, chosen]
    again = [_varied(option, BEST, option.features, {}, [chosen], traits)] if len(rules) > 1 else []
    missing = {STEMS: not traits.has_stems, FIELDS: not traits.has_title}
    if traits.has_texts:
        for name, (changes, more_terms) in VARIANTS.items():
            if name != option.features and not missing.get(name):
                again.append(_varied(option, name, name, changes, rules, traits, more_terms))
    return again


def ensembles(option: Option, traits: Traits, metric: TargetMetric) -> list[Entrant]:
    """Entrants that combine a leading pipeline with methods that err elsewhere; the one for this size first.

    All members read the leader's terms. None where these are not counts alone, which `BESIDE` needs.
    """
    if traits.encoder is not None or traits.has_negative:
        return []
    row = find_method(option.recipe.method)
    members = tuple(dict.fromkeys((row.members[0] if row.members else row.name, *BESIDE)))
    order = (STACKED, AVERAGED) if traits.documents >= FEWEST_STACKED else (AVERAGED, STACKED)
    found = []
    for name in order:
        recipe = Recipe.of(name, {"model": {"members": members}, "features": option.recipe.features})
        rules = [recipe.decision, {"rule": BEST, "metric": metric.name}, *_other_rules(name, traits, metric)]
        title = f"{name} of {' + '.join(members)}"
        made = {_rule_name(one.decision): one for one in (_with_rule(recipe, rule) for rule in rules)}
        options = tuple(Option(title, option.features, rule, one) for rule, one in made.items())
        found.append(Entrant(title, title, option.features, options, _seconds(recipe, traits)))
    return found


def _seconds(recipe: Recipe, traits: Traits, more_terms: float = 1.0) -> float:
    """The nominal seconds of a trial, of documents with so many times the terms; of other members, their sum."""
    row, members = find_method(recipe.method), tuple(recipe.model.get("members", ()))
    rows = [row] if members == row.members else [find_method(name) for name in members]
    size = traits.documents, round(more_terms * traits.nonzeros), traits.labels
    return OVERHEAD + sum(one.cost.seconds(*size) for one in rows)


def _entrant(names: Sequence[str], traits: Traits, metric: TargetMetric) -> Entrant:
    recipes = [_for_metric(_base(name, traits), metric) for name in names]
    options = {_rule_name(recipe.decision): recipe for recipe in recipes}
    for decision in _other_rules(names[0], traits, metric):
        recipe = _with_rule(_base(names[0], traits), decision)
        options.setdefault(_rule_name(recipe.decision), recipe)
    features = STEMS if traits.has_stems and recipes[0].features.get("stemmer") else WORDS
    features = features if traits.has_texts else GIVEN
    made = tuple(Option(recipe.method, features, rule, recipe) for rule, recipe in options.items())
    return Entrant(names[0], names[0], features, made, max(_seconds(recipe, traits) for recipe in recipes))


def _base(name: str, traits: Traits) -> Recipe:
    """The method's recipe, with stems if the language is known, so that no method wins by its terms alone."""
    recipe = Recipe.of(name)
    features: dict[str, Any] = {}
    if traits.has_stems and not {"stemmer", "tokens"} & recipe.features.keys():
        features |= VARIANTS[STEMS][0]
    if traits.encoder is not None and name in methods_for_any_numbers():
        features["encoder"] = traits.encoder
    return Recipe.of(name, {"features": features}) if features else recipe


def _for_metric(recipe: Recipe, metric: TargetMetric) -> Recipe:
    """The recipe; if its rule is "best", that rule optimises for the metric."""
    if recipe.decision["rule"] != BEST:
        return recipe
    return replace(recipe, decision={**recipe.decision, "metric": metric.name})


def _other_rules(method: str, traits: Traits, metric: TargetMetric) -> list[dict[str, Any]]:
    """The [decision] sections to try besides a method's own."""
    if metric.k is not None:
        return [{"rule": "top-k", "k": metric.k}]
    rules: list[dict[str, Any]] = [{"rule": "global"}, {"rule": "per-label"}]
    if traits.label_sets * traits.documents <= MOST_SETS and metric.name != "macro-f1":
        searched = metric.name if metric.name in ("exact-match", "hamming-loss") else "sample-f1"
        rules.append({"rule": "seen-sets", "metric": searched})
    kind = Recipe.of(method).build_model().score_kind
    return [decision for decision in rules if kind in find_rule(decision["rule"]).accepts]


def _varied(
    option: Option,
    name: str,
    features: str,
    changes: Mapping[str, Any],
    rules: Sequence[Mapping[str, Any]],
    traits: Traits,
    more_terms: float = 1.0,
) -> Entrant:
    plain = option.recipe.as_dict()
    recipe = Recipe.from_dict({**plain, "features": {**plain["features"], **changes}})
    made = (_with_rule(recipe, rule) for rule in rules)
    options = tuple(Option(option.method, features, _rule_name(one.decision), one) for one in made)
    seconds = _seconds(recipe, traits, more_terms)
    return Entrant(f"{option.method} · {name}", option.method, features, options, seconds)


def _with_rule(recipe: Recipe, decision: Mapping[str, Any]) -> Recipe:
    """The recipe with another rule, whose settings are resolved as in the catalogue."""
    return replace(recipe, decision=Recipe.of(recipe.method, {"decision": decision}).decision)


def _rule_name(decision: Mapping[str, Any]) -> str:
    """The rule of a [decision] section in words.

    >>> _rule_name({"rule": "per-label", "shrinkage": 0}), _rule_name({"rule": "own"})
    ('per-label, shrinkage 0', 'own')
    """
    if decision["rule"] == OWN_RULE:
        return OWN_RULE
    rule = Recipe.of(DEFAULT_METHOD, {"decision": dict(decision)}).build_rule()
    return in_words(rule)
