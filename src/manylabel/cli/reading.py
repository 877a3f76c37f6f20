"""The options of commands that read data, and the source that they describe."""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from manylabel.tasks.corpora import Source


class OnErrorChoice(StrEnum):
    """The values of ``--on-error``: what to do with a line that cannot be read."""

    RAISE = "raise"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class DataOptions:
    """The options of every command that reads data; `takes_data_options` adds them to a command."""

    hierarchy: Annotated[
        str | None,
        typer.Option(
            "--hierarchy",
            help="The parents of labels: 'names:/' reads them from names such as area/topic; otherwise a file with "
            "child, tab, parent on each line, or a SKOS thesaurus (.ttl, .nt, .rdf, .xml).",
            show_default=False,
        ),
    ] = None
    vocabulary: Annotated[
        str | None,
        typer.Option(
            "--vocabulary",
            help="A file with the addresses (URIs) and names of labels: SKOS, TSV (<address>, tab, name) or CSV (uri, "
            "label_en …). By default one that lies beside the data; for convert, none.",
            show_default=False,
        ),
    ] = None
    label_language: Annotated[
        str | None,
        typer.Option(
            "--label-language",
            help="The language in which the vocabulary names the labels, such as en; by default that of the labels or "
            "texts.",
            show_default=False,
        ),
    ] = None
    split_by: Annotated[
        str | None,
        typer.Option(
            "--split-by",
            help="Divide the documents anew: by a column (author, thread, source) whose documents all go to one split; "
            "time:COLUMN to divide by date; 'duplicates' to keep near-duplicates together; or 'random' to draw "
            "documents without regard to their labels.",
            show_default=False,
        ),
    ] = None
    format: Annotated[
        str | None, typer.Option("--format", help="The format of the data; guessed by default.", show_default=False)
    ] = None
    text_column: Annotated[
        list[str] | None,
        typer.Option(
            "--text-column",
            help="The column that holds the text; repeat it to read several columns, the main text last. No "
            "other column is read as a text then.",
            show_default=False,
        ),
    ] = None
    label_column: Annotated[
        list[str] | None,
        typer.Option(
            "--label-column",
            help="The column that holds the labels, or a pattern such as 'label_*'; repeat it to join several columns. "
            "Where there are several, a column of 0 and 1 or of yes and no is a label of its name.",
            show_default=False,
        ),
    ] = None
    label_separator: Annotated[
        str | None,
        typer.Option(
            "--label-separator",
            help="What separates the labels of a cell; 'none': a cell is one label; 'any': all of ; | , and / between "
            "blanks.",
            show_default=False,
        ),
    ] = None
    merge_labels: Annotated[
        bool,
        typer.Option(
            "--merge-labels",
            help="Merge labels that differ only in case, blanks or Unicode form; the most frequent spelling is kept.",
        ),
    ] = False
    drop_unlabelled: Annotated[
        bool,
        typer.Option(
            "--drop-unlabelled",
            help="Leave out documents without a label: they are not labelled yet. By default no label applies to them.",
        ),
    ] = False
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", help="The encoding of the text; UTF-8 by default.", show_default=False),
    ] = None
    on_error: Annotated[
        OnErrorChoice, typer.Option("--on-error", help="Stop at a bad line, or skip it and list it at the end.")
    ] = OnErrorChoice.RAISE
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", help="Any other option of the reader, as key=value.", show_default=False),
    ] = None
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            help="Change a limit on what a file may hold, as name=number, for example features=10000000.",
            show_default=False,
        ),
    ] = None

    def source(self, data: str) -> Source:
        """The source of that name or path, read with these options."""
        from manylabel.data.limits import Limits
        from manylabel.exceptions import ParameterError
        from manylabel.setting_values import parse_value
        from manylabel.tasks.corpora import Source

        texts = self.text_column or None
        named = {
            "text_column": texts[0] if texts is not None and len(texts) == 1 else texts,
            "label_column": self.label_column or None,
            "label_separator": self.label_separator,
            "encoding": self.encoding,
        }
        options: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
        for assignment in self.option or []:
            key, equals, text = assignment.partition("=")
            if not equals:
                raise ParameterError(
                    f"A reader's option (-o) is written key=value, not {assignment!r}. "
                    "--help lists the option for the file to write."
                )
            options[key.strip().replace("-", "_")] = parse_value(text)
        return Source(
            data,
            format=self.format,
            on_error=self.on_error.value,
            options=options,
            hierarchy=self.hierarchy,
            vocabulary=self.vocabulary,
            label_language=self.label_language,
            split_by=self.split_by,
            merge_labels=self.merge_labels,
            drop_unlabelled=self.drop_unlabelled,
            limits=Limits.parsed(self.limit or []),
        )

    def arguments(self) -> str:
        """The options that were given, as they are written after the data on a command line.

        >>> DataOptions(text_column=["short text"], label_separator=";", on_error=OnErrorChoice.SKIP).arguments()
        " --text-column 'short text' --label-separator ';' --on-error skip"
        """
        words: list[str] = []
        hints = get_type_hints(DataOptions, include_extras=True)
        for field in fields(DataOptions):
            value = getattr(self, field.name)
            if value != field.default:
                flag = hints[field.name].__metadata__[0].default  # Typer's name for the first argument of Option
                for one in value if isinstance(value, list) else [value]:
                    words += [flag] if one is True else [flag, str(one)]
        return " " * bool(words) + shlex.join(words)


def takes_data_options(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator that replaces the parameter ``reading`` of a command by the options of `DataOptions`.

    Options named in `without` are left out. The command is called with one `DataOptions` as ``reading``; Typer sees one
    parameter per option, so that ``--help`` lists them where ``reading`` stands.

    >>> @takes_data_options("hierarchy", "vocabulary", "label_language", "split_by", "label_column", "label_separator",
    ...     "merge_labels", "drop_unlabelled")
    ... def command(data: str, *, reading: DataOptions) -> None:
    ...     print(reading.source(data).options)
    >>> list(inspect.signature(command).parameters)
    ['data', 'format', 'text_column', 'encoding', 'on_error', 'option', 'limit']
    >>> command("letters.csv", text_column=["body"])
    {'text_column': 'body'}
    """
    names = [field.name for field in fields(DataOptions) if field.name not in without]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*arguments: Any, **values: Any) -> None:
            given = {name: values.pop(name) for name in names if name in values}
            command(*arguments, **values, reading=DataOptions(**given))

        parameters = _parameters(command, names)
        run.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
        run.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
        return run

    return decorate


def _parameters(command: Callable[..., None], names: list[str]) -> Mapping[str, inspect.Parameter]:
    """The parameters of a command with the data options in place of ``reading``."""
    hints, shared = get_type_hints(command, include_extras=True), get_type_hints(DataOptions, include_extras=True)
    defaults = {field.name: field.default for field in fields(DataOptions)}
    found: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if name == "reading":
            for option in names:
                found[option] = inspect.Parameter(
                    option, parameter.kind, default=defaults[option], annotation=shared[option]
                )
        else:
            found[name] = parameter.replace(annotation=hints[name])
    return found
