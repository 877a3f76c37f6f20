"""Run the commands and the Python of a page of the documentation, in order, and compare what they print with the page.

    python tests/pages.py docs/start/python.md            show where a page differs from what its code prints
    python tests/pages.py docs/start/python.md --write    put what the code prints into the page

What is run, in an empty folder per page:

- a block with a title is a file, which is written: three backticks, then ``text title="letters.csv"``;
- ``console``: every line that begins with ``$ `` is a command, the lines below it are its output;
- ``python``: run as one program per page; a ``text`` block right below shows its output.

``…`` stands for anything inside a line, and for any number of lines where it is a line of its own. A decimal fraction
may differ by one in its last digit, because processors round differently. Blocks after a line
``<!-- not run: … -->`` are left out, and so are those in other languages (``sh`` for commands that are not run here).
"""

import contextlib
import difflib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manylabel.cli.run import run

BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
NOT_RUN = re.compile(r"<!-- not run: [^\n]+ -->\n\s*\Z")


@dataclass(frozen=True)
class Difference:
    """A command or program whose output is not the one on the page."""

    code: str
    shown: str
    printed: str

    def __str__(self) -> str:
        lines = difflib.unified_diff(self.shown.splitlines(), self.printed.splitlines(), "page", "printed", lineterm="")
        return "\n".join([self.code, *lines])


@contextlib.contextmanager
def captured(text: str = "") -> Iterator[list[str]]:
    """Collect what is printed, errors included, in a list that is filled at the end; `text` is the standard input."""
    found: list[str] = []
    printed = io.BytesIO()
    stream = io.TextIOWrapper(printed, encoding="utf-8", write_through=True)
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            yield found
    finally:
        sys.stdin = before
        found.append(printed.getvalue().decode())


def run_command(command: str) -> str:
    """What a command line prints. ``manylabel`` runs in this process, at the end of a pipe too."""
    before, pipe, last = command.rpartition(" | ")
    last, _, target = last.partition(" > ")
    words = shlex.split(last, comments=True)
    if words[0] != "manylabel":
        return subprocess.run(command, shell=True, capture_output=True, text=True, check=True, timeout=30).stdout
    with captured(run_command(before) if pipe else "") as found, contextlib.ExitStack() as stack:
        if target:
            file = stack.enter_context(Path(target.strip()).open("w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(file))
        code = run(words[1:])
    (printed,) = found
    if code not in (0, 2):
        raise AssertionError(f"{command}: exit code {code}\n{printed}")
    return printed


def run_program(code: str, names: dict[str, Any]) -> str:
    """What Python code prints; `names` are its variables, which later blocks share."""
    with captured() as found:
        exec(compile(code, "<page>", "exec"), names)
    return found[0]


def tidy(text: str) -> str:
    """The text without blanks at the ends of lines and without empty lines around it."""
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(lines).strip("\n")


def agrees(shown: str, printed: str) -> bool:
    """Whether an output is the one shown.

    >>> agrees("a\\n…\\nd 1.… s", "a\\nb\\nc\\nd 1.25 s"), agrees("a\\n…", "a"), agrees("a", "a\\nb")
    (True, True, False)
    """
    pattern = ""
    for line in tidy(shown).splitlines():
        pattern += r"(?:.*\n)*?" if line.strip() == "…" else ".*".join(map(_pattern, line.split("…"))) + r"\n"
    printed = tidy(printed)
    return re.fullmatch(pattern, f"{printed}\n" if printed else "") is not None


def _pattern(text: str) -> str:
    """A regular expression for a text in which each decimal fraction may differ by one in its last digit.

    >>> re.fullmatch(_pattern("F1 79.9 %, 3 labels"), "F1 80.0 %, 3 labels") is not None
    True
    """
    parts = re.split(r"(\d+\.\d+)", text)
    return "".join(_near(part) if place % 2 else re.escape(part) for place, part in enumerate(parts))


def _near(number: str) -> str:
    places = len(number.partition(".")[2])
    last = round(float(number) * 10**places)
    return "(?:" + "|".join(re.escape(f"{max(0, last + step) / 10**places:.{places}f}") for step in (-1, 0, 1)) + ")"


def console(body: str, differences: list[Difference]) -> str:
    """A console block with what its commands print."""
    written = []
    for step in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        match = re.match(r"((?:.*\\\n)*.*)\n?", step)
        assert match is not None
        command, shown = match[1], tidy(step[match.end() :])
        printed = tidy(run_command(re.sub(r"\\\n\s*", "", command)))
        if not agrees(shown, printed):
            differences.append(Difference(f"$ {command}", shown, printed))
            shown = printed
        written.append(f"$ {command}\n" + (f"{shown}\n" if shown else ""))
    return "".join(written)


def run_page(text: str) -> tuple[str, list[Difference]]:
    """Run a page in the current folder; the page with what its code prints, and where that differs."""
    differences: list[Difference] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    pieces: list[str] = []
    end = 0
    blocks = list(BLOCK.finditer(text))
    for number, block in enumerate(blocks):
        if block.start() < end or NOT_RUN.search(text, 0, block.start()):
            continue
        pieces.append(text[end : block.start()])
        end, whole, body = block.end(), block[0], textwrap.dedent(block["body"])
        if block["title"]:
            path = Path(block["title"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
        elif block["language"] == "console":
            whole = textwrap.indent(f"```console\n{console(body, differences)}```", block["indent"])
        elif block["language"] == "python":
            printed = tidy(run_program(body, names))
            after = blocks[number + 1] if number + 1 < len(blocks) else None
            shown = ""
            if after and after["language"] == "text" and not after["title"] and not text[end : after.start()].strip():
                shown, end = tidy(textwrap.dedent(after["body"])), after.end()
            if not agrees(shown, printed):
                differences.append(Difference(body, shown, printed))
                shown = printed
            whole += "\n\n" + textwrap.indent(f"```text\n{shown}\n```", block["indent"]) if shown else ""
        pieces.append(whole)
    return "".join([*pieces, text[end:]]), differences


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """Work in a new folder, with the width of a page and without colours."""
    settings = {"COLUMNS": "100", "NO_COLOR": "1"}
    before = {name: os.environ.get(name) for name in settings}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ.update(settings)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def main(arguments: list[str]) -> int:
    """Run the pages; 1 if one of them differs from what its code prints."""
    code = 0
    for page in [Path(one).absolute() for one in arguments if one != "--write"]:
        text = page.read_text(encoding="utf-8")
        with empty_folder():
            new, differences = run_page(text)
        if differences and "--write" in arguments:
            page.write_text(new, encoding="utf-8")
        for one in differences:
            code = 1
            sys.stdout.write(f"{page.name}: {one}\n\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
