"""The reference of recipes: every setting of every section, with its default and the values it may have."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from docs.generate.api import filled, linker, parameter_texts
from docs.generate.prose import code, first_line, inline
from manylabel.catalog import METHODS, find_class
from manylabel.decisions.table import RULES, find_rule
from manylabel.features import TermSelector, Vectorizer, Weighting
from manylabel.features.reading import CHOSEN_BY_TEXTS
from manylabel.setting_values import toml_value

ADDRESS = linker("../")
INTRO = """\
# Recipes

A recipe is a whole pipeline as plain settings: a method, and five tables of settings that change it. On the command
line `--set section.key=value` changes one setting, `--recipe FILE` reads a recipe in TOML, and `compare`, `tune` and
`inspect` print one. In Python the sections are arguments of
[`TextClassifier`](api/manylabel.md#manylabel.TextClassifier).

```toml
method = "svm"

[features]
min_df = 2
ngram_range = [1, 2]

[selection]
function = "chi2"
k = 5000

[model]
C = 0.5

[decision]
rule = "per-label"
```

Values are written as in TOML; on the command line a bare word is a string. `"none"` stands for Python's `None`, which
TOML does not have. An unknown key is an error that names the
nearest known one. Each [method](../methods.md) lists the settings that it changes itself.

"""
PRESET = {"features": CHOSEN_BY_TEXTS}
RULES_TEXT = """
Two further keys: `rules`, keyword rules as the path of a file or as a table of labels and queries, and `rules_effect`,
`"give"` (a match assigns the label) or `"require"` (a label needs a match).
"""


def pages() -> dict[str, str]:
    """The page of recipe keys."""
    parts = [INTRO, "## method\n\nThe name of a [method](../methods.md).\n"]
    for section, owner, more in (
        ("features", Vectorizer, RULES_TEXT),
        ("selection", TermSelector, "\nWithout settings, all terms are kept.\n"),
        ("weighting", Weighting, ""),
    ):
        parts.append(f"## {section}\n\n{_owner(owner)}\n{settings(owner, PRESET.get(section, {}))}{more}")
    parts.append(_models())
    parts.append(_rules())
    return {"reference/recipes.md": "\n".join(parts)}


def _owner(owner: type) -> str:
    return inline(f"{first_line(owner.__doc__)} See `{owner.__name__}`.\n", ADDRESS)


def settings(owner: Any, preset: Mapping[str, Any] = MappingProxyType({})) -> str:
    """The parameters of an estimator as settings: default and allowed values as in TOML, and what they do.

    `preset` has the defaults that recipes set themselves.
    """
    texts = parameter_texts(owner)
    rows = [
        [
            code(name),
            code(toml_value(preset.get(name, default))),
            inline(str(owner.parameter_constraints.get(name, "")), ADDRESS),
            inline(texts.get(name, ""), ADDRESS),
        ]
        for name, default in owner.parameter_defaults().items()
        if name not in ("model", "members", "others", "rule")
    ]
    return filled(["setting", "default", "allowed", "what it does"], rows)


def _models() -> str:
    """The settings of every class that the catalogue names, once each."""
    users: dict[str, list[str]] = {}
    for row in METHODS.values():
        for path in (row.model, row.inner):
            if path:
                users.setdefault(path, []).append(f"[`{row.name}`](../catalogue/{row.name}.md)")
    parts = [
        "## model\n\nThe settings of the method's model. A strategy over another model takes the settings of both; "
        "`inner.` before a name means the model inside alone, and `base` puts the model of another method inside.\n"
    ]
    for path, methods in users.items():
        owner: Any = find_class(path)
        parts.append(f"### {owner.__name__}\n\n{_owner(owner)}\nOf {', '.join(methods)}.\n\n{settings(owner)}")
    return "\n".join(parts)


def _rules() -> str:
    parts = [
        "## decision\n\n`rule` is one of the [decision rules](../decision-rules.md), or `own`: the method decides by "
        'itself. `probabilities` is the curve that shows scores as probabilities: `"auto"`, `"logistic"`, `"isotonic"` '
        'or `"none"`. '
        "The other keys are those of the rule.\n"
    ]
    for name in RULES:
        rule: Any = find_rule(name)
        parts.append(f"### {name}\n\n{_owner(rule)}\n{settings(rule)}")
    return "\n".join(parts)
