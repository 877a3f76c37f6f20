"""The one list of decision rules by name; a rule's module is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from manylabel.exceptions import UnknownNameError
from manylabel.wording import settings_text, shown

if TYPE_CHECKING:
    from manylabel.decisions.base import DecisionRule

RULES: Mapping[str, str] = {
    "natural": "manylabel.decisions.natural:Natural",
    "threshold": "manylabel.decisions.threshold:Threshold",
    "global": "manylabel.decisions.threshold:GlobalThreshold",
    "per-label": "manylabel.decisions.per_label:PerLabelThreshold",
    "micro-macro": "manylabel.decisions.micro_macro:MicroMacroThreshold",
    "top-k": "manylabel.decisions.top_k:TopK",
    "accumulated-posterior": "manylabel.decisions.accumulated_posterior:AccumulatedPosterior",
    "proportional": "manylabel.decisions.proportional:Proportional",
    "seen-sets": "manylabel.decisions.seen_sets:SeenSets",
    "guarantee": "manylabel.decisions.guarantee:Guarantee",
    "calibrated": "manylabel.decisions.calibrated:CalibratedThreshold",
    "best": "manylabel.decisions.best_rule:BestRule",
}


def find_rule(name: str) -> type[DecisionRule]:
    """The class of a rule; the error about an unknown name suggests the nearest one.

    >>> find_rule("top-k")
    <class 'manylabel.decisions.top_k.TopK'>
    """
    if not isinstance(name, str) or name not in RULES:
        raise UnknownNameError("decision rule", name if isinstance(name, str) else shown(name), RULES)
    module, _, attribute = RULES[name].partition(":")
    found: type[DecisionRule] = getattr(import_module(module), attribute)
    return found


def rule_hint(name: str) -> str:
    """How to choose the rule of this name, or a rule that has a setting of this name; empty where there is none.

    >>> rule_hint("threshold")
    "It is a decision rule: decision={'rule': 'threshold'}, with the settings value, fallback."
    >>> rule_hint("k")
    "It is a setting of another decision rule: decision={'rule': 'top-k'}."
    """
    if name in RULES:
        settings = ", ".join(find_rule(name).parameter_defaults())
        more = f", with the settings {settings}" if settings else ""
        return f"It is a decision rule: {settings_text(**{'decision.rule': name})}{more}."
    rules = [rule for rule in RULES if name in find_rule(rule).parameter_defaults()]
    if not rules:
        return ""
    return f"It is a setting of another decision rule: {settings_text(**{'decision.rule': rules[0]})}."
