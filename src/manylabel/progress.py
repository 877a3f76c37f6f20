"""One hook through which long loops report how far they are.

A library does not print. It calls `track` or `step`; whoever runs it (command line, server, test) installs a sink
with `reporting_to`. Without a sink, reporting costs one attribute look-up per step.

    >>> class Counter:
    ...     def __init__(self): self.seen = []
    ...     def started(self, what, total): self.seen.append((what, total))
    ...     def advanced(self, what, by): self.seen.append(by)
    ...     def finished(self, what): self.seen.append("done")
    >>> counter = Counter()
    >>> with reporting_to(counter):
    ...     list(track("Counting", [1, 2]))
    [1, 2]
    >>> counter.seen
    [('Counting', 2), 1, 1, 'done']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class ProgressSink(Protocol):
    """The interface of a progress display. Stages may nest; `what` names the stage."""

    def started(self, what: str, total: int | None) -> None:
        """A stage of `total` steps (None: unknown) begins."""

    def advanced(self, what: str, by: int) -> None:
        """The stage went on by some steps."""

    def finished(self, what: str) -> None:
        """The stage is over, or was left by an error."""


_sink: ContextVar[ProgressSink | None] = ContextVar("manylabel_progress", default=None)


@contextmanager
def reporting_to(sink: ProgressSink | None) -> Iterator[None]:
    """Send all progress of the enclosed block to `sink`."""
    token = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(token)


_reader: ContextVar[Callable[[str], None] | None] = ContextVar("manylabel_remarks", default=None)


@contextmanager
def remarks_to(reader: Callable[[str], None] | None) -> Iterator[None]:
    """Send every `remark` of the enclosed block to `reader`."""
    token = _reader.set(reader)
    try:
        yield
    finally:
        _reader.reset(token)


def remark(text: str) -> None:
    """Report a choice that was made for the user; nothing happens unless `remarks_to` installed a reader."""
    reader = _reader.get()
    if reader is not None:
        reader(text)


_figures: ContextVar[Callable[[str, float, int], None] | None] = ContextVar("manylabel_figures", default=None)


@contextmanager
def figures_to(reader: Callable[[str, float, int], None] | None) -> Iterator[None]:
    """Send every `interim_figure` of the enclosed block to `reader`."""
    token = _figures.set(reader)
    try:
        yield
    finally:
        _figures.reset(token)


def interim_figure(name: str, measure: Callable[[], float], steps: int) -> None:
    """Report what something reaches after some steps, before all is known; it is measured only if someone reads it."""
    reader = _figures.get()
    if reader is not None:
        reader(name, measure(), steps)


@contextmanager
def stage(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A stage of work; the block receives a function to call with the number of steps done since."""
    sink = _sink.get()
    if sink is None:
        yield lambda by: None
        return
    sink.started(what, total)
    try:
        yield lambda by: sink.advanced(what, by)
    finally:
        sink.finished(what)


def track(what: str, items: Iterable[Item], total: int | None = None) -> Iterator[Item]:
    """Yield the items, reporting one step after each."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with stage(what, total) as advance:
        for item in items:
            yield item
            advance(1)
