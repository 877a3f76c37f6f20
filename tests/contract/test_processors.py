"""A saved model predicts the same labels on every processor, in any batch, with any number of threads.

OpenBLAS and NumPy pick their vector instructions by the processor. Another one is imitated in a process of its own,
which loads the models that this one fitted; docs/decisions/0016 states what is guaranteed.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manylabel.classifier import TextClassifier
from manylabel.data import load

METHODS = [
    "auto",
    "svm",
    "logistic",
    "nb",
    "nb-app",
    "mnb-vw",
    "knn",
    "rocchio",
    "neural",
    "pmm1",
    "forest",
    "ensemble-stacked",
]
PREDICT = """
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from manylabel import TextClassifier
folder, threads, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
asked, found, scores = json.load(open(f"{folder}/asked.json")), {}, {}
for method in asked["methods"]:
    model = TextClassifier.load(f"{folder}/{method}")
    model.decided_.set_everywhere("n_jobs", threads)
    found[method], scores[method] = model.predict(asked["texts"]), model.predict_scores(asked["texts"])
np.savez(f"{out}.npz", **scores)
json.dump(found, open(f"{out}.json", "w"))
"""
PROCESSORS = {
    "SSE3": ("", {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"}),
    "AVX": ("avx", {"OPENBLAS_CORETYPE": "Sandybridge"}),
    "AVX2": ("avx2", {"OPENBLAS_CORETYPE": "Haswell"}),
    "AVX-512": ("avx512f", {"OPENBLAS_CORETYPE": "SkylakeX"}),
    "one BLAS thread": ("", {"OPENBLAS_NUM_THREADS": "1"}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fitted models, one per method, and the texts to ask them."""
    place = tmp_path_factory.mktemp("models")
    corpus = load("townhall").corpus
    corpus = corpus.subset([row for row, labels in enumerate(corpus.label_sets) if labels][:240])
    train, asked = corpus.subset(range(180)), [*corpus.texts[180:], "", "zzz"]
    for method in METHODS:
        TextClassifier(method, folds=3).fit(train.texts, train.label_sets).save(place / method)
    (place / "asked.json").write_text(json.dumps({"methods": METHODS, "texts": asked}))
    return place


def predictions(folder: Path, name: str, environment: dict[str, str], threads: int = 2) -> tuple[Any, dict[str, Any]]:
    out = folder / name.replace(" ", "-")
    arguments = [sys.executable, "-c", PREDICT, str(folder), str(threads), str(out)]
    subprocess.run(arguments, check=True, env={**os.environ, **environment})
    with np.load(f"{out}.npz") as scores:
        return json.loads(Path(f"{out}.json").read_text()), dict(scores)


@pytest.fixture(scope="module")
def here(folder: Path) -> tuple[Any, dict[str, Any]]:
    return predictions(folder, "here", {})


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="core types can be chosen on x86-64 only")
@pytest.mark.parametrize("name", PROCESSORS)
def test_another_processor_predicts_the_same_labels(name: str, folder: Path, here: tuple[Any, dict[str, Any]]) -> None:
    feature, environment = PROCESSORS[name]
    info = Path("/proc/cpuinfo")
    if feature and (not info.exists() or feature not in info.read_text().split()):
        pytest.skip(f"this processor has no {feature}")
    labels, scores = predictions(folder, name, environment)
    assert labels == here[0]
    for method in METHODS:
        np.testing.assert_allclose(scores[method], here[1][method], rtol=1e-9, atol=1e-12, err_msg=method)


def test_threads_and_batches_change_no_label(folder: Path, here: tuple[Any, dict[str, Any]]) -> None:
    labels, scores = predictions(folder, "one thread", {}, threads=1)
    assert labels == here[0]
    texts = json.loads((folder / "asked.json").read_text())["texts"]
    for method in METHODS:
        np.testing.assert_allclose(scores[method], here[1][method], rtol=1e-12, atol=1e-12, err_msg=method)
        model = TextClassifier.load(folder / method)
        assert [model.predict([text])[0] for text in texts] == labels[method]
        assert model.predict(texts[:20]) + model.predict(texts[20:]) == labels[method]
