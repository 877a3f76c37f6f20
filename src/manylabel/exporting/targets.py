"""The files of an export: JSON, JavaScript, code for Python and DuckDB, ONNX."""

from __future__ import annotations

import base64
import html
import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from html.entities import html5
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.data.atomic import atomic_files, check_folder
from manylabel.estimator import Csr
from manylabel.exceptions import UnknownNameError, UnsupportedError
from manylabel.exporting.form import model_form
from manylabel.features.scripts import MARKS, SPACELESS
from manylabel.features.terms import stem
from manylabel.models.exported import Form
from manylabel.text_model import TextModel
from manylabel.wording import settings_text

STEMMERS: Mapping[str, Mapping[str, str]] = {
    "english": {"added": "add", "evening": "evening", "internal": "internal", "skis": "ski", "vying": "vie"},
    "french": {"bijoux": "bijou", "nier": "nier"},
    "german": {"gruesse": "gruss", "lehrerinnen": "lehr"},
    "italian": {"divano": "divan"},
    "portuguese": {},
    "spanish": {"educacion": "educ"},
    "swedish": {"huset": "hus"},
}
"""The stemmers that there are in JavaScript, and stems that differ between versions of Snowball before 3.1 and 3.1."""


def encoded(value: Any) -> Any:
    """The form with arrays as their bytes in base64, little-endian, in the narrowest type that loses nothing."""
    if isinstance(value, Mapping):
        return {key: encoded(inner) for key, inner in value.items()}
    if isinstance(value, Csr):
        parts = {"starts": value.indptr, "columns": value.indices, "values": value.data}
        return {"shape": list(value.shape), **{name: encoded(part) for name, part in parts.items()}}
    if isinstance(value, np.ndarray):
        narrow = _narrow(value)
        data = base64.b64encode(np.ascontiguousarray(narrow).tobytes()).decode("ascii")
        return {"type": narrow.dtype.str, "shape": list(narrow.shape), "base64": data}
    return [encoded(inner) for inner in value] if isinstance(value, list) and value and _holds_forms(value) else value


def _holds_forms(values: list[Any]) -> bool:
    return isinstance(values[0], Mapping)


def _narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind in "iu":
        return values.astype("<i4")
    single = values.astype("<f4")
    return single if np.array_equal(single, values, equal_nan=True) else values.astype("<f8")


def part(name: str) -> str:
    """The text of a file that exports consist of."""
    return (resources.files(__package__) / "parts" / name).read_text(encoding="utf-8")


def as_json(form: Form) -> str:
    """The form as JSON."""
    return json.dumps(encoded(form), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


# ---- JavaScript ------------------------------------------------------------------------------------------------------


def as_javascript(form: Form) -> str:
    """One ES module with the form, the reading of texts, the scores and the decision."""
    text: Form = dict(form["text"])
    if text["tokens"] == "pattern":
        raise UnsupportedError(
            "Tokens by a regular expression of Python cannot be exported to JavaScript. Train with "
            f"{settings_text(**{'features.tokens': 'words'})}, or export to sklearn."
        )
    text |= {"pattern": None, "marks": _ranges_of(MARKS), "spaceless": _ranges_of(SPACELESS)}
    if text["strip_accents"] == "unicode":
        text["combining"] = _ranges(lambda sign: unicodedata.combining(sign) != 0)
    filled = {
        "const MODEL = null;": f"const MODEL = {_literal(encoded({**form, 'text': text}))};",
        "const WORD_SIGNS = '';": f"const WORD_SIGNS = '{word_signs()}';",
        "const STEM = null;": _stemmer(text["stemmer"]),
        "const withoutMarkup = null;": _markup() if text["strip_markup"] else "const withoutMarkup = null;",
    }
    code = part("model.mjs")
    for placeholder, content in filled.items():
        before, found, after = code.partition(placeholder)
        assert found, placeholder
        code = before + content + after
    return code


def _literal(value: Any) -> str:
    """A value as JavaScript, on one line; safe inside a script element too."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("</", "<\\/")


def _stemmer(language: str | None) -> str:
    if language is None:
        return "const STEM = null;"
    if language not in STEMMERS:
        raise UnsupportedError(
            f"The {language} stemmer is not available in JavaScript; there are {', '.join(STEMMERS)}. Train with "
            f"{settings_text(**{'features.stemmer': None})}, or export to sklearn."
        )
    known = STEMMERS[language]
    if stem(list(known), language) != list(known.values()):
        raise UnsupportedError(
            "The stemmers in JavaScript are those of Snowball 3.1, but PyStemmer is older here. Install PyStemmer 3.1 "
            "or later and train the model again."
        )
    return part("stemmers/endings.mjs") + "\n" + part(f"stemmers/{language}.mjs").strip()


@cache
def word_signs() -> str:
    r"""The characters that `\w` matches, as lengths of runs, outside and inside in turn, in base 36.

    Other engines know other versions of Unicode; these are the words that this Python finds.
    """
    bounds = [bound for low, high in _ranges(lambda sign: sign.isalnum() or sign == "_") for bound in (low, high + 1)]
    return " ".join(np.base_repr(length, 36).lower() for length in np.diff([0, *bounds]).tolist())


def _ranges(holds: Callable[[str], bool]) -> list[list[int]]:
    """The runs of code points, first and last, whose characters fulfil a condition."""
    inside = np.fromiter(map(holds, map(chr, range(0x110000))), dtype=np.bool_, count=0x110000)
    changes = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    return [[low, high - 1] for low, high in changes.reshape(-1, 2).tolist()]


def _ranges_of(characters: str) -> list[list[int]]:
    """The ranges of a class of characters in a regular expression, such as ``a-cx``.

    >>> _ranges_of("a-cx")
    [[97, 99], [120, 120]]
    """
    found, at = [], 0
    while at < len(characters):
        last = at + 2 if characters[at + 1 : at + 2] == "-" else at
        found.append([ord(characters[at]), ord(characters[last])])
        at = last + 1
    return found


def _markup() -> str:
    return f"const ENTITIES = {_literal(_entities())};\n" + part("markup.mjs")


def _entities() -> Form:
    """What `html.unescape` knows: named characters, numbers that stand for other characters, and those for none."""
    numbers = [
        *range(0xA0),
        *range(0xFDD0, 0xFDF0),
        *(plane * 0x10000 + end for plane in range(17) for end in (0xFFFE, 0xFFFF)),
    ]
    read = {number: html.unescape(f"&#{number};") for number in numbers}
    return {
        "names": html5,
        "replaced": {str(number): found for number, found in read.items() if found not in ("", chr(number))},
        "invalid": [[number, number] for number, found in read.items() if found == ""],
    }


# ---- files -----------------------------------------------------------------------------------------------------------


def json_files(form: Form) -> dict[str, bytes]:
    """The form alone."""
    return {"": as_json(form).encode()}


def javascript_files(form: Form) -> dict[str, bytes]:
    """One ES module."""
    return {"": as_javascript(form).encode()}


def sklearn_files(form: Form) -> dict[str, bytes]:
    """The form, and code that makes it a pipeline of scikit-learn."""
    return _python_files(form, "manylabel_sklearn.py")


def duckdb_files(form: Form) -> dict[str, bytes]:
    """The form, and code that makes it functions of DuckDB."""
    return _python_files(form, "manylabel_duckdb.py")


def onnx_files(form: Form) -> dict[str, bytes]:
    """The graph from counts to labels, and how texts become counts."""
    from manylabel.exporting.onnx_graph import onnx_model

    reading = {name: form[name] for name in ("format", "version", "written_by", "method", "labels", "text", "terms")}
    graph = onnx_model(form).SerializeToString()
    return {"model.onnx": graph, "model.json": as_json(reading).encode(), **_codes("manylabel_model.py")}


def _python_files(form: Form, code: str) -> dict[str, bytes]:
    return {"model.json": as_json(form).encode(), **_codes("manylabel_model.py", code)}


def _codes(*names: str) -> dict[str, bytes]:
    return {name: part(name).encode() for name in names}


@dataclass(frozen=True, slots=True)
class Target:
    """What a model can be exported to."""

    ending: str
    """The ending of the file or folder, by default."""
    files: Callable[[Form], dict[str, bytes]]
    """The content of each file by its name; a single file has the name ""."""
    is_folder: bool = True


TARGETS: Mapping[str, Target] = {
    "json": Target(".json", json_files, is_folder=False),
    "js": Target(".mjs", javascript_files, is_folder=False),
    "sklearn": Target("-sklearn", sklearn_files),
    "onnx": Target("-onnx", onnx_files),
    "duckdb": Target("-duckdb", duckdb_files),
}


def export(model: TextModel, method: str, target: str, output: Path) -> list[Path]:
    """Write a classifier for a target, to a file or into a folder; return the files, which appear together."""
    if target not in TARGETS:
        raise UnknownNameError("target of an export", target, TARGETS)
    files = TARGETS[target].files(model_form(model, method))
    if TARGETS[target].is_folder:
        check_folder(output)
        output.mkdir(exist_ok=True)
    paths = [output / name if name else output for name in files]
    with atomic_files(paths) as streams:
        for stream, content in zip(streams, files.values(), strict=True):
            stream.write(content)
    return paths
