"""Model files forged with correct checksums: refused with a sentence, or harmless. Nothing crashes, hangs or allocates.

Every array of every method's model is changed in turn: values far outside their range, other types, other shapes.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load as read_arrays

from forging import Arrays, forge
from manylabel import TextClassifier, load_corpus
from manylabel.catalog import METHODS
from manylabel.exceptions import ManylabelError

FORGERIES_PER_METHOD = 25


def other_values(array: np.ndarray[Any, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """An array like another one, but for its values, its type or its shape."""
    changed = array.copy().ravel()
    how = int(rng.integers(7))
    if how == 0 and changed.size:
        far = [-1, 10**9, -(2**31), 77] if changed.dtype.itemsize >= 4 else [0, 1, 77]
        changed[rng.integers(changed.size)] = rng.choice(far)
    elif how == 1:
        changed = changed[: len(changed) // 2]
    elif how == 2:
        changed = np.concatenate([changed, changed])
    elif how == 3 and changed.dtype.itemsize <= 8 and changed.dtype.kind in "iu":
        changed = changed.astype(rng.choice(["u1", "u2", "u4", "u8", "i2", "f8"]))
    elif how == 4 and changed.dtype.kind == "f":
        changed[:] = rng.choice([np.nan, np.inf, -np.inf, 1e300])
    elif how == 5:
        return changed.reshape(1, -1)
    else:
        changed = changed[rng.permutation(len(changed))]
    return changed.reshape(array.shape) if changed.size == array.size else changed


@pytest.mark.usefixtures("patient")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", METHODS)
def test_forged_arrays_are_refused_or_harmless(method: str, tmp_path: Path) -> None:
    corpus = load_corpus("townhall").corpus.split("train").subset(range(60))
    path = tmp_path / "m"
    TextClassifier(method).fit(corpus.texts, corpus.label_sets).save(path)
    names, rng = sorted(read_arrays(path.read_bytes())), np.random.default_rng(0)
    for _ in range(FORGERIES_PER_METHOD):
        name = names[int(rng.integers(len(names)))]

        def change(header: dict[str, Any], arrays: Arrays, name: str = name) -> None:
            arrays[name] = other_values(arrays[name], rng)

        forged = forge(path, tmp_path / "forged", change)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = TextClassifier.load(forged)
                model.predict(corpus.texts[:3])
                model.predict(corpus.texts)
                model.predict_scores(corpus.texts[:3])
            except ManylabelError:
                continue
