"""Train a small model with every method and keep the files: later releases must read them (tests/unit/test_upgrade.py).

Run ``python -m release.models`` once for each release. It writes tests/models/VERSION: a model file by method, and
answers.json, what each of them answers for some texts.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

from manylabel import TextClassifier, __version__
from manylabel.catalog import METHODS

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "models"
WORDS = {
    "buses": "bus stop driver timetable fare",
    "parks": "park tree lawn bench flower",
    "roads": "road hole asphalt traffic car",
}
FURTHER: dict[str, dict[str, Any]] = {
    "word-pairs": {"method": "svm", "features": {"ngram_range": [1, 2], "stop_words": "english"}},
    "characters": {"method": "svm", "features": {"analyzer": "char_wb", "ngram_range": [3, 3]}},
    "hashed": {"method": "nb", "features": {"n_hashes": 256}},
    "selected": {"method": "nb-binary", "selection": {"function": "chi2", "k": 10}},
    "macro-f1": {"method": "auto", "metric": "macro-f1"},
}
"""By the name of the file, models with more than their method chosen."""


def letters() -> tuple[list[str], list[list[str]]]:
    """Thirty short texts with one or two labels each."""
    drawn, names = random.Random(0), list(WORDS)
    label_sets = [sorted(drawn.sample(names, 1 + number % 2)) for number in range(30)]
    texts = [" ".join(drawn.choices(" ".join(WORDS[name] for name in labels).split(), k=7)) for labels in label_sets]
    return texts, label_sets


def main() -> int:
    """Write the folder of this version."""
    texts, label_sets = letters()
    asked = [*texts[:3], "A late bus at the park.", "Nothing known."]
    folder = FOLDER / __version__
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    answers: dict[str, Any] = {"texts": asked, "models": {}}
    for name, settings in {**{method: {"method": method} for method in METHODS}, **FURTHER}.items():
        with warnings.catch_warnings(action="ignore"):  # some methods want more documents than these
            model = TextClassifier(**settings).fit(texts, label_sets)
        model.save(folder / f"{name}.manylabel")
        answers["models"][name] = {"labels": model.predict(asked), "scores": model.predict_scores(asked).tolist()}
    (folder / "answers.json").write_text(json.dumps(answers, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
