"""Recipes as TOML: what is written is read back, and mistakes are named with their file."""

from pathlib import Path

import pytest

from manylabel.catalog import METHODS
from manylabel.cli.settings import read_recipe
from manylabel.exceptions import DataError, ParameterError
from manylabel.recipe import Recipe


@pytest.mark.parametrize("method", list(METHODS))
def test_every_preset_survives_being_written(method: str) -> None:
    recipe = Recipe.of(method)
    assert Recipe.from_toml(recipe.to_toml()) == recipe


def test_values_of_all_kinds_survive() -> None:
    recipe = Recipe.of(
        "svm",
        {
            "features": {"ngram_range": (1, 2), "stemmer": None, "fields": ("title", "*"), "min_df": 0.01},
            "selection": {"function": "chi2", "k": 500},
            "model": {"C": 1e-05},
            "decision": {"rule": "threshold", "value": float("-inf"), "fallback": None},
        },
    )
    assert Recipe.from_toml(recipe.to_toml()) == recipe
    assert recipe.features["stemmer"] is None
    assert recipe.decision["fallback"] == "none"


def test_a_quoted_sign_survives() -> None:
    recipe = Recipe.of("rules", {"features": {"rules": {'a "b" \x7f é\n': "bus OR tram"}}})
    assert Recipe.from_toml(recipe.to_toml()) == recipe


def test_settings_of_the_model_inside_survive() -> None:
    recipe = Recipe.of("svm-undersampled", {"model": {"inner.C": 0.5, "ratio": 0.2}})
    assert Recipe.from_toml(recipe.to_toml()) == recipe


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("method = ", "not TOML"),
        ('method = "svn"', "Did you mean 'svm'"),
        ('method = "svm"\n[modle]\nC = 1', "Did you mean 'model'"),
        ('method = "svm"\n[model]\nc = 1', "Did you mean 'C'"),
        ("[model]\nC = 1", "names its method"),
    ],
)
def test_mistakes_are_named_with_their_file(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "best.toml"
    path.write_text(text)
    with pytest.raises(DataError, match=said) as raised:
        read_recipe(path)
    assert str(path) in str(raised.value)


def test_a_recipe_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such recipe"):
        read_recipe(tmp_path / "absent.toml")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("method = 'nb'\n[features]\nmin_df = " + "[" * 1500 + "]" * 1500, "nested more than 100 deep"),
        ("method = 'svm'\nfeatures = 0.5\n", r"features holds settings by name, such as .*, not 0.5"),
        ("method = 5\n", "A recipe names its method"),
        ("method = 'svm'\n[decision]\nrule = {a = 1}\n", "Unknown decision rule"),
        ("method = 'svm'\nfeatures = 9" + "9" * 5000, "This is not TOML"),
    ],
)
def test_recipes_that_are_none(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(text)
    with pytest.raises(DataError, match=f"recipe.toml: .*{sentence}"):
        read_recipe(path)


@pytest.mark.parametrize(
    ("method", "settings"),
    [("svm-tuned", {"grid_C": ("a",)}), ("svm-tuned", {"grid_J": (float("nan"),)}), ("svm", {"C": 10**400})],
)
def test_values_of_another_type_are_refused(method: str, settings: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match="must be"):
        Recipe.of(method, {"model": settings}).build_model().check_parameters()
