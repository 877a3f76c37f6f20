"""From options and recipe files to the settings of a method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manylabel.cli.options import Curve


def with_recipe(
    recipe: Path | None, method: str | None, overrides: dict[str, dict[str, Any]]
) -> tuple[str | None, dict[str, dict[str, Any]]]:
    """The method and settings of a recipe file with `overrides` applied; without a file, the arguments as they are."""
    if recipe is None:
        return method, overrides
    from manylabel.exceptions import ParameterError

    if method is not None:
        raise ParameterError("A recipe names its method: give --recipe or --method, not both.")
    written = read_recipe(recipe)
    named = written.pop("method")
    rule = overrides.get("decision", {}).get("rule", written["decision"]["rule"])
    if rule != written["decision"]["rule"]:
        written["decision"] = {}  # another rule has other settings
    return named, {section: {**settings, **overrides.get(section, {})} for section, settings in written.items()}


def read_recipe(path: Path) -> dict[str, Any]:
    """The recipe in a file as plain data; errors name the file."""
    from manylabel.data.textfile import read_bytes
    from manylabel.exceptions import DataError, ManylabelError
    from manylabel.recipe import Recipe

    if not path.exists():
        raise DataError("There is no such recipe file.", path=path, remedy="`compare` and `tune` print one to save.")
    try:
        text = read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n")
        return Recipe.from_toml(text).as_dict()
    except UnicodeDecodeError:
        raise DataError(
            "This is not a recipe: the file is not UTF-8 text.", path=path, remedy="`compare` prints one."
        ) from None
    except ManylabelError as error:
        raise DataError(str(error), path=path) from error
    except ValueError as error:
        raise DataError(f"This is not TOML: {error}.", path=path) from error
    except RecursionError:
        raise DataError("This is not a recipe: its values are nested too deeply.", path=path) from None


def make_overrides(
    setting: list[str] | None,
    rules: Path | None,
    metric: str | None = None,
    encoder: str | None = None,
    vectors: str | None = None,
) -> dict[str, dict[str, Any]]:
    """The settings that ``--set``, ``--rules``, ``--metric`` and ``--encoder`` change."""
    from manylabel.exceptions import ParameterError
    from manylabel.recipe import with_metric
    from manylabel.setting_values import parse_settings

    overrides = with_metric(parse_settings(setting or []), metric)
    if rules is not None:
        overrides.setdefault("features", {})["rules"] = str(rules)
    if encoder is not None and vectors is not None:
        raise ParameterError("--encoder computes vectors, --vectors brings ready ones. Give one of them.")
    if encoder is not None:
        overrides.setdefault("features", {})["encoder"] = encoder
    return overrides


def with_guarantee(
    overrides: dict[str, dict[str, Any]], guarantee: str | None, probabilities: Curve | None
) -> dict[str, dict[str, Any]]:
    """The settings with those of ``--guarantee`` and ``--probabilities`` added."""
    if guarantee is not None:
        from manylabel.exceptions import ParameterError

        metric, equals, level = (piece.strip() for piece in guarantee.partition("="))
        try:
            guaranteed: dict[str, Any] = {"rule": "guarantee", "metric": metric, "level": float(level)}
        except ValueError:
            guaranteed = {}
        if metric not in ("recall", "fdr") or not equals or not guaranteed:
            raise ParameterError(f"--guarantee is written recall=0.9 or fdr=0.2, not {guarantee!r}.")
        if not 0 < guaranteed["level"] < 1:
            percent = guaranteed["level"] / 100
            meant = f"{percent:g}" if 0.01 < percent < 1 else "0.9" if metric == "recall" else "0.2"
            raise ParameterError(
                f"--guarantee {guarantee}: the level is a fraction above 0 and below 1. Write {metric}={meant}."
            )
        if overrides.get("decision", {}).get("rule", "guarantee") != "guarantee":
            raise ParameterError(
                "--guarantee is a decision rule of its own: give it without --metric and without --set decision.rule=…."
            )
        overrides.setdefault("decision", {}).update(guaranteed)
    if probabilities is not None:
        overrides.setdefault("decision", {})["probabilities"] = probabilities.value
    return overrides
