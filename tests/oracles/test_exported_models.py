"""Exported models give the labels and scores of manylabel: as JSON, in Node, as a pipeline, in ONNX, in DuckDB.

The texts are letters of `townhall`, and texts with accents, emoji, several scripts, HTML, and nothing; with research
data, also 1,000 comments of GoEmotions.
"""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manylabel import TextClassifier
from manylabel.data import load
from manylabel.exceptions import UnsupportedError
from manylabel.exporting.form import exportable_methods
from manylabel.exporting.targets import STEMMERS, part
from manylabel.features.terms import stem

ODD = [
    "",
    "   \n",
    "zzz qqq",
    "The BUS, the bus & the road",
    "Übung ÉCOLE naïve İstanbul ΣΊΣΥΦΟΣ ΣΑΣ. 😀 bus 公交车 late Straße ﬁne ½ ² Ⅷ _x_ a1 é e\u0301e 𝒷us 𐐀𐐁 road",
    "<p class=x>Late&nbsp;bus &amp; tram&copy;&notit; &#146; &#x80; &#1; &#xFFFE;<br>again</p><!-- no --><SCRIPT>x bus"
    "</script >&#99999999999; <style>a",
    "बस फिर से देर से आई, ประเทศไทย bus又晚点了",
    "bus\x1c\x85road  late\u3000lamp\ufeffx\u200dy",
    "\u0000bus \ud800 road",
]
CHOSEN = ("svm", "nb", "auto")
VARIANTS: list[tuple[str, dict[str, dict[str, Any]]]] = [
    ("svm", {"decision": {"rule": "seen-sets"}}),
    ("svm", {"decision": {"rule": "seen-sets", "metric": "hamming-loss"}}),
    ("nb-app", {"decision": {"rule": "seen-sets", "metric": "exact-match"}}),
    ("svm", {"decision": {"rule": "calibrated"}, "features": {"tokens": "pairs", "markup": "strip"}}),
    ("logistic", {"decision": {"rule": "global", "fallback": "argmax"}, "features": {"tokens": "marked"}}),
    ("nb-binary", {"features": {"analyzer": "char", "ngram_range": [1, 2], "lowercase": False}}),
    ("nb-bernoulli", {"features": {"analyzer": "char_wb", "ngram_range": [2, 4], "markup": "strip"}}),
    ("nb-app", {"decision": {"rule": "accumulated-posterior", "threshold": -3.0, "log_tail": True}}),
    ("nb-complement", {"decision": {"rule": "top-k", "k": 3}, "features": {"strip_accents": "unicode"}}),
    ("rocchio", {"features": {"strip_accents": "ascii", "stop_words": "english", "ngram_range": [1, 2]}}),
    ("mnb-vw-reference", {"features": {"stemmer": "english"}}),
    ("mnb-vw-unilabel", {"model": {"event": "multinomial", "refine": "none"}}),
    ("ensemble", {"model": {"members": ["svm", "nb"]}}),
    ("nb-presence", {}),
    ("svm-balanced", {}),
]

node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
PROBES = {(language, word): found for language, known in STEMMERS.items() for word, found in known.items()}
snowball_3 = all(stem([word], language) == [found] for (language, word), found in PROBES.items())


@dataclass(frozen=True)
class Case:
    """A model, the texts it is asked about, and what it answers."""

    name: str
    model: TextClassifier
    texts: list[Any]
    folder: Path

    def check(self, labels: list[list[str]], scores: Any) -> None:
        assert labels == self.model.predict(self.texts)
        expected = self.model.predict_scores(self.texts)
        with np.errstate(invalid="ignore"):
            apart = np.where(scores == expected, 0.0, np.abs(np.asarray(scores) - expected))
        assert apart.max() < 1e-6

    def sets(self, indicators: Any) -> list[list[str]]:
        return [[self.model.labels_[column] for column in np.flatnonzero(row)] for row in indicators]


def fitted(name: str, method: str, settings: dict[str, Any], corpus: Any, texts: list[Any], folder: Path) -> Case:
    model = TextClassifier(method, n_jobs=1, **settings).fit(corpus.texts, corpus.label_sets)
    return Case(name, model, texts, folder)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    corpus, folder = load("townhall").corpus, tmp_path_factory.mktemp("exports")
    few = corpus.subset(range(0, 600, 4))
    return {method: fitted(method, method, {}, few, [*corpus.texts, *ODD], folder) for method in CHOSEN}


@pytest.fixture(scope="module")
def variants(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    corpus, folder = load("townhall").corpus, tmp_path_factory.mktemp("variants")
    few, texts = corpus.subset(range(0, 600, 6)), [*corpus.texts[:100], *ODD]
    named = [(f"v{number}", *variant) for number, variant in enumerate(VARIANTS)]
    return {name: fitted(name, method, settings, few, texts, folder) for name, method, settings in named}


@pytest.fixture(scope="module")
def comments(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    corpus, folder = load(data_folder / "goemotions" / "dev.tsv").corpus, tmp_path_factory.mktemp("goemotions")
    few, texts = corpus.subset(range(1000)), corpus.texts[1000:2000]
    settings: dict[str, Any] = {"auto": {"model": {"views": []}}}
    return {method: fitted(method, method, settings.get(method, {}), few, texts, folder) for method in CHOSEN}


def runtime(folder: Path) -> Any:
    """The module that exports to Python consist of, as it lies in a folder."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("manylabel_model", folder / "manylabel_model.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- JSON and the code for Python ------------------------------------------------------------------------------------


def check_python(case: Case) -> None:
    files = case.model.export(case.folder / f"{case.name}-sklearn", "sklearn")
    assert {path.name for path in files} == {"model.json", "manylabel_model.py", "manylabel_sklearn.py"}
    alone = runtime(files[0].parent).Model.read(files[0])
    case.check(alone.predict(case.texts), alone.predict_scores(case.texts))
    case.model.export(case.folder / f"{case.name}.json", "json")
    assert (case.folder / f"{case.name}.json").read_bytes() == files[0].read_bytes()


@pytest.mark.parametrize("method", CHOSEN)
def test_python(method: str, cases: dict[str, Case]) -> None:
    check_python(cases[method])


@pytest.mark.parametrize("number", range(len(VARIANTS)))
def test_python_with_other_settings(number: int, variants: dict[str, Case]) -> None:
    check_python(variants[f"v{number}"])


@pytest.mark.parametrize("method", CHOSEN)
def test_python_on_comments(method: str, comments: dict[str, Case]) -> None:
    check_python(comments[method])


PIPELINES = """
import json, sys
import numpy as np
folder, cases = sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8"))
sys.path.insert(0, f"{folder}/{next(iter(cases))}-sklearn")
from manylabel_sklearn import load
for name, case in cases.items():
    pipeline = load(f"{folder}/{name}-sklearn/model.json")
    texts = case["texts"]
    assert pipeline.classes_.tolist() == case["labels"]
    assert pipeline.predict(texts).tolist() == case["predicted"]
    assert np.abs(pipeline.predict_proba(texts) - case["scores"]).max() < 1e-6
assert "manylabel" not in sys.modules
"""


def test_scikit_learn_without_manylabel(cases: dict[str, Case], tmp_path: Path) -> None:
    asked = {}
    for name, case in cases.items():
        case.model.export(tmp_path / f"{name}-sklearn", "sklearn")
        texts = case.texts[-60:-1]
        predicted = [[int(one in found) for one in case.model.labels_] for found in case.model.predict(texts)]
        scores = case.model.predict_scores(texts).tolist()
        asked[name] = {"texts": texts, "labels": case.model.labels_, "predicted": predicted, "scores": scores}
    (tmp_path / "cases.json").write_text(json.dumps(asked), encoding="utf-8")
    command = [sys.executable, "-I", "-W", "error", "-c", PIPELINES, str(tmp_path), str(tmp_path / "cases.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


# ---- JavaScript ------------------------------------------------------------------------------------------------------

ASK = """
import fs from 'node:fs';
const asked = JSON.parse(fs.readFileSync(process.argv[2], 'utf8')), found = {};
for (const [name, { file, texts }] of Object.entries(asked)) {
  const model = await import(file);
  const scores = model.predictScores(texts).map((row) => Array.from(row, String));
  found[name] = { labels: model.labels, predicted: model.predict(texts), scores };
}
fs.writeFileSync(process.argv[3], JSON.stringify(found));
"""


def run_node(code: str, *arguments: Any, folder: Path) -> None:
    (folder / "ask.mjs").write_text(code, encoding="utf-8")
    command = ["node", str(folder / "ask.mjs"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def check_javascript(cases: dict[str, Case], folder: Path) -> None:
    """All models in one process of Node."""
    asked = {}
    for name, case in cases.items():
        (path,) = case.model.export(folder / f"{name}.mjs", "js")
        asked[name] = {"file": str(path), "texts": case.texts}
    (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    run_node(ASK, folder / "asked.json", folder / "found.json", folder=folder)
    for name, found in json.loads((folder / "found.json").read_text(encoding="utf-8")).items():
        assert found["labels"] == cases[name].model.labels_
        scores = [[float(one.replace("Infinity", "inf")) for one in row] for row in found["scores"]]
        cases[name].check(found["predicted"], scores)


def without_stems(cases: dict[str, Case]) -> dict[str, Case]:
    """The cases that can be exported to JavaScript with the installed stemmer."""
    return {name: case for name, case in cases.items() if snowball_3 or not stems(case)}


def stems(case: Case) -> bool:
    return case.model.features_.vectorizer_.stemmer_ is not None


@node
def test_javascript(cases: dict[str, Case], tmp_path: Path) -> None:
    check_javascript(without_stems(cases), tmp_path)


@node
def test_javascript_with_other_settings(variants: dict[str, Case], tmp_path: Path) -> None:
    check_javascript(without_stems(variants), tmp_path)


@node
def test_javascript_on_comments(comments: dict[str, Case], tmp_path: Path) -> None:
    check_javascript(without_stems(comments), tmp_path)


@node
@pytest.mark.skipif(not snowball_3, reason="PyStemmer is older than Snowball 3.1")
def test_javascript_stems_as_snowball_does(tmp_path: Path) -> None:
    """Every ending that a stemmer knows, behind beginnings with and without vowels, alone and behind another ending."""
    words = {language: sorted(set(words_with_endings(language))) for language in STEMMERS}
    (tmp_path / "words.json").write_text(json.dumps(words), encoding="utf-8")
    code = "import fs from 'node:fs';\n" + part("stemmers/endings.mjs")
    code += "const words = JSON.parse(fs.readFileSync(process.argv[2], 'utf8')), stems = {};\n"
    for language in STEMMERS:
        code += f"{{\n{part(f'stemmers/{language}.mjs')}\nstems.{language} = words.{language}.map(STEM);\n}}\n"
    run_node(
        code + "fs.writeFileSync(process.argv[3], JSON.stringify(stems));",
        tmp_path / "words.json",
        tmp_path / "stems.json",
        folder=tmp_path,
    )
    found = json.loads((tmp_path / "stems.json").read_text(encoding="utf-8"))
    for language, asked in words.items():
        wrong = [one for one in zip(asked, found[language], stem(asked, language), strict=True) if one[1] != one[2]]
        assert wrong == [], language


def words_with_endings(language: str) -> list[str]:
    quoted = re.findall(r"'([^'\\n]*)'", part(f"stemmers/{language}.mjs"))
    endings = sorted({word for text in quoted for word in text.split() if word.isalpha()})
    beginnings = [
        "",
        "a",
        "tr",
        "qu",
        "ab",
        "eu",
        "y",
        "bé",
        "ïl",
        "tra",
        "ayi",
        "divan",
        "inter",
        "nov",
        "relati",
        "atic",
    ]
    pairs = list(zip(endings, endings[7:] + endings[:7], strict=True))
    return [begin + one for begin in beginnings for one in endings] + [
        begin + one + other for begin in beginnings[:8] for one, other in pairs
    ]


@node
@pytest.mark.skipif(not snowball_3, reason="PyStemmer is older than Snowball 3.1")
def test_javascript_reads_every_character(cases: dict[str, Case], tmp_path: Path) -> None:
    (path,) = cases["auto"].model.export(tmp_path / "model.mjs", "js")
    path.write_text(path.read_text(encoding="utf-8") + "\nexport { terms };\n", encoding="utf-8")
    blocks = [range(begin, begin + 256) for begin in range(0, 0x3200, 256)]
    texts = ["".join(f"{chr(sign)}q{chr(sign)} " for sign in block) for block in blocks]
    texts += ["".join(f"{chr(sign)}Qing " for sign in range(0x10000, 0x1F000, 7)), "ΑΣ ΣΑ Σ ΑΣΑ ΑΣ. 'ΑΣ'"]
    (tmp_path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    code = """
      import fs from 'node:fs';
      const { terms } = await import('./model.mjs');
      const texts = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
      fs.writeFileSync(process.argv[3], JSON.stringify(texts.map((text) => terms(text))));
    """
    run_node(code, tmp_path / "texts.json", tmp_path / "terms.json", folder=tmp_path)
    read = json.loads((tmp_path / "terms.json").read_text(encoding="utf-8"))
    for text, found in zip(texts, read, strict=True):
        assert found == stem(re.findall(r"\b\w\w+\b", text.lower()), "english")


# ---- ONNX and DuckDB -------------------------------------------------------------------------------------------------


def check_onnx(case: Case) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    files = case.model.export(case.folder / f"{case.name}-onnx", "onnx")
    folder = files[0].parent
    counts = runtime(folder).TermCounts.read(folder / "model.json").counts(case.texts)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    given = {"counts": counts.toarray().astype(np.float32)}
    scores, labels = session.run(["scores", "labels"], given)
    assert json.loads(session.get_modelmeta().custom_metadata_map["labels"]) == case.model.labels_
    case.check(case.sets(labels), scores)


@pytest.mark.parametrize("method", CHOSEN)
def test_onnx(method: str, cases: dict[str, Case]) -> None:
    check_onnx(cases[method])


@pytest.mark.parametrize("number", range(len(VARIANTS)))
def test_onnx_with_other_settings(number: int, variants: dict[str, Case]) -> None:
    check_onnx(variants[f"v{number}"])


@pytest.mark.parametrize("method", CHOSEN)
def test_onnx_on_comments(method: str, comments: dict[str, Case]) -> None:
    check_onnx(comments[method])


def check_duckdb(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    pyarrow = pytest.importorskip("pyarrow")
    files = case.model.export(case.folder / f"{case.name}-duckdb", "duckdb")
    monkeypatch.syspath_prepend(str(files[0].parent))
    for name in ("manylabel_model", "manylabel_duckdb"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    from manylabel_duckdb import register  # type: ignore[import-not-found]

    texts = [text if isinstance(text, str) else "\n".join(text.values()) for text in case.texts]
    texts = [text for text in texts if text.isprintable() or "\ud800" not in text]
    with duckdb.connect() as connection:
        register(connection, prefix="m_")
        letters = pyarrow.table({"n": range(len(texts) + 1), "text": [*texts, None]})
        connection.register("letters", letters)
        query = "SELECT m_predict_labels(text), map_values(m_predict_scores(text)) FROM letters ORDER BY n"
        *rows, nothing = connection.execute(query).fetchall()
    assert nothing == (None, None)
    Case(case.name, case.model, texts, case.folder).check([row[0] for row in rows], [row[1] for row in rows])


@pytest.mark.parametrize("method", CHOSEN)
def test_duckdb(method: str, cases: dict[str, Case], monkeypatch: pytest.MonkeyPatch) -> None:
    check_duckdb(cases[method], monkeypatch)


@pytest.mark.parametrize("method", CHOSEN)
def test_duckdb_on_comments(method: str, comments: dict[str, Case], monkeypatch: pytest.MonkeyPatch) -> None:
    check_duckdb(comments[method], monkeypatch)


# ---- what can be exported --------------------------------------------------------------------------------------------

TINY = (
    ["late bus", "a hole in the road", "bus and road", "late late bus", "road works"],
    [["b"], ["r"], ["b", "r"], ["b"], ["r"]],
)


def test_labels_of_one_value_per_document(tmp_path: Path) -> None:
    model = TextClassifier("nb-binary").fit(TINY[0], ["b", "r", "b", "b", "r"])
    model.export(tmp_path / "model.json", "json")
    model.export(tmp_path / "folder", "sklearn")
    alone = runtime(tmp_path / "folder").Model.read(tmp_path / "model.json")
    assert alone.predict(["late bus", "road", ""]) == [[one] for one in model.predict(["late bus", "road", ""])]


@pytest.mark.parametrize("method", exportable_methods())
def test_every_method_that_is_listed_is_exported(method: str, tmp_path: Path, patient: None) -> None:
    corpus = load("townhall").corpus.subset(range(30))
    case = fitted(method, method, {}, corpus, [*corpus.texts, *ODD], tmp_path)
    check_python(case)


@pytest.mark.parametrize(
    ("method", "settings", "target", "sentence"),
    [
        ("knn", {}, "json", "knn cannot be exported: .* Train one of the methods that can: auto, svm, "),
        ("ensemble", {}, "json", "ensemble cannot be exported"),
        ("svm", {"features": {"n_hashes": 64}}, "json", "hashed terms"),
        ("svm", {"features": {"rules": {"b": "bus"}}}, "json", "keyword rules"),
        ("svm", {"features": {"tokens": "[a-z]{3,}"}}, "js", "regular expression"),
        (
            "svm",
            {"features": {"stemmer": "finnish"}},
            "js",
            "finnish stemmer is not available in JavaScript; .* english",
        ),
        (
            "svm",
            {"decision": {"rule": "guarantee", "level": 0.5}},
            "json",
            "Guarantee.* cannot be exported.* seen-sets",
        ),
        ("svm", {"decision": {"rule": "per-label", "probabilities": "isotonic"}}, "json", "Isotonic"),
        ("svm", {}, "pmml", "Unknown target of an export: 'pmml'"),
    ],
)
def test_what_cannot_be_exported_is_refused(
    method: str, settings: dict[str, Any], target: str, sentence: str, tmp_path: Path
) -> None:
    texts, labels = TINY
    model = TextClassifier(method, **settings).fit(texts * 8, labels * 8)
    with pytest.raises((UnsupportedError, ValueError), match=sentence):
        model.export(tmp_path / "model", target)
    assert list(tmp_path.iterdir()) == []


def test_a_matrix_of_counts_is_refused(tmp_path: Path) -> None:
    model = TextClassifier("svm").fit(np.array([[1, 0], [0, 1]] * 5), [["b"], ["r"]] * 5)
    with pytest.raises(UnsupportedError, match="reads a matrix instead of texts"):
        model.export(tmp_path / "model.json", "json")
