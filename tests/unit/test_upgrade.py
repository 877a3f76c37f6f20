"""Model files of every release load and answer as they did; ``python -m release.models`` wrote them."""

import json
from pathlib import Path

import numpy as np
import pytest

from manylabel import TextClassifier, __version__

RELEASES = sorted(path for path in (Path(__file__).parents[1] / "models").iterdir() if path.is_dir())


def test_this_version_has_its_models() -> None:
    assert __version__ in {folder.name for folder in RELEASES}, "python -m release.models writes them"


@pytest.mark.parametrize("folder", RELEASES, ids=lambda folder: folder.name)
def test_the_models_of_a_release_answer_as_they_did(folder: Path) -> None:
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    assert {path.stem for path in folder.glob("*.manylabel")} == set(answers["models"])
    for name, expected in answers["models"].items():
        model = TextClassifier.load(folder / f"{name}.manylabel")
        assert model.predict(answers["texts"]) == expected["labels"], name
        np.testing.assert_allclose(
            model.predict_scores(answers["texts"]), expected["scores"], rtol=1e-9, atol=1e-12, err_msg=name
        )
