"""The commands of docs/serving.md, run against ``manylabel serve --demo``."""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from manylabel.server.settings import Limits
from served import Running, running

PAGE = Path(__file__).parents[2] / "docs" / "serving.md"
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
STEPS = [step.partition("\n") for block in BLOCKS for step in block.split("$ ")[1:]]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    with running("--demo") as started:
        yield started


def same(shown: Any, found: Any) -> bool:
    """Whether an answer is the one shown; "…" stands for any string, and scores are shown with four digits."""
    if isinstance(shown, dict):
        return shown.keys() == found.keys() and all(same(value, found[key]) for key, value in shown.items())
    if isinstance(shown, list):
        return len(shown) == len(found) and all(map(same, shown, found))
    return shown == "…" or (abs(shown - found) < 1e-3 if isinstance(shown, float) else shown == found)


@pytest.mark.parametrize(("command", "shown"), [(command, shown) for command, _, shown in STEPS])
def test_the_commands_of_the_page_work(server: Running, command: str, shown: str) -> None:
    words = shlex.split(command.replace("http://127.0.0.1:8000", server.url))
    done = subprocess.run([*words, "--fail-with-body"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stdout
    if "/metrics" not in command:
        answer = json.loads(done.stdout)
        assert not shown.strip() or same(json.loads(shown), answer), answer


def test_the_page_shows_every_dialect() -> None:
    commands = " ".join(command for command, _, _ in STEPS)
    for address in ("/v1/models/", "/v1/projects/", "/predict ", "/v2/models/", "/invocations"):
        assert address in commands


def test_the_page_lists_every_limit_with_its_default() -> None:
    units = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
    shown = {}
    for name, default in re.findall(
        r"^\| `(\w+)` \| ([\d,]+(?: [KMG]iB)?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    ):
        number, _, unit = default.partition(" ")
        shown[name] = int(number.replace(",", "")) * units.get(unit, 1)
    assert shown == msgspec.structs.asdict(Limits())


def test_the_demonstration_has_its_corpus_when_the_server_answers(server: Running) -> None:
    assert server.ask("GET", "/v1/corpora/townhall").json()["documents"] == 605
    assert server.process.stderr is not None
    assert server.process.stderr.readline() == f"Open {server.url}/ in a browser.\n"
