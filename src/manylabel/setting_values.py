"""Settings as text: values in TOML, and ``section.key=value`` assignments."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from manylabel.exceptions import ParameterError
from manylabel.wording import shown

INNER = "inner."
"""Prefix of settings for the model inside a strategy."""
EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "features": {"min_df": 2},
    "selection": {"function": "chi2", "k": 1000},
    "weighting": {"tf": "binary"},
    "model": {"C": 0.5},
    "decision": {"rule": "top-k", "k": 3},
}
"""Settings of each section, for messages."""
OWN_MODEL = "A model of your own reads a matrix: make_pipeline(Vectorizer(), Weighting(), model)."
"""What to do with an estimator where settings or a method are expected; the other two are in manylabel.features."""


def not_settings(section: str, given: object) -> ParameterError:
    """The error for a section whose settings are not given by name."""
    own = f" {OWN_MODEL}" if section == "model" and not isinstance(given, (str, int, float)) else ""
    return ParameterError(f"{section} holds settings by name, such as {EXAMPLES[section]}, not {shown(given)}.{own}")


def with_tuples(value: Any) -> Any:
    """The value with TOML's arrays as tuples, the form settings take."""
    if isinstance(value, dict):
        return {key: with_tuples(item) for key, item in value.items()}
    return tuple(with_tuples(item) for item in value) if isinstance(value, list) else value


def toml_key(key: str) -> str:
    """The name of a setting as TOML writes it; what is after ``inner.`` is a key of a table."""
    parts = key.split(".") if key.startswith(INNER) else [key]
    return ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else toml_value(part) for part in parts)


def toml_value(value: Any) -> str:
    """The value in TOML. Strings are written as in JSON, except for character 127, which TOML escapes."""
    if value is None:
        return '"none"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_key(key)} = {toml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value.item() if hasattr(value, "item") else value)


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
                f"A setting is written section.key=value, for example model.C=0.5 or features.min_df=2, not "
                f"{assignment!r:.200}. The sections are features, selection, weighting, model and decision."
            )
        settings.setdefault(section, {})[key] = parse_value(text)
    return settings


def parse_value(text: str) -> Any:
    """The TOML value of a text, with a list as a tuple; anything else is taken as a string.

    >>> parse_value("0.5"), parse_value("true"), parse_value("none"), parse_value("top-k")
    (0.5, True, None, 'top-k')
    """
    word = text.strip()
    if word.lower() == "none":
        return None
    try:
        value = tomllib.loads(f"value = {word}")["value"]
    except (ValueError, RecursionError):  # no TOML, a number of thousands of digits, or nested too deeply
        return word
    return tuple(value) if isinstance(value, list) else value
