"""What a user waits for: the first words, the first answer, and a model that is whole whatever happens."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from manylabel.classifier import TextClassifier
from manylabel.data import load as load_corpus

COMMAND = [sys.executable, "-m", "manylabel"]


def answers_within(seconds: float, arguments: list[str], tries: int = 3, given: bytes = b"") -> bool:
    """Whether one of some runs takes less processor time; the clock would depend on what else the machine does."""
    for _ in range(tries):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*COMMAND, *arguments], check=True, capture_output=True, input=given)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < seconds:
            return True
    return False


def small_model(path: Path) -> Path:
    model = TextClassifier("nb-binary", model={"smoothing": "laplace"})
    model.fit(["the late bus", "the bad road"], [["buses"], ["roads"]]).save(path)
    return path


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["train", "--help"]])
def test_help_and_version_answer_at_once(arguments: list[str]) -> None:
    assert answers_within(0.6, arguments)


def test_version_says_which_kernels_are_active() -> None:
    said = subprocess.run([*COMMAND, "--version"], check=True, capture_output=True, text=True).stdout
    assert "kernels: compiled" in said or "kernels: plain Python" in said
    plain = {**os.environ, "MANYLABEL_PLAIN": "1"}
    said = subprocess.run([*COMMAND, "--version"], check=True, capture_output=True, text=True, env=plain).stdout
    assert "kernels: plain Python" in said


def test_the_first_answer_comes_within_two_seconds(tmp_path: Path) -> None:
    model = small_model(tmp_path / "m.manylabel")
    assert answers_within(2, ["predict", str(model), "-"], given=b"late bus\n")


def test_standard_input_takes_lines_of_text_and_of_json(tmp_path: Path) -> None:
    model = small_model(tmp_path / "m.manylabel")
    given = 'the bus is late\n{"id": "x", "title": "bad", "body": "road"}\n'
    done = subprocess.run([*COMMAND, "predict", str(model)], input=given, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers == [{"id": "1", "labels": ["buses"]}, {"id": "x", "labels": ["roads"]}]


SAVE_FOR_EVER = """
from manylabel.classifier import TextClassifier
models = [TextClassifier.load(name) for name in ("one.manylabel", "two.manylabel")]
models[0].save("m.manylabel")
print("ready", flush=True)
while True:
    for model in models:
        model.save("m.manylabel")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_kill_at_any_moment_leaves_a_model_that_loads(tmp_path: Path) -> None:
    """A process saves two models to one file in turn, and is killed while it does."""
    letters = load_corpus("townhall").corpus
    for name, method in (("one", "nb-unilabel"), ("two", "nb-binary")):
        TextClassifier(method).fit(letters.texts, letters.label_sets).save(tmp_path / f"{name}.manylabel")
    whole = {(tmp_path / f"{name}.manylabel").read_bytes() for name in ("one", "two")}
    assert len(whole) == 2
    for step in range(6):
        running = subprocess.Popen([sys.executable, "-c", SAVE_FOR_EVER], stdout=subprocess.PIPE, cwd=tmp_path)
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        time.sleep(0.007 * step)
        running.kill()
        running.communicate()
        assert (tmp_path / "m.manylabel").read_bytes() in whole
        assert len(TextClassifier.load(tmp_path / "m.manylabel").labels_) == 29
