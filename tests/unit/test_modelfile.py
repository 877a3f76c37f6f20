"""Model files: what goes in comes out, and nothing else can."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file
from scipy import sparse

from forging import Arrays, forge, write_model
from manylabel import TextClassifier, load_corpus
from manylabel.catalog import METHODS
from manylabel.exceptions import MissingDataError, ModelFileError
from manylabel.features import Vectorizer
from manylabel.modelfile import FORMAT_VERSION, ModelFile, load, open_model, save
from manylabel.models import LinearSVM
from manylabel.stored import Names
from manylabel.tasks.models import inspect
from smaller import smaller

pytestmark = pytest.mark.filterwarnings("ignore::manylabel.models.pmm_base.UnlabelledDocumentsWarning")


@pytest.fixture(scope="module")
def letters():
    return load_corpus("townhall").corpus.split("train").subset(range(60))


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("method", METHODS)
def test_save_then_load_is_the_identity(method: str, letters, tmp_path: Path) -> None:
    model = smaller(method).fit(letters.texts, letters.label_sets)
    path = tmp_path / "m.manylabel"
    model.save(path)
    again = TextClassifier.load(path)
    assert again.predict(letters.texts) == model.predict(letters.texts)
    np.testing.assert_array_equal(again.predict_scores(letters.texts), model.predict_scores(letters.texts))
    assert again.recipe == model.recipe
    assert again.thresholds == model.thresholds
    again.save(tmp_path / "again.manylabel")
    assert (tmp_path / "again.manylabel").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("method", ["nb", "nb-bernoulli", "nb-complement", "rocchio", "svm"])
def test_models_of_weighted_documents_come_back(method: str, letters, tmp_path: Path) -> None:
    weights = np.linspace(0.5, 2, len(letters.texts))
    model = TextClassifier(method).fit(letters.texts, letters.label_sets, sample_weight=weights)
    model.save(tmp_path / "m")
    again = TextClassifier.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_scores(letters.texts), model.predict_scores(letters.texts))


@pytest.mark.parametrize("sets", [[["a"], ["a"], [], []], [["a"]] * 4], ids=["one label", "one that all have"])
def test_co_training_without_two_labels_to_learn_comes_back(sets: list[list[str]], tmp_path: Path) -> None:
    texts = ["late bus", "a late bus", "bad road", "a bad road"]
    model = TextClassifier("mnb-vwco", single_label=False, folds=2).fit(texts, sets)
    model.save(tmp_path / "m")
    assert TextClassifier.load(tmp_path / "m").predict(texts) == model.predict(texts) == sets


def test_a_name_with_half_a_surrogate_pair_comes_back(tmp_path: Path) -> None:
    model = TextClassifier("nb-binary").fit(["late bus", "bad road"], [["\ud800"], ["roads"]])
    model.save(tmp_path / "m")
    assert TextClassifier.load(tmp_path / "m").labels_ == ["roads", "\ud800"]


def test_long_lists_of_names_in_all_scripts_come_back(tmp_path: Path) -> None:
    names = sorted([*(f"label {number}" for number in range(20)), "é", "日本", "\ud800", "\U0001f68c x", "ÿ", "ä ö"])
    model = TextClassifier("nb-binary").fit(["late bus"] * len(names), [[name] for name in names])
    model.save(tmp_path / "m")
    assert TextClassifier.load(tmp_path / "m").labels_ == names


@pytest.mark.parametrize("names", [["a", "a"], ["b", "a", "b"], ["c", "b", "a", "c"]])
def test_a_name_that_occurs_twice_is_noticed(names: list[str]) -> None:
    assert Names("labels").problem(names, {}) == "holds a string twice"
    assert Names("labels").problem(names[1:], {}) is None


def test_any_safetensors_library_can_read_the_arrays(letters, tmp_path: Path) -> None:
    path = tmp_path / "m.manylabel"
    TextClassifier("nb-binary").fit(letters.texts, letters.label_sets).save(path)
    with safe_open(str(path), framework="np") as opened:
        assert json.loads(opened.metadata()["manylabel"].partition("\n")[2])["format"] == FORMAT_VERSION
        for name in opened.keys():  # noqa: SIM118 - a safetensors file is no mapping
            np.testing.assert_array_equal(opened.get_tensor(name), open_model(path).array(name))


def largest_array(opened: ModelFile) -> str:
    return max(opened.places, key=lambda name: opened.places[name].end - opened.places[name].start)


@pytest.mark.parametrize("private", [False, True])
def test_a_model_in_use_survives_that_its_file_is_truncated(private: bool, letters, tmp_path: Path) -> None:
    """A process that maps a file dies of SIGBUS when the file is truncated and read again."""
    path = tmp_path / "m.manylabel"
    TextClassifier("svm").fit(letters.texts, letters.label_sets).save(path)
    model = TextClassifier.load(path, private=private)
    expected = model.predict_scores(letters.texts)
    with path.open("r+b") as stream:
        stream.truncate(0)
        stream.write(b"x" * 5000)
    np.testing.assert_array_equal(model.predict_scores(letters.texts), expected)
    assert isinstance(cast(LinearSVM, model.decided_.model_).intercept_.base, np.memmap) == private
    with pytest.raises(ModelFileError, match="cannot load"):
        TextClassifier.load(path, private=private)


def test_private_models_are_shared_by_forked_processes(letters, tmp_path: Path) -> None:
    path = tmp_path / "m.manylabel"
    TextClassifier("nb-binary").fit(letters.texts, letters.label_sets).save(path)
    model = TextClassifier.load(path, private=True)
    expected = model.predict_scores(letters.texts)
    path.write_bytes(b"")
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(model.predict_scores(letters.texts), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_file_that_is_replaced_while_it_is_read_is_noticed(letters, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    TextClassifier("nb-binary").fit(letters.texts, letters.label_sets).save(first)
    TextClassifier("nb-binary").fit(letters.texts[1:], letters.label_sets[1:]).save(second)
    opened = open_model(first)
    second.replace(first)
    with pytest.raises(ModelFileError, match="was replaced while it was being read"):
        opened.load()


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


HEADER = {"format": FORMAT_VERSION, "manylabel": "0", "numpy": "0", "facts": {}}


@pytest.mark.parametrize("name", ["os.system", "TextClassifier.__init__", "Popen", "", None, 7, ["Threshold"]])
def test_a_file_cannot_name_a_class_that_is_not_ours(name: Any, tmp_path: Path) -> None:
    tree = {"@object": name, "params": {}, "state": {}}
    with pytest.raises(ModelFileError, match=r"unknown class|do not make a model"):
        load(write_model(tmp_path / "bad", {**HEADER, "tree": tree}))


def test_a_classifier_without_its_state_is_refused(letters, tmp_path: Path) -> None:
    TextClassifier("nb-binary").fit(letters.texts, letters.label_sets).save(tmp_path / "m")
    forged = forge(tmp_path / "m", tmp_path / "forged", lambda header, _: header["tree"].update(state={}))
    with pytest.raises(ModelFileError, match="has learned nothing"):
        TextClassifier.load(forged)


@pytest.mark.parametrize("state", [{"fit": 1}, {"__class__": 1}, {"_secret_": 1}])
def test_a_file_cannot_overwrite_methods(state: dict[str, int], tmp_path: Path) -> None:
    tree = {"@object": "Threshold", "params": {}, "state": state}
    with pytest.raises(ModelFileError, match="is not a learned attribute"):
        load(write_model(tmp_path / "bad", {**HEADER, "tree": tree}))


NESTED: Any = []
for _ in range(800):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    "tree", [None, [], 1, "x", {}, {"@object": "Threshold"}, {"@object": "Threshold", "params": [], "state": 1}, NESTED]
)
def test_a_tree_of_the_wrong_type_is_a_sentence(tree: Any, tmp_path: Path) -> None:
    path = write_model(tmp_path / "bad", {**HEADER, "tree": tree})
    for read in (load, inspect):
        with pytest.raises(ModelFileError, match=r"bad: this (model )?file"):
            read(path)


@pytest.mark.parametrize("header", [b"[]", b"null", b"7", b'"x"', b"[" * 100_000, b'{"a":' * 100_000, b"{}"])
def test_a_header_of_the_wrong_type_is_a_sentence(header: bytes, tmp_path: Path) -> None:
    inner = json.dumps({"__metadata__": {"manylabel": "\n" + header.decode()}}).encode()
    for content in (header, inner):
        (tmp_path / "bad").write_bytes(len(content).to_bytes(8, "little") + content)
        with pytest.raises(ModelFileError, match="bad: cannot load"):
            open_model(tmp_path / "bad")


def test_any_changed_byte_is_noticed(letters, tmp_path: Path) -> None:
    """Single bytes of the length, the header and the arrays, truncated files and files with something added."""
    path = tmp_path / "m"
    TextClassifier("nb-binary").fit(letters.texts, letters.label_sets).save(path)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    end_of_header = 8 + int.from_bytes(content[:8], "little")
    places = [*range(8), *rng.integers(8, end_of_header, 200).tolist(), *rng.integers(8, len(content), 100).tolist()]
    for place in places:
        changed = bytearray(content)
        changed[place] ^= int(rng.integers(1, 256))
        path.write_bytes(changed)
        if changed[place : place + 1].isspace() and content[place : place + 1].isspace():
            continue  # blanks that pad the header
        with pytest.raises(ModelFileError):
            load(path)
    for size in rng.integers(0, len(content), 20).tolist():
        path.write_bytes(content[:size])
        with pytest.raises(ModelFileError):
            load(path)
    path.write_bytes(content + b"0")
    with pytest.raises(ModelFileError, match="cut short or added to"):
        load(path)


def test_swapped_arrays_and_other_types_are_noticed(letters, tmp_path: Path) -> None:
    """The table of arrays is changed, the data are not: names exchanged, and F64 called I64."""
    path = tmp_path / "m"
    TextClassifier("nb-binary").fit(letters.texts, letters.label_sets).save(path)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    table = json.loads(content[8 : 8 + length])
    floats = [name for name, entry in table.items() if entry.get("dtype") == "F64"]

    def write(changed: dict[str, Any]) -> None:
        raw = json.dumps(changed).encode()
        raw += b" " * (-len(raw) % 8)
        path.write_bytes(len(raw).to_bytes(8, "little") + raw + content[8 + length :])

    write({**table, floats[0]: {**table[floats[0]], "dtype": "I64"}})
    with pytest.raises(ModelFileError, match="header cannot be read"):
        load(path)
    pairs = [(a, b) for a in floats for b in floats if a < b and table[a]["shape"] == table[b]["shape"]]
    for one, two in pairs:
        write({**table, one: table[two], two: table[one]})
        with pytest.raises(ModelFileError, match="checksum"):
            load(path)
    assert pairs


@pytest.mark.parametrize("kind", ["undeclared", "overlap", "infinite", "gap"])
def test_arrays_must_fill_the_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "v"
    save(Vectorizer().fit(["a bus"]), path, {"m": np.arange(4.0), "n": np.arange(4.0)})
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    table, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    if kind == "undeclared":
        table["extra"] = {"dtype": "U8", "shape": [8], "data_offsets": [len(data), len(data) + 8]}
        data += bytes(8)
    elif kind == "overlap":
        table["facts.m"] = table["facts.n"]
    elif kind == "infinite":
        table["facts.m"]["data_offsets"] = [0, float("inf")]
    else:
        for name, entry in table.items():
            if name != "__metadata__":
                entry["data_offsets"] = [offset + 8 for offset in entry["data_offsets"]]
        data = bytes(8) + data
    raw = json.dumps(table).encode()
    path.write_bytes(len(raw).to_bytes(8, "little") + raw + data)
    with pytest.raises(ModelFileError, match="header cannot be read"):
        open_model(path)


def _replace(name: str, value: Any) -> Callable[[dict[str, Any], Arrays], None]:
    def change(_: dict[str, Any], arrays: Arrays) -> None:
        arrays[f"facts.m.{name}"] = value

    return change


@pytest.mark.parametrize(
    "change",
    {
        "column too large": _replace("indices", np.array([0, 77, 2], dtype=np.int32)),
        "column negative": _replace("indices", np.array([0, -1, 2], dtype=np.int32)),
        "rows fall": _replace("indptr", np.array([0, 2, 1, 3], dtype=np.int32)),
        "rows wrap around": _replace("indptr", np.array([0, 65535, 1, 3], dtype=np.uint16)),
        "unsigned columns": _replace("indices", np.array([0, 1, 2], dtype=np.uint32)),
        "rows of floats": _replace("indptr", np.array([0, 1, 2, 3], dtype=np.float64)),
        "rows too few": _replace("indptr", np.array([0, 1, 3], dtype=np.int32)),
        "rows end late": _replace("indptr", np.array([0, 1, 2, 9], dtype=np.int32)),
        "values too few": _replace("data", np.ones(2)),
        "values of two dimensions": _replace("data", np.ones((3, 1))),
        "a column twice": _replace("indptr", np.array([0, 3, 3, 3], dtype=np.int32)),
        "shape": lambda header, _: header["facts"]["m"].update(shape=[3, 10**15]),
        "shape of words": lambda header, _: header["facts"]["m"].update(shape=["a", "b"]),
    }.values(),
)
def test_impossible_sparse_matrices_are_refused(
    change: Callable[[dict[str, Any], Arrays], None], tmp_path: Path
) -> None:
    path = tmp_path / "v"
    save(Vectorizer().fit(["a bus"]), path, {"m": sparse.csr_array(np.eye(3)[[0, 1, 1]] * 2)})
    with pytest.raises(ModelFileError, match=r"impossible sparse matrix|not in order|do not make a model"):
        _ = open_model(forge(path, tmp_path / "bad", change)).facts


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
    save_file({"x": np.zeros(1)}, str(tmp_path / "later"), metadata={"manylabel": "\n" + json.dumps({"format": 99})})
    with pytest.raises(ModelFileError, match="format 99 and this version reads 3"):
        open_model(tmp_path / "later")


def test_weights_of_bins_beyond_all_bounds_are_refused(letters, tmp_path: Path) -> None:
    path = tmp_path / "m.manylabel"
    TextClassifier("mnb-vw").fit(letters.texts, letters.label_sets).save(path)

    def change(header: dict[str, Any], arrays: Arrays) -> None:
        name = next(name for name in arrays if name.endswith("bin_weights_"))
        arrays[name] = np.full_like(arrays[name], np.inf)

    with pytest.raises(ModelFileError, match="beyond all bounds"):
        load(forge(path, tmp_path / "forged", change))
