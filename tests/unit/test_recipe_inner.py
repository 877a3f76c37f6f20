"""Settings of a strategy and of the model inside it, in one section of a recipe."""

from typing import Any

import pytest

from manylabel.exceptions import UnknownNameError
from manylabel.recipe import Recipe
from manylabel.setting_values import parse_settings


def built(method: str, **settings: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    model: Any = Recipe.of(method, {"model": settings}).build_model()
    return model.get_params(deep=False), model.model.get_params()


def test_a_name_of_the_inner_model_reaches_it() -> None:
    outer, inner = built("mnb-vw-ecc", n_chains=3, n_bins=4)
    assert (outer["n_chains"], inner["n_bins"]) == (3, 4)


def test_threads_and_seed_are_passed_on() -> None:
    outer, inner = built("svm-smote", n_jobs=2)
    assert outer["n_jobs"] == inner["n_jobs"] == 2
    outer, inner = built("svm-smote", seed=7)
    assert inner["seed"] == 7
    assert outer.get("seed", 7) == 7


def test_inner_names_the_model_inside_alone() -> None:
    outer, inner = built("svm-smote", n_jobs=2, **{"inner.n_jobs": 1, "inner.C": 0.5})
    assert (outer["n_jobs"], inner["n_jobs"], inner["C"]) == (2, 1, 0.5)


def test_on_the_command_line_and_in_toml() -> None:
    said = Recipe.of("svm-smote", parse_settings(["model.inner.C=0.5", "model.ratio=0.2"]))
    written = Recipe.from_toml('method = "svm-smote"\n[model]\nratio = 0.2\ninner.C = 0.5\n')
    assert said == written == Recipe.from_dict(said.as_dict())
    assert said.model["inner.C"] == 0.5


def test_unknown_names_are_answered() -> None:
    with pytest.raises(UnknownNameError, match="n_bins"):
        Recipe.of("mnb-vw-cc", {"model": {"inner.n_bin": 3}})
    with pytest.raises(UnknownNameError, match=r"inner\.C"):
        Recipe.of("svm", {"model": {"inner.C": 3}})


def test_unknown_names_are_listed_up_to_a_limit() -> None:
    few = str(UnknownNameError("method", "svn", ["nb", "svm"]))
    assert few == "Unknown method: 'svn'. Did you mean 'svm'? Known: nb, svm."
    assert str(UnknownNameError("option", "colour", ())) == "Unknown option: 'colour'. Known: none."
    many = str(UnknownNameError("label", "zzz", (f"label{number:04}" for number in range(5000))))
    assert many.endswith("label0053 … (5,000 in all).")
