"""Words of messages: numbers with their nouns ("1 label", "2 labels"), and settings as their readers give them.

A setting such as `text_column` is a parameter in Python, an option on the command line and a field of a request. The
command line and the server state which of them is meant with `settings_worded_for`; messages name settings by
`setting_name` and `settings_text`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias

__all__ = [
    "COUNTED",
    "Interface",
    "counted",
    "is_worded_for",
    "setting_name",
    "settings_text",
    "settings_worded_for",
    "there_are",
    "worded_for",
]

Interface: TypeAlias = Literal["python", "command line", "request"]
Setting: TypeAlias = str | int | bool | tuple[str, ...] | None

COUNTED = "(documents count from 0)"
"""What messages add to the number of a document that users have in a list."""
FLAGS = frozenset(
    {"format", "encoding", "text_column", "label_column", "label_separator", "merge_labels", "drop_unlabelled"}
)
"""Settings of reading that have an option of their own on the command line; the others follow ``-o``."""
JOB_FIELDS = frozenset({"method", "metric", "model", "budget"})
"""Settings beside those of reading: a request has them beside its ``options``."""
TASKS = frozenset(
    {
        "add",
        "cluster",
        "drop_duplicates",
        "encoder",
        "hierarchy",
        "label_language",
        "memory",
        "merge",
        "only_new_labels",
        "order_by",
        "precision",
        "prompts",
        "recall",
        "rename",
        "repeats",
        "single_label",
        "split_by",
        "split_label",
        "vectors",
        "vocabulary",
        "workers",
    }
)
"""Settings of tasks and of their data; requests have neither these, nor those of `OTHER_NAMES`, nor those of a section
of a method."""
OTHER_NAMES = {
    "analyse": "--report and --tables",
    "decision.probabilities": "--probabilities",
    "descriptions": "--label-descriptions",
    "engine": "--workers and --cluster",
    "former": "--with",
    "source": "--data",
}
"""Options that are not named as their settings are; other settings of sections follow ``--set``."""

_interface: ContextVar[Interface] = ContextVar("manylabel_interface", default="python")


@contextmanager
def settings_worded_for(interface: Interface) -> Iterator[None]:
    """Name settings in all messages of the enclosed block as they are given there."""
    token = _interface.set(interface)
    try:
        yield
    finally:
        _interface.reset(token)


def worded_for() -> Interface:
    """The interface whose users read the messages."""
    return _interface.get()


def is_worded_for(interface: Interface) -> bool:
    """Whether messages are read by those who use this interface."""
    return worded_for() == interface


def setting_name(name: str) -> str:
    """The name of a setting where it is given.

    >>> setting_name("text_column")
    'text_column'
    >>> with settings_worded_for("command line"):
    ...     setting_name("text_column"), setting_name("sheet")
    ('--text-column', '-o sheet=…')
    >>> with settings_worded_for("request"):
    ...     setting_name("text_column"), setting_name("method")
    ('options.text_column', "'method'")
    >>> with settings_worded_for("request"):
    ...     setting_name("memory")
    '--memory on the command line'
    """
    if is_worded_for("command line"):
        return command_line_name(name)
    if is_worded_for("request"):
        if not _is_in_requests(name):
            return f"{command_line_name(name)} on the command line"
        return f"'{name}'" if name in JOB_FIELDS else f"options.{name}"
    return name


def _is_in_requests(name: str) -> bool:
    return name not in TASKS and name not in OTHER_NAMES and "." not in name


def command_line_name(name: str) -> str:
    """The option that gives a setting on the command line."""
    if name in OTHER_NAMES:
        return OTHER_NAMES[name]
    if "." in name:
        return f"--set {name}=…"
    return f"--{name.replace('_', '-')}" if name in FLAGS | JOB_FIELDS | TASKS else f"-o {name}=…"


def settings_text(**values: Setting) -> str:
    """Settings with their values, as they are given; a tuple gives a setting several values.

    A setting of a section of a method has the section before a dot.

    >>> settings_text(header=False, label_column=("area", "sub area"))
    "header=False, label_column=['area', 'sub area']"
    >>> with settings_worded_for("command line"):
    ...     settings_text(header=False, label_column=("area", "sub area"), merge_labels=True)
    "-o header=false --label-column area --label-column 'sub area' --merge-labels"
    >>> with settings_worded_for("request"):
    ...     settings_text(header=False, label_column=("area", "sub area"))
    '"options": {"header": false, "label_column": ["area", "sub area"]}'
    >>> settings_text(**{"features.stemmer": None, "single_label": False})
    "features={'stemmer': None}, single_label=False"
    >>> with settings_worded_for("command line"):
    ...     settings_text(**{"features.stemmer": None, "model.views": (), "single_label": False})
    "--set features.stemmer=none --set 'model.views=[]' --multi-label"
    >>> with settings_worded_for("request"):
    ...     settings_text(**{"decision.probabilities": "logistic"})
    '--probabilities logistic on the command line'
    """
    if is_worded_for("command line"):
        return _assignments(values)
    if is_worded_for("request"):
        if not any(map(_is_in_requests, values)):
            return f"{_assignments(values)} on the command line"
        fields = {name: value for name, value in values.items() if name in JOB_FIELDS}
        options = {name: value for name, value in values.items() if name not in JOB_FIELDS}
        return json.dumps(fields | ({"options": options} if options else {}), ensure_ascii=False)[1:-1]
    return ", ".join(
        _argument(name, list(value) if isinstance(value, tuple) else value) for name, value in values.items()
    )


def _argument(name: str, value: object) -> str:
    """A setting as an argument in Python."""
    section, _, key = name.rpartition(".")
    return f"{section}={{{key!r}: {value!r}}}" if section else f"{name}={value!r}"


def _assignments(values: Mapping[str, Setting]) -> str:
    """Settings with their values on the command line."""
    return " ".join(_assignment(name, one) for name, value in values.items() for one in _each(name, value))


def _each(name: str, value: Setting) -> tuple[str | int | bool | None, ...]:
    """The values of a setting, each of which is given by itself; a list in a section is one value."""
    if not isinstance(value, tuple):
        return (value,)
    return (json.dumps(value, ensure_ascii=False),) if "." in name else value


def _assignment(name: str, value: str | int | bool | None) -> str:
    """A setting with one value on the command line."""
    if name == "single_label":
        return "--single-label" if value else "--multi-label"
    flag = command_line_name(name).removesuffix("…")
    if value is True and name in FLAGS:
        return flag
    written = str(value).lower() if value is None or isinstance(value, bool) else str(value)
    if "." in name and flag.endswith("="):
        option, _, assigned = f"{flag}{written}".partition(" ")
        return f"{option} {shlex.quote(assigned)}"
    return f"{flag}{shlex.quote(written)}" if flag.endswith("=") else f"{flag} {shlex.quote(written)}"


def counted(count: int, one: str, several: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "label"), counted(1200, "label"), counted(2, "label is", "labels are")
    ('1 label', '1,200 labels', '2 labels are')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def there_are(count: int, one: str, several: str | None = None, adverb: str = "") -> str:
    """A number with its noun after "there is" or "there are".

    >>> there_are(1, "document"), there_are(3, "document", adverb="only")
    ('there is 1 document', 'there are only 3 documents')
    """
    return " ".join(filter(None, ["there is" if count == 1 else "there are", adverb, counted(count, one, several)]))


def shown(value: object, most: int = 200) -> str:
    """A value of a setting as a message shows it: its beginning where it is long.

    >>> shown("a"), shown([1, 2]), shown(16**5000)
    ("'a'", '[1, 2]', 'a very large number')
    """
    try:
        text = repr(value)
    except ValueError:  # Python does not print whole numbers of more than 4300 digits
        return "a very large number"
    except RecursionError:
        return "a deeply nested value"
    return text if len(text) <= most else f"{text[:most]}…"
