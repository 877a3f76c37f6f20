"""The files in deploy: the unit and the image start the server with options that exist."""

import re
import shlex
from pathlib import Path

import pytest

from manylabel.cli.run import run

DEPLOY = Path(__file__).parents[2] / "deploy"


def options_of(command: list[str]) -> set[str]:
    """The long options of a command line."""
    return {word for word in command if word.startswith("--")}


def commands() -> list[list[str]]:
    unit = re.findall(r"^ExecStart=(.*)$", (DEPLOY / "manylabel.service").read_text(encoding="utf-8"), re.MULTILINE)
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    pieces = [re.findall(rf"^{word} \[(.*)\]$", image, re.MULTILINE)[-1] for word in ("ENTRYPOINT", "CMD")]
    return [*map(shlex.split, unit), [word.strip(' "') for piece in pieces for word in piece.split(",")]]


@pytest.mark.parametrize("command", commands())
def test_the_commands_exist(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command[0].endswith("manylabel")
    assert command[1] == "serve"
    assert run(["serve", "--help"]) == 0
    assert options_of(command) <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))


def test_the_image_runs_without_rights_and_copies_what_exists() -> None:
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall(r"^USER (.*)$", image, re.MULTILINE) == ["manylabel"]
    assert image.count("FROM ") == 2
    for copied in re.findall(r"^COPY (.*) \S+$", image, re.MULTILINE):
        for name in copied.split():
            assert (DEPLOY.parent / name).exists(), name


def test_a_server_open_to_others_has_a_token() -> None:
    is_open = [command for command in commands() if "--host" in command]
    assert is_open
    assert all("--token" in command for command in is_open)
