"""Whatever bytes a file holds, a reader returns a corpus or raises one of manylabel's own errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fuzz.targets import TARGETS

from manylabel.exceptions import ManylabelError

pytestmark = pytest.mark.filterwarnings("ignore")

LINES = ("csv", "tsv", "jsonl", "json", "fasttext", "libmultilabel", "libsvm", "xmc", "arff", "reuters", "parents",
         "vocabulary", "label-groups", "rules", "recipe", "predict", "recognition")  # fmt: skip
WORDS = st.sampled_from(
    ["text", "labels", "label_a", "id", "a", "b;c", "1", "0", "-1", "1:2", "1,2", "3:nan", "__label__a", "@data", "{",
     "}", "@relation", "[", "]", '"', "'", "<REUTERS>", "</D>", "AND", "NOT", "(", "*", "=", "method", ":", "http://x.org/a",
     "<", "&#1;", "é"]
)  # fmt: skip
SEPARATORS = st.sampled_from([",", "\t", " ", ";", "\n", "\r\n", "\r", "", "|", ": "])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.lists(
    st.dictionaries(
        st.sampled_from(["text", "labels", "label_a", "id", "split", "title"]) | st.text(max_size=3), PLAIN
    ),
    min_size=1,
    max_size=4,
)


def reads_or_refuses(target: str, data: bytes) -> None:
    try:
        TARGETS[target].run(data)
    except ManylabelError:
        return


@pytest.mark.parametrize("target", LINES)
@settings(max_examples=25)
@given(words=st.lists(st.tuples(WORDS, SEPARATORS), max_size=30))
def test_words_of_formats_in_any_order(target: str, words: list[tuple[str, str]]) -> None:
    reads_or_refuses(target, "".join(word + separator for word, separator in words).encode())


@pytest.mark.parametrize("target", [name for name in TARGETS if name not in ("excel", "parquet", "npz", "model")])
@settings(max_examples=25)
@given(text=st.text(max_size=60))
def test_any_text(target: str, text: str) -> None:
    reads_or_refuses(target, text.encode())


@pytest.mark.parametrize("target", ["excel", "parquet", "npz", "model", "reuters-archive", "recognition", "directory"])
@settings(max_examples=25)
@given(
    data=st.binary(max_size=60), head=st.sampled_from([b"", b"PK\x03\x04", b"PAR1", b"\x1f\x8b", b"\x93NUMPY", b"{"])
)
def test_any_bytes(target: str, data: bytes, head: bytes) -> None:
    reads_or_refuses(target, head + data)


@settings(max_examples=25)
@given(records=RECORDS)
def test_any_records_as_json(records: list[dict[str, Any]]) -> None:
    reads_or_refuses("json", json.dumps(records).encode())
    reads_or_refuses("jsonl", "\n".join(json.dumps(record) for record in records).encode())
    reads_or_refuses("predict", "\n".join(json.dumps(record) for record in records).encode())


@settings(max_examples=25)
@given(value=PLAIN)
def test_any_json_as_results_and_groups(value: Any) -> None:
    reads_or_refuses("results", json.dumps({"results": value}).encode())
    reads_or_refuses("label-groups", json.dumps(value).encode())


@settings(max_examples=25)
@given(text=st.text(st.characters(), max_size=80))
def test_any_characters_are_a_text(text: str) -> None:
    TARGETS["text"].run(text.encode("utf-8", "surrogatepass"))
