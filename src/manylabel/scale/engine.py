"""Engines: where tasks on shards run. A task is a named function of plain arguments whose result is a file or a folder.

A result appears under its name when it is complete and not before: it is the completion marker of its task, and a run
that was interrupted goes on with the tasks whose results are missing. Nothing but names, plain data and files passes
between processes, so that the same tasks run here, in worker processes and on other machines that share the files.
"""

from __future__ import annotations

import importlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Self

from manylabel.data.atomic import atomic_text
from manylabel.exceptions import DataError, ManylabelError, ParameterError
from manylabel.progress import stage, track
from manylabel.wording import setting_name, settings_worded_for, worded_for

ROOM = "manylabel.scale."
ARITY = 8
"""How many results one task of `Engine.reduce` merges."""


@dataclass(frozen=True, slots=True)
class Task:
    """A call ``function(output, **arguments)`` that writes the file or folder `output`."""

    function: str
    """``module:function``, a module of `manylabel.scale`."""
    output: Path
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Plain data: strings, numbers, lists and dictionaries of them."""

    @property
    def name(self) -> str:
        """A short name for displays: the function and the name of its result."""
        return f"{self.function.partition(':')[2]} {self.output.name}"

    @property
    def is_done(self) -> bool:
        """Whether the result is complete."""
        return self.output.exists()

    def as_dict(self) -> dict[str, Any]:
        """The task as plain data, with the interface for which a worker words its messages."""
        return {
            "function": self.function,
            "output": str(self.output.absolute()),  # workers may work in other folders
            "arguments": dict(self.arguments),
            "interface": worded_for(),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The task that `as_dict` described."""
        return cls(plain["function"], Path(plain["output"]), plain["arguments"])


def run_task(task: Task) -> None:
    """Run a task in this process, unless its result is complete.

    The function writes under another name; the result gets its own when it is complete. Of two processes that run the
    same task, as after a lost connection, the first one wins.
    """
    if task.is_done:
        return
    module, _, name = task.function.partition(":")
    function = getattr(importlib.import_module(ROOM + module), name)
    task.output.parent.mkdir(parents=True, exist_ok=True)
    part = task.output.with_name(f".{task.output.name}.{secrets.token_hex(6)}.part")
    try:
        function(part, **task.arguments)
        try:
            os.replace(part, task.output)
        except OSError:  # a folder does not replace a folder
            if not task.is_done:
                raise
    finally:
        if part.is_dir():
            shutil.rmtree(part)
        else:
            part.unlink(missing_ok=True)


def begin_work(folder: Path, name: str, description: Mapping[str, Any]) -> bool:
    """Prepare a folder for results of tasks; whether it holds results already, of work with the same description.

    The description is kept in the file `name`. A folder with other work of this kind is emptied; one with other files
    is an error.
    """
    described = json.dumps(description, sort_keys=True, default=str)
    note = folder / name
    if note.exists() and note.read_text(encoding="utf-8") == described:
        return True
    if folder.exists():
        if any(folder.iterdir()) and not note.exists():
            raise DataError(
                "The folder holds other files than results of tasks.",
                path=folder,
                remedy="Give an empty folder for the work, or remove this one.",
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    with atomic_text(note) as stream:
        stream.write(described)
    return False


class Engine(ABC):
    """Runs tasks. What they compute does not depend on the engine, the number of workers or threads, or the order."""

    threads: int = 1
    """How many threads a task may use."""

    @abstractmethod
    def run(self, tasks: Sequence[Task], what: str) -> None:
        """Run all tasks whose results are missing; `what` names the stage for a display of progress."""

    def rest(self) -> None:
        """Give back the memory of idle workers, because this process needs it; the next run starts them again."""
        return

    def close(self) -> None:
        """End what was started for this engine alone."""
        return

    def reduce(self, function: str, results: Sequence[Path], folder: Path, what: str) -> Path:
        """Merge results by ``function(output, inputs=…)`` into one, and return where it is.

        The tree of merges depends on the number of results alone, so that sums of floats are the same everywhere.
        """
        level = 0
        while len(results) > 1:
            groups = [results[start : start + ARITY] for start in range(0, len(results), ARITY)]
            tasks = [
                Task(function, folder / f"{level}-{number:05d}", {"inputs": _absolute(group)})
                for number, group in enumerate(groups)
            ]
            self.run(tasks, what)
            results, level = [task.output for task in tasks], level + 1
        return results[0]


def _absolute(paths: Sequence[Path]) -> list[str]:
    return [str(path.absolute()) for path in paths]


class SerialEngine(Engine):
    """Runs tasks one after the other in this process."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def run(self, tasks: Sequence[Task], what: str) -> None:
        """See `Engine.run`."""
        for task in track(what, tasks):
            run_task(task)


class LocalEngine(Engine):
    """Runs tasks in worker processes of this machine, which are started once and end with `close`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, LocalEngine(1) as engine:
    ...     engine.run([], "Counting")
    """

    def __init__(self, workers: int, threads: int = 1) -> None:
        if workers < 1:
            raise ParameterError(f"The number of workers is at least 1, not {workers}.")
        self.workers, self.threads = workers, threads
        self._idle: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rest(self) -> None:
        """See `Engine.rest`: the worker processes end."""
        self.close()

    def close(self) -> None:
        """End the worker processes."""
        for worker in self._idle:
            worker.end()
        self._idle.clear()

    def run(self, tasks: Sequence[Task], what: str) -> None:
        """See `Engine.run`; the first error of a task ends the others."""
        missing = [task for task in tasks if not task.is_done]
        wanted = min(self.workers, len(missing))
        while len(self._idle) < wanted:
            self._idle.append(_Worker())
        free: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._idle[:wanted]:
            free.put(worker)

        def call(task: Task) -> None:
            worker = free.get()
            try:
                worker.run(task)
            finally:
                free.put(worker)

        with stage(what, len(tasks)) as advance, ThreadPoolExecutor(max(1, wanted)) as pool:
            advance(len(tasks) - len(missing))
            try:
                # A thread does not know by itself for which interface messages are worded.
                for future in as_completed([pool.submit(copy_context().run, call, task) for task in missing]):
                    future.result()
                    advance(1)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self.close()
                raise


class _Worker:
    """A process that reads tasks from its standard input, one per line, and answers each on its standard output."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", "from manylabel.scale.engine import serve; serve()"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, task: Task) -> None:
        """Have the process run a task; its error is raised here."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        answer = ""
        with suppress(BrokenPipeError, ValueError):
            self.process.stdin.write(json.dumps(task.as_dict()) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        if not answer:
            raise DataError(
                f"A worker process ended while it ran {task.name!r} (exit code {self.process.wait()}).",
                remedy="Perhaps memory ran out: use fewer workers or a smaller "
                f"{setting_name('memory')}. The same command goes on.",
            )
        check_answer(json.loads(answer))

    def end(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.communicate()


def serve() -> None:
    """Run the tasks that come on standard input, until it ends."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer_task(json.loads(line))) + "\n")
        sys.stdout.flush()


def answer_task(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Run a task that came as plain data; its error, if there is one, as plain data."""
    try:
        with settings_worded_for(plain["interface"]):
            run_task(Task.from_dict(plain))
    except ManylabelError as error:
        return {"error": str(error), "is_ours": True}
    except Exception:
        return {"error": traceback.format_exc(), "is_ours": False}
    return {"error": None, "is_ours": False}


def check_answer(answer: Mapping[str, Any]) -> None:
    """Raise the error that `answer_task` met in another process."""
    if answer["error"] is not None:
        raise DataError(answer["error"]) if answer["is_ours"] else RuntimeError(answer["error"])
