"""Recipes as TOML: what is written is read back, and mistakes are named with their file."""

from pathlib import Path

import pytest

from manylabel.catalog import METHODS
from manylabel.exceptions import DataError
from manylabel.recipe import Recipe, read_recipe


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
