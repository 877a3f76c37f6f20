"""The table of formats: each row's functions and options exist, and messages name options that users can give."""

import inspect
import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest
import typer

from manylabel import data
from manylabel.cli.app import app
from manylabel.data.formats import FORMATS, Format, _function, format_named
from manylabel.data.table import ColumnOptions
from manylabel.wording import FLAGS, TASKS

SOURCES = sorted(Path(data.__file__).parent.glob("*.py"))


@cache
def command_line_options() -> set[str]:
    """Every option of every command, by its long name."""
    commands = typer.main.get_group(app).commands.values()
    return {name for command in commands for option in command.params for name in option.opts}


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_options_are_those_of_the_reader(row: Format) -> None:
    parameters = inspect.signature(_function(row.reader)).parameters.values()
    expected = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        expected += [field.name for field in fields(ColumnOptions) if field.name != "like"]  # added by Format.read
    assert sorted(option.name for option in row.options) == sorted(expected)
    assert all(option.help for option in row.options)


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_functions_of_a_row_exist(row: Format) -> None:
    for name in (row.reader, row.writer, row.shape, row.folder):
        assert not name or callable(_function(name))
    assert row.variant_of == "" or format_named(row.variant_of)


def test_options_with_a_flag_are_on_the_command_line() -> None:
    flags = {option.on_command_line for row in FORMATS for option in row.options if option.name in FLAGS}
    assert flags
    assert flags <= command_line_options()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_messages_name_options_that_exist(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert set(re.findall(r"(?<![\w\"'-])--[a-z][a-z-]+", source)) <= command_line_options()
    known = {option.name for row in FORMATS for option in row.options}
    assert set(re.findall(r"-o ([a-z_]+)=", source)) - {"name"} <= known
    calls = re.findall(r"settings_text\(([^()*]*)\)", source)
    named = {name for call in calls for name in re.findall(r"(\w+)=", call)}
    assert named | set(re.findall(r"setting_name\('(\w+)'\)", source)) <= {*known, *TASKS, "format"}
