"""The reference of the command line, from its parser: every command with its arguments, options and defaults."""

import re
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from typing import Any

import typer

from docs.build import table
from docs.generate.api import linker
from docs.generate.prose import code, inline
from manylabel.cli.app import app
from manylabel.cli.reading import DataOptions

FOLDER = "reference/commands/"
EXAMPLES = {
    "demo": ["manylabel demo"],
    "train": [
        "manylabel train townhall --model townhall.manylabel",
        "manylabel train townhall --method svm --set model.C=0.5 --metric macro-f1 --model svm.manylabel",
    ],
    "predict": ['echo "The bus was late again." | manylabel predict townhall.manylabel --scores'],
    "explain": ['manylabel explain townhall.manylabel "The bus was late again."'],
    "evaluate": [
        "manylabel evaluate townhall --model townhall.manylabel",
        "manylabel evaluate townhall --method nb --method svm --json > nb-svm.json",
    ],
    "results": ["manylabel results nb-svm.json"],
    "compare": ["manylabel compare townhall --methods nb,rocchio --budget 20s"],
    "tune": ["manylabel tune townhall --method nb --budget 20s --model tuned.manylabel"],
    "learning-curve": ["manylabel learning-curve townhall --method nb"],
    "select": ["manylabel select townhall --function chi2 --function ig --label streets/roads"],
    "rules": ["manylabel rules townhall --words 3 > rules.txt"],
    "reproduce": ["manylabel reproduce vilar2004 --quick --report papers.html"],
    "inspect": ["manylabel inspect townhall.manylabel"],
    "card": ["manylabel card townhall.manylabel --licence CC-BY-4.0 --report card.md"],
    "thresholds": [
        "manylabel thresholds townhall.manylabel",
        "manylabel thresholds townhall.manylabel --all 0.5 --output half.manylabel",
    ],
    "update": [
        "manylabel update townhall.manylabel --rename streets/roads=roads --retire leisure/events --output 2.manylabel"
    ],
    "export": ["manylabel export townhall.manylabel --to js"],
    "methods": ["manylabel methods"],
    "serve": ["manylabel serve townhall.manylabel --port 8000", "manylabel serve --demo"],
    "bench-server": ["manylabel bench-server http://127.0.0.1:8000 --seconds 5"],
    "describe": ["manylabel describe townhall"],
    "labels": ["manylabel labels townhall"],
    "audit": ["manylabel audit townhall --split train"],
    "suggest": ["manylabel suggest townhall --documents 5"],
    "convert": ["manylabel convert townhall letters.jsonl --split train"],
    "synthesize": ["manylabel synthesize made-up.jsonl --documents 1000"],
    "plan": ["manylabel plan made-up.jsonl --method nb"],
    "distil": ["manylabel distil letters.jsonl --to distilled.manylabel --method nb-binary"],
    "fetch": ["manylabel fetch reuters21578"],
    "corpora": [
        "manylabel corpora import work letters townhall",
        "manylabel corpora score work letters --model townhall.manylabel",
        "manylabel corpora labels work letters --order f1",
        "manylabel corpora export work letters corrected.csv",
    ],
}
"""Examples by command, in an order in which they run one after the other."""
EXAMPLES_NOT_RUN = {
    "reproduce": "takes minutes and needs research data",
    "serve": "runs until it is stopped; the commands of serving.md are run",
    "bench-server": "needs a running server",
    "fetch": "downloads",
    "compare": "takes as long as its budget",
    "tune": "takes as long as its budget",
}
KINDS = {"str": "TEXT", "path": "PATH", "Path": "PATH", "int": "NUMBER", "float": "NUMBER"}
INTRO = """\
# Command line

`manylabel COMMAND --help` prints the same as these pages. Every command that reports something takes `--json`. Errors
go to standard error, and the [exit code](../exit-codes.md) shows what happened. `python -m manylabel` is the same
program.

"""


def pages() -> dict[str, str]:
    """One page for each command, and the table of all of them."""
    rows = [[f"[`{name}`]({name}.md)", _summary(command)] for name, command in program().commands.items()]
    found = {f"{FOLDER}index.md": INTRO + table(["command", "what it does"], rows) + _general()}
    for name, command in program().commands.items():
        found[f"{FOLDER}{name}.md"] = _group(name, command) if is_group(command) else _page(name, command)
    return found


@cache
def program() -> Any:
    """The parser of the command line."""
    return typer.main.get_command(app)


def is_group(command: Any) -> bool:
    """Whether a command has commands of its own."""
    return isinstance(command, type(program()))


def _context(command: Any, name: str) -> Any:
    return type(program().make_context("manylabel", [], resilient_parsing=True))(command, info_name=name)


def _summary(command: Any) -> str:
    return _prose(command.help.split("\n\n")[0])


def _general() -> str:
    context = _context(program(), "manylabel")
    return "\n## Options before the command\n\n" + _table(program().get_params(context), context)


def _group(name: str, group: Any) -> str:
    """The page of a command with commands of its own, one section for each."""
    rows = [[f"[`{one}`](#{name}-{one})", _summary(command)] for one, command in group.commands.items()]
    parts = [f"# manylabel {name}\n", _prose(group.help) + "\n", _section("Examples", _examples(name))]
    parts += ["## Commands\n", table(["command", "what it does"], rows)]
    for one, command in group.commands.items():
        context = _context(command, f"manylabel {name} {one}")
        given = command.get_params(context)
        parts += [f"## {name} {one} {{ #{name}-{one} }}\n", _usage(command, context), _prose(command.help) + "\n"]
        parts.append(_table(given, context, "argument or option"))
    return "\n".join(parts)


def _page(name: str, command: Any) -> str:
    context = _context(command, f"manylabel {name}")
    given = command.get_params(context)
    reading = {field.name for field in fields(DataOptions)}
    arguments = [one for one in given if one.param_type_name == "argument"]
    options = [one for one in given if one.param_type_name == "option" and one.name not in reading]
    return "\n".join(
        [
            f"# manylabel {name}\n",
            _usage(command, context),
            _prose(command.help) + "\n",
            _section("Examples", _examples(name)),
            _section("Arguments", _table(arguments, context, "argument")),
            _section("Options", _table(options, context)),
            _section("Options for reading data", _table([one for one in given if one.name in reading], context)),
        ]
    )


def _usage(command: Any, context: Any) -> str:
    line = " ".join(command.get_usage(context).removeprefix("Usage: ").split())
    return f"```text\n{re.sub(r'{(.+?)}', lambda match: match[1].upper(), line)}\n```\n"


def _examples(name: str) -> str:
    lines = "\n".join(EXAMPLES.get(name, ()))
    reason = f"<!-- not run: {EXAMPLES_NOT_RUN[name]} -->\n" if name in EXAMPLES_NOT_RUN else ""
    return f"{reason}```sh\n{lines}\n```\n" if lines else ""


def _section(title: str, body: str) -> str:
    return f"## {title}\n\n{body}" if body else ""


def _table(given: Iterable[Any], context: Any, head: str = "option") -> str:
    rows = []
    for one in given:
        if (record := one.get_help_record(context)) is None:  # a hidden option
            continue
        names, text = record
        told, _, facts = text.partition("  [")
        default = re.search(r"default: ([^;\]]+)", facts)
        rows.append([_readable(names), _prose(told), code(default[1]) if default else _needed(facts)])
    return table([head, "what it does", "default"], rows)


def _needed(facts: str) -> str:
    return "required" if "required" in facts else ""


def _readable(names: str) -> str:
    """The names of an option with what it takes, each word as code.

    >>> _readable("-s, --set <list[str]>"), _readable("--rows <int range>"), _readable("--on-error <raise|skip>")
    ('`-s`, `--set` `TEXT…`', '`--rows` `NUMBER`', '`--on-error` `raise` or `skip`')
    """
    several = re.sub(r"<list\[(\w+)\]>", lambda match: f"{KINDS.get(match[1], match[1])}…", names)
    plain = re.sub(r"<(\w+)(?: range)?>", lambda match: KINDS.get(match[1], match[1]), several)
    choices = re.sub(r"<([^<>]+\|[^<>]+)>", lambda match: match[1].replace("|", " or "), plain)
    words = [one if one in ("/", "or") else f"`{one.rstrip(',')}`{',' * one.endswith(',')}" for one in choices.split()]
    return " ".join(words)


def _prose(text: str) -> str:
    paragraphs = [" ".join(one.split()) for one in text.split("\n\n")]
    return "\n\n".join(inline(one, linker("../../")) for one in paragraphs)
