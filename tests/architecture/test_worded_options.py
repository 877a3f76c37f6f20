"""Messages of the library name settings as their readers give them, not by options of the command line."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import manylabel

SOURCE = Path(manylabel.__file__).parent
OPTION = re.compile(r"(?:^|[ (`])--[a-z]")
COMMAND = re.compile(r"manylabel [a-z]+\b.*--[a-z]", re.DOTALL)
"""A whole command, which everyone reads as one."""
OF_THE_COMMAND_LINE = ("cli/", "reports/", "server/", "wording.py", "tasks/choices.py", "notebook.py")
"""What the command line alone shows, what is written in HTML, and the options with which a server is started."""


def messages(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """The strings of a module that are no docstrings, with what is put into them left out."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    pieces = {id(piece) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for piece in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node, "".join(str(one.value) for one in node.values if isinstance(one, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings | pieces:
            yield node, node.value


def asks_who_reads(function: ast.AST) -> bool:
    """Whether a function looks at the interface that its message is for."""
    return any(isinstance(node, ast.Name) and node.id in ("is_worded_for", "_remedy") for node in ast.walk(function))


def test_options_are_named_to_readers_of_the_command_line_alone() -> None:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        asking = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and asks_who_reads(node)]
        worded = {id(node) for function in asking for node in ast.walk(function)}
        found += [
            f"{name}:{node.lineno}: {text}"
            for node, text in messages(tree)
            if OPTION.search(text)
            and not COMMAND.search(text)
            and id(node) not in worded
            and not name.startswith(OF_THE_COMMAND_LINE)
        ]
    assert found == []
