"""Encoders with real weights, where their packages are installed: `make encoders` sets up an environment with them."""

import subprocess
import sys

import numpy as np
import pytest

from manylabel import TextClassifier, load_corpus
from manylabel.features.encoders import find_folder, installed_encoders, load_encoder
from manylabel.tasks.encoders import distil

TEXTS = ["The bus was late again.", "The tram did not come on time.", "Please mend the hole in my street."]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYLABEL_HOME", str(tmp_path / "home"))


def installed(name):
    pytest.importorskip("tokenizers", reason="needs manylabel[static]: make encoders")
    if name not in installed_encoders():
        pytest.skip(f"the weights of {name} are not installed: make encoders")
    return name


def similarities(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


def test_wordllama_knows_that_a_tram_is_like_a_bus():
    encoder = load_encoder(installed("wordllama"))
    found = similarities(encoder.encode(TEXTS))
    assert encoder.encode(TEXTS).shape == (3, 256)
    assert found[0, 1] > found[0, 2]


def test_wordllama_gains_with_a_hundred_letters():
    encoder = installed("wordllama")
    corpus = load_corpus("townhall").corpus
    few, test = corpus.split("train").subset(range(100)), corpus.split("test")
    plain = TextClassifier().fit(few.texts, few.label_sets).score(test.texts, test.label_sets)
    model = TextClassifier(encoder=encoder).fit(few.texts, few.label_sets)
    assert model.score(test.texts, test.label_sets) > plain - 0.003
    assert model.predict(test.texts[:1]) == model.predict(test.texts[:20])[:1]


def test_static_vectors_are_those_of_model2vec(tmp_path):
    model2vec = pytest.importorskip("model2vec", reason="make encoders")
    pytest.importorskip("model2vec.distill", reason="make encoders")
    folder = find_folder(installed("all-minilm-l6-v2"))
    distil(folder, tmp_path / "static", 64)
    own = load_encoder(tmp_path / "static").encode(TEXTS)
    theirs = model2vec.StaticModel.from_pretrained(tmp_path / "static").encode(TEXTS)
    assert own / np.linalg.norm(own, axis=1, keepdims=True) == pytest.approx(theirs, abs=2e-3)


def test_a_sentence_encoder_is_loaded_without_the_network():
    pytest.importorskip("sentence_transformers", reason="make encoders")
    folder = find_folder(installed("all-minilm-l6-v2"))
    program = (
        "import socket, sys\n"
        "def refuse(*arguments): raise AssertionError('a connection was opened')\n"
        "socket.socket.connect = refuse\n"
        "from manylabel.features.encoders import load_encoder\n"
        "print(load_encoder(sys.argv[1]).encode(['late bus']).shape)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "(1, 384)", done.stderr
