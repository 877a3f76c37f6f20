"""The reference of all public names: signature, parameters, attributes, methods and docstring of each."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from docs.build import table
from docs.generate.prose import PARAMETERS, Linker, as_markdown, code, first_line, inline, parameters
from manylabel.estimator import Estimator

NAMESPACES = (
    "manylabel",
    "manylabel.data",
    "manylabel.features",
    "manylabel.models",
    "manylabel.strategies",
    "manylabel.decisions",
    "manylabel.metrics",
    "manylabel.evaluation",
    "manylabel.integrations",
)
DOCS = Path(__file__).parents[1]
FOLDER = "reference/api/"
TYPES = {
    "Csr": "`scipy.sparse.csr_array`: documents × terms, or documents × labels with 0 and 1",
    "Floats, Ints, Bools": "NumPy arrays of `float64`, `int64` and `bool`",
    "LabelMatrix": "documents × labels with 0 and 1: a sparse array of SciPy, or anything NumPy makes an array of",
    "Scores": "documents × labels, real numbers: anything NumPy makes an array of, or a sparse array",
    "LabelSets": "one list of label names per document",
    "Documents": "texts, mappings from field to text, or documents × terms as `Csr`",
    "Over": "the labels of a macro average: `all`, `present` or `present_or_predicted`",
}
SHARED = {
    "alpha": "what is added to every count (additive smoothing)",
    "fallback": "what a document without a label gets: no label (`none`), or the one with the highest score (`argmax`)",
    "floor": "labels whose best F1 is below this are too rare for a threshold of their own, see `PerLabelThreshold`",
    "folds": "the number of folds for out-of-fold scores",
    "max_iter": "the largest number of rounds of training",
    "n_jobs": "the number of threads; None uses all cores, and the result does not depend on it",
    "seed": "the seed of random choices: the same seed gives the same result",
    "shrinkage": "how strongly thresholds of rare labels are drawn to the common one, see `PerLabelThreshold`",
    "tol": "training ends when a round changes less than this",
}
"""Parameters that mean the same in every class."""
TYPES_TEXT = "\n## Types in signatures\n\n"


@dataclass(frozen=True)
class Group:
    """Names that a namespace lists under one title; without a title, all its names."""

    title: str
    names: tuple[str, ...]


@cache
def places() -> dict[str, str]:
    """The address of every public name, from the root of the site; also of names with their namespace."""
    found = {}
    for namespace in reversed(NAMESPACES):  # where two namespaces have a name, the first one is meant
        for name in import_module(namespace).__all__:
            found[f"{namespace}.{name}"] = found[name] = f"{FOLDER}{namespace}.md#{namespace}.{name}"
    return found


def linker(up: str) -> Linker:
    """A function that returns the address of a public name or of a page of docs; `up` leads to the root of the site."""

    def address(name: str) -> str | None:
        plain = name.removesuffix("()")
        if plain.startswith("docs/"):
            found = next(DOCS.glob(f"{plain.removeprefix('docs/').removesuffix('.md')}*.md"), None)
            return f"{up}{found.relative_to(DOCS).as_posix()}" if found else None
        is_plain_word = plain.islower() and "." not in plain and "_" not in plain
        return None if is_plain_word or plain not in places() else up + places()[plain]

    return address


address = linker("../../")
"""Addresses as the pages of this reference need them."""


def pages() -> dict[str, str]:
    """One page for each namespace, and the list of them."""
    found = {f"{FOLDER}index.md": _index()}
    for namespace in NAMESPACES:
        found[f"{FOLDER}{namespace}.md"] = _page(import_module(namespace))
    return found


def _index() -> str:
    rows = [
        [f"[`{name}`]({name}.md)", first_line(import_module(name).__doc__), str(len(import_module(name).__all__))]
        for name in NAMESPACES
    ]
    intro = "# Python\n\nEvery public name. What is not listed here may change at any time.\n\n"
    kinds = [[code(name), text] for name, text in TYPES.items()]
    return (
        intro + table(["namespace", "what it holds", "names"], rows) + TYPES_TEXT + table(["type", "what it is"], kinds)
    )


def _page(module: ModuleType) -> str:
    intro, groups = _groups(module)
    parts = [f"# {module.__name__}\n", intro + "\n"]
    for group in groups:
        parts.append(f"## {group.title}\n" if group.title else "")
        parts += [_described(module, name, "###" if group.title else "##") for name in group.names]
    return "\n".join(parts)


def _groups(module: ModuleType) -> tuple[str, list[Group]]:
    """The introduction of a namespace's docstring, and the names it lists."""
    blocks = inspect.cleandoc(module.__doc__ or "").split("\n\n")
    lists = [block for block in blocks if re.match(r"\w.*\n    ", block)]
    if not lists:
        names = [name for name in module.__all__ if name != "__version__"]
        return as_markdown(module.__doc__ or "", address), [Group("", tuple(names))]
    groups = []
    for block in lists:
        title, *lines = block.splitlines()
        groups.append(Group(title, tuple(line.split()[0] for line in lines)))
    return as_markdown("\n\n".join(block for block in blocks if block not in lists), address), groups


def _described(module: ModuleType, name: str, level: str) -> str:
    value = getattr(module, name)
    head = f"{level} {name} {{ #{module.__name__}.{name} }}\n\n"
    if inspect.isclass(value):
        return head + _class(value, name, f"{level}#")
    if inspect.isroutine(value):
        return head + _routine(value, name)
    return head + _constant(module, name, value)


def _constant(module: ModuleType, name: str, value: Any) -> str:
    """A table or a setting: its type, and what the docstring of the namespace says of it."""
    listed = re.search(rf"^    {name} +(.+)$", module.__doc__ or "", re.MULTILINE)
    text = f"`{type(value).__name__}`: {listed[1]}." if listed else f"`{type(value).__name__}`."
    if isinstance(value, dict):
        text += " Keys: " + ", ".join(code(str(key)) for key in value) + "."
    return text + "\n"


def _routine(value: Any, name: str) -> str:
    return f"```python\n{signature(value, name)}\n```\n\n{_prose_of(value)}\n"


def _prose_of(value: Any) -> str:
    """The docstring of a function or class; parameters that have the names of functions are no links.

    Those of an estimator are left out: its table lists them.
    """
    try:
        own = set(inspect.signature(value).parameters)
    except ValueError:
        own = set()
    text = inspect.cleandoc(value.__doc__ or "")
    if inspect.isclass(value) and issubclass(value, Estimator):
        text = "\n\n".join(block for block in text.split("\n\n") if not PARAMETERS.match(block))
    return as_markdown(text, lambda name: None if name in own else address(name))


def signature(value: Any, name: str) -> str:
    """The signature as it is written in Python, on several lines where it is long."""
    try:
        found = inspect.signature(value)
    except ValueError:  # of a compiled function
        return f"{name}(…)"
    given = [one for one in found.parameters.values() if one.name not in ("self", "cls")]
    arguments: list[str] = []
    starred = False
    for one in given:
        if one.kind is one.KEYWORD_ONLY and not starred and not any(o.kind is o.VAR_POSITIONAL for o in given):
            arguments.append("*")
            starred = True
        arguments.append(_argument(one))
    result = (
        "" if found.return_annotation in (inspect.Signature.empty, "None") else f" -> {_type(found.return_annotation)}"
    )
    line = f"{name}({', '.join(arguments)}){result}"
    return line if len(line) <= 88 else f"{name}(\n    " + ",\n    ".join(arguments) + f",\n){result}"


def _argument(one: inspect.Parameter) -> str:
    star = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
    kind = "" if one.annotation is one.empty else f": {_type(one.annotation)}"
    default = "" if one.default is one.empty else f" = {one.default!r}" if kind else f"={one.default!r}"
    return f"{star}{one.name}{kind}{re.sub(r' at 0x[0-9a-f]+', '', default)}"


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _class(value: type, name: str, level: str) -> str:
    if is_dataclass(value):
        shown, attributes = "", _fields(value)
    else:
        shown = f"```python\n{signature(value, name)}\n```\n\n" if value.__init__ is not object.__init__ else ""  # type: ignore[misc]
        attributes = _settings(value) + _learned(value)
    bases = [base.__name__ for base in value.__mro__[1:] if base.__name__ in places()]
    of = f"Inherits from {', '.join(_linked(base) for base in bases)}.\n\n" if bases else ""
    body = _prose_of(value) + "\n\n"
    return shown + of + body + attributes + _properties(value) + "".join(_methods(value, level))


def _linked(name: str) -> str:
    return inline(f"`{name}`", address)


def _fields(value: Any) -> str:
    texts = _attribute_texts(value)
    rows = [
        [code(one.name), code(_type(one.type)), _default(one), inline(texts.get(one.name, ""), address)]
        for one in fields(value)
        if not one.name.startswith("_")
    ]
    return filled(["field", "type", "default", "what it is"], rows)


def filled(head: list[str], rows: list[list[str]]) -> str:
    """A table without the columns that are empty."""
    kept = [column for column in range(len(head)) if any(row[column] for row in rows)]
    return table([head[column] for column in kept], [[row[column] for column in kept] for row in rows]) + "\n"


def _default(one: Any) -> str:
    if one.default is not MISSING:
        return code(repr(one.default))
    return code(f"{one.default_factory.__name__}()") if one.default_factory is not MISSING else ""


def _attribute_texts(value: type) -> dict[str, str]:
    """What strings after the attributes of a class say of them."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(value))).body
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    found = {}
    for one, after in pairwise(body):
        match one, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = first_line(text)
    return found


def _settings(value: type) -> str:
    """The parameters of an estimator: their defaults, the values that they may have, and what they do."""
    if not issubclass(value, Estimator):
        return ""
    texts = parameter_texts(value)
    rows = [
        [
            code(name),
            code(repr(default)),
            inline(str(value.parameter_constraints.get(name, "")), address),
            inline(texts.get(name, ""), address),
        ]
        for name, default in value.parameter_defaults().items()
    ]
    return filled(["parameter", "default", "allowed", "what it does"], rows)


def parameter_texts(value: type) -> dict[str, str]:
    """What is said of each parameter in the docstring of a class, or of all classes that share it."""
    return {**SHARED, **parameters(value.__doc__)}


def _learned(value: type) -> str:
    """What an estimator has learned after `fit`."""
    if not issubclass(value, Estimator) or not value.learned:
        return ""
    kinds: dict[str, Any] = {}
    for one in reversed(value.__mro__):
        kinds.update(vars(one).get("__annotations__", {}))
    names = ", ".join(
        code(name) + (f" ({code(_type(kinds[name]))})" if name in kinds else "") for name in value.learned
    )
    return f"Learned by `fit`: {names}.\n\n"


def _own(value: type) -> Iterator[tuple[str, Any]]:
    """The public attributes of a class that no other class of the reference has too, from which it inherits."""
    seen: set[str] = set()
    inherited = {name for base in value.__mro__[1:] if base.__name__ in places() for name in dir(base)}
    for owner in value.__mro__:
        if not owner.__module__.startswith("manylabel") or (owner is not value and owner.__name__ in places()):
            continue
        for name, member in vars(owner).items():
            if not name.startswith("_") and name not in seen | inherited:
                seen.add(name)
                yield name, member


def _properties(value: type) -> str:
    rows = [
        [code(name), inline(first_line(member.__doc__), address)]
        for name, member in _own(value)
        if isinstance(member, property)
    ]
    return table(["attribute", "what it is"], rows) + "\n"


def _methods(value: type, level: str) -> Iterator[str]:
    for name, member in _own(value):
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        text = inspect.getdoc(function) if inspect.isfunction(function) else None
        if text and not text.startswith("See `"):
            yield (
                f"{level} {name} {{ #{value.__module__}.{value.__name__}.{name} .method }}\n\n"
                + _routine(function, name)
                + "\n"
            )
