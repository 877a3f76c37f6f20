"""Messages name settings as Python, the command line or a request give them."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from manylabel.catalog import find_method
from manylabel.data.hierarchy import find_hierarchy
from manylabel.exceptions import ManylabelError
from manylabel.tasks.corpora import Source
from manylabel.tasks.large import chosen_engine, sharded
from manylabel.tasks.model_facts import check_own_model
from manylabel.tasks.planning import check_memory, check_prediction
from manylabel.tasks.select import select_terms
from manylabel.tasks.thresholds import Target
from manylabel.wording import Interface, settings_worded_for

Wrong = Callable[[Path], object]
"""A call with some data or another file that raises an error."""


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    """Documents of two splits; the label `b` is in the test split alone."""
    path = tmp_path / "letters.csv"
    rows = [f"the text of letter {row},{'b' if row > 7 else 'a'},{'test' if row > 7 else 'train'}" for row in range(12)]
    path.write_text("\n".join(["text,labels,split", *rows]))
    return path


def sentence(reader: Interface, wrong: Wrong, path: Path) -> str:
    """What a wrong call reports to a reader."""
    with settings_worded_for(reader), pytest.raises(ManylabelError) as raised:
        wrong(path)
    return str(raised.value)


@pytest.mark.parametrize(
    ("wrong", "in_python", "on_the_command_line"),
    [
        (lambda _: check_memory(3e9, "1GB", "It", "stop."), "MB that memory allows", "MB that --memory allows"),
        (lambda path: check_prediction(path, "1MB"), "Instead, raise memory.", "Instead, raise --memory."),
        (lambda path: check_own_model(path, "tune"), "another name with model,", "another name with --model,"),
        (lambda path: select_terms(Source(str(path)), labels=["b"]), "Try split='all'.", "Try --split all."),
        (lambda _: Target("recall", 2).check(), "recall takes a number", "--recall takes a number"),
        (lambda _: find_hierarchy("names", ["a", "b"]), "example hierarchy='names:/'", "example --hierarchy names:/"),
        (lambda path: sharded(Source(str(path), hierarchy="n")), "hierarchy needs all", "--hierarchy needs all"),
        (lambda _: chosen_engine(2, "tcp://here").__enter__(), "workers starts", "--workers starts"),
        (lambda _: find_method("ECC"), "model={'base': 'svm'} makes them", "--set model.base=svm makes them"),
        (lambda _: find_method("ps"), "with model={'min_count': 3}.", "with --set model.min_count=3."),
        (lambda _: find_method("svc"), "with single_label=True.", "with --single-label."),
        (lambda _: find_method("mllm"), "with descriptions compares", "with --label-descriptions compares"),
    ],
)
def test_settings_are_named_as_they_are_given(
    wrong: Wrong, in_python: str, on_the_command_line: str, letters: Path
) -> None:
    assert in_python in (plain := sentence("python", wrong, letters))
    assert not re.search("--[a-z]", plain)
    assert on_the_command_line in sentence("command line", wrong, letters)


def test_a_request_is_told_where_its_settings_are(letters: Path) -> None:
    chains = sentence("request", lambda _: find_method("ecc"), letters)
    assert "--set model.base=svm on the command line makes them of SVMs." in chains
    assert "another name with 'model'," in sentence("request", lambda path: check_own_model(path, "tune"), letters)
