"""Model files: what goes in comes out, and nothing else can."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file
from scipy import sparse

from manylabel import TextClassifier, load_corpus
from manylabel.catalog import METHODS
from manylabel.exceptions import MissingDataError, ModelFileError
from manylabel.features import Vectorizer
from manylabel.modelfile import load, open_model, save

pytestmark = pytest.mark.filterwarnings("ignore::manylabel.models.pmm_base.UnlabelledDocumentsWarning")


@pytest.fixture(scope="module")
def letters():
    return load_corpus("townhall").corpus.split("train").subset(range(150))


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("method", METHODS)
def test_save_then_load_is_the_identity(method: str, letters, tmp_path: Path) -> None:
    model = TextClassifier(method).fit(letters.texts, letters.label_sets)
    path = tmp_path / "m.manylabel"
    model.save(path)
    again = TextClassifier.load(path)
    assert again.predict(letters.texts) == model.predict(letters.texts)
    np.testing.assert_array_equal(again.predict_scores(letters.texts), model.predict_scores(letters.texts))
    assert again.recipe == model.recipe
    assert again.thresholds == model.thresholds
    again.save(tmp_path / "again.manylabel")
    assert (tmp_path / "again.manylabel").read_bytes() == path.read_bytes()


def test_any_safetensors_library_can_read_the_arrays(letters, tmp_path: Path) -> None:
    path = tmp_path / "m.manylabel"
    TextClassifier("nb-binary").fit(letters.texts, letters.label_sets).save(path)
    with safe_open(str(path), framework="np") as opened:
        assert json.loads(opened.metadata()["manylabel"])["format"] == 1
        for name in opened.keys():  # noqa: SIM118 - a safetensors file is no mapping
            np.testing.assert_array_equal(opened.get_tensor(name), open_model(path).array(name))


def test_arrays_are_mapped_not_read(letters, tmp_path: Path) -> None:
    path = tmp_path / "m.manylabel"
    TextClassifier("nb-binary").fit(letters.texts, letters.label_sets).save(path)
    opened = open_model(path, verify=False)
    name = max(opened.places, key=lambda key: np.prod(opened.places[key][1]))
    array = opened.array(name)
    assert not array.flags.owndata
    assert not array.flags.writeable


def test_values_of_every_kind_come_back(tmp_path: Path) -> None:
    vectorizer = Vectorizer(ngram_range=(1, 2), stop_words=["a", "b"]).fit(["late bus", "bad road"])
    facts = {
        "words": [f"word {i}" for i in range(100)] + ["", "日本語", "\ud800", "a\nb"],
        "nothing": None,
        "numbers": [1, 2.5, float("inf"), float("-inf"), True],
        "pair": (1, ("x",)),
        "matrix": sparse.csr_array(np.array([[0, 1.5], [0, 0]])),
        "empty": np.zeros((0, 3)),
        "scalar": np.float32(0.5),
    }
    save(vectorizer, tmp_path / "v", facts)
    opened = open_model(tmp_path / "v")
    found = opened.facts
    assert {key: found[key] for key in ("words", "nothing", "numbers", "pair", "scalar")} == {
        key: facts[key] for key in ("words", "nothing", "numbers", "pair", "scalar")
    }
    np.testing.assert_array_equal(found["matrix"].toarray(), facts["matrix"].toarray())
    assert found["empty"].shape == (0, 3)
    again = opened.load()
    assert again.get_params() == vectorizer.get_params()
    assert again.terms_ == vectorizer.terms_  # type: ignore[attr-defined]


def test_code_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot hold function"):
        save(Vectorizer().fit(["a bus"]), tmp_path / "v", {"code": lambda: None})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["os.system", "TextClassifier.__init__", "Popen", ""])
def test_a_file_cannot_name_a_class_that_is_not_ours(name: str, tmp_path: Path) -> None:
    header = {
        "format": 1, "manylabel": "0", "numpy": "0", "facts": {}, "sha256": {},
        "tree": {"@object": name, "params": {}, "state": {}},
    }  # fmt: skip
    save_file({"x": np.zeros(1)}, str(tmp_path / "bad"), metadata={"manylabel": json.dumps(header)})
    with pytest.raises(ModelFileError, match="unknown class"):
        load(tmp_path / "bad")


@pytest.mark.parametrize("state", [{"fit": 1}, {"__class__": 1}, {"_secret_": 1}])
def test_a_file_cannot_overwrite_methods(state: dict[str, int], tmp_path: Path) -> None:
    header = {
        "format": 1, "manylabel": "0", "numpy": "0", "facts": {}, "sha256": {},
        "tree": {"@object": "Threshold", "params": {}, "state": state},
    }  # fmt: skip
    save_file({"x": np.zeros(1)}, str(tmp_path / "bad"), metadata={"manylabel": json.dumps(header)})
    with pytest.raises((ModelFileError, ValueError)):
        load(tmp_path / "bad")


def test_impossible_sparse_matrices_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "v"
    save(Vectorizer().fit(["a bus"]), path, {"m": sparse.csr_array(np.eye(3))})
    opened = open_model(path, verify=False)
    _, _, start = opened.places["facts.m.indices"]
    content = bytearray(path.read_bytes())
    content[start : start + 4] = np.int32(77).tobytes()
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="impossible sparse matrix"):
        _ = open_model(path, verify=False).facts
    with pytest.raises(ModelFileError, match="checksum"):
        _ = open_model(path).facts


def test_other_files_are_not_models(tmp_path: Path) -> None:
    for content in (b"", b"PK\x03\x04 zip", b"\x80\x04 pickled", b"\xff" * 64, (10**6).to_bytes(8, "little") + b"{}"):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(ModelFileError, match="other: cannot load"):
            open_model(tmp_path / "other")
    with pytest.raises(MissingDataError, match="no such model file"):
        open_model(tmp_path / "nowhere")
    save_file({"x": np.zeros(1)}, str(tmp_path / "foreign"))
    with pytest.raises(ModelFileError, match="header cannot be read"):
        open_model(tmp_path / "foreign")


def test_a_later_format_is_refused_with_both_numbers(tmp_path: Path) -> None:
    save_file({"x": np.zeros(1)}, str(tmp_path / "later"), metadata={"manylabel": json.dumps({"format": 2})})
    with pytest.raises(ModelFileError, match="format 2 and this version reads 1"):
        open_model(tmp_path / "later")
