"""Run one command line and turn whatever happens into an exit code.

0: done. 1: an error inside manylabel. 2: wrong input, a full disk or too little memory, reported in a sentence or two.
130: interrupted. 143: terminated.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

INTERRUPTED = 130
OUT_OF_MEMORY = (
    "memory ran out: the system gave no more to this process. Take fewer documents, free some memory, or where the "
    "command has --memory, give a size below what is free (--memory 500MB). docs/memory.md lists what takes memory."
)
LONGEST_SHOWN = 200
"""How many characters of a path an error of the system shows: what is too long for a name may be a whole text."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    if list(arguments) in (["--version"], ["-V"]):
        sys.stdout.write(version_text() + "\n")
        return 0
    import typer

    from manylabel.progress import remarks_to
    from manylabel.wording import settings_worded_for

    debug = "--debug" in arguments
    try:
        with (
            ended_by_signals(),
            warnings.catch_warnings(),
            remarks_to(remark_printer()),
            settings_worded_for("command line"),
        ):
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = print_warning
            code = program()(args=[argument for argument in arguments if argument != "--debug"], standalone_mode=False)
            sys.stdout.flush()
        return stopped() if code == INTERRUPTED else int(code) if isinstance(code, int) else 0
    except typer.Exit as stop:  # newer versions of Typer report an interruption this way
        return stopped() if stop.exit_code == INTERRUPTED else stop.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return stopped()
    except BrokenPipeError:
        return unread()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # Typer's answer to a closed pipe
            return unread()
        raise
    except Exception as error:
        if isinstance(error, usage_error(typer.BadParameter)):
            offer_meant(error)
            name_wrong_number(error, arguments)
            error.show()  # type: ignore[attr-defined]
            return 2
        if debug:
            raise
        return failed(error)


@cache
def program() -> Any:
    """The table of commands with the options of each, which takes longer to make than most command lines to run."""
    import typer.main

    from manylabel.cli.app import app

    return typer.main.get_command(app)


MEANT = {"--remove": "--retire", "--delete": "--retire", "--drop": "--retire"}
"""Options that people try, by meaning: by their letters Typer would offer others, --rename for --remove."""

CROSS_VALIDATION = ("--folds", "--cv", "--kfold", "--k-fold", "--cross-validate", "--cross-validation")
CROSS_VALIDATE = "To cross-validate methods: manylabel compare DATA --methods svm,nb --folds 5."
"""What people who look for cross-validation in `train` and `evaluate` are answered."""


COUNTERPARTS = {
    "load-vocab": "A vocabulary is read in training: manylabel train DATA --vocabulary FILE.",
    "run": "manylabel serve MODEL answers over HTTP, also with the API of Annif.",
    "hyperopt": "manylabel tune DATA searches the settings of a method.",
    "optimize": "Training learns thresholds; manylabel thresholds MODEL shows and changes them.",
    "learn": "manylabel update MODEL DATA learns from more documents.",
    "index": "manylabel predict MODEL FOLDER labels documents.",
}
"""By the name of a command of Annif, a sentence that names ours."""


def offer_meant(error: Any) -> None:
    """Replace the options that Typer offers for an unknown one by the one that is meant, if the command has it.

    For a command of Annif, name ours.
    """
    for name, counterpart in COUNTERPARTS.items():
        if error.message.startswith(f"No such command '{name}'"):
            error.message = f"No such command '{name}'. {counterpart}"
    if type(error).__name__ != "NoSuchOption" or error.ctx is None:
        return
    if error.option_name in CROSS_VALIDATION:
        error.message, error.possibilities = f"No such option: {error.option_name}. {CROSS_VALIDATE}", []
    meant = MEANT.get(error.option_name)
    if any(meant in one.opts for one in error.ctx.command.params):
        error.possibilities = [meant]


def name_wrong_number(error: Any, arguments: Sequence[str]) -> None:
    """Name the value that is no number, as people write who separate decimals by a comma."""
    wanted = {"a valid number": "a number", "a valid integer": "a whole number"}
    kind = next((ours for theirs, ours in wanted.items() if theirs in str(error)), None)
    if kind is None or error.param is None:
        return
    after = dict(pairwise(arguments)) | dict(one.split("=", 1) for one in arguments if "=" in one)
    value = next((after[name] for name in error.param.opts if name in after), None)
    if value is not None:
        error.message = f"{value!r} is not {kind}. Write decimals with a point, for example 0.95."


def failed(error: Exception) -> int:
    """Report an error in one sentence and return the exit code."""
    from manylabel.exceptions import ManylabelError
    from manylabel.memory import lacks_memory

    if isinstance(error, ManylabelError):
        return complain(str(error), 2)
    if lacks_memory(error):
        return complain(OUT_OF_MEMORY, 2)
    if isinstance(error, OSError):
        if error.filename is None:
            close_output()
        place = str(error.filename or "standard output")
        shown = place if len(place) <= LONGEST_SHOWN else f"{place[:LONGEST_SHOWN]}…"
        return complain(f"{shown}: {error.strerror or error}.", 2)
    fault = f"something went wrong inside manylabel ({type(error).__name__}: {error})."
    return complain(f"{fault} Run it again with --debug to see where.", 1)


TERMINATED = 143


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """End by an exception when the process is asked to stop, so that unfinished files are removed."""

    def end(*_: object) -> None:
        raise SystemExit(complain("terminated. Unfinished files were not written.", TERMINATED))

    asked = [one for one in ("SIGTERM", "SIGHUP") if one in signal.Signals.__members__]
    if threading.current_thread() is not threading.main_thread():
        asked = []
    before = {signal.Signals[name]: signal.signal(signal.Signals[name], end) for name in asked}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def unread() -> int:
    """Report that whoever read the output has stopped, such as `head` in a pipe."""
    close_output()
    return complain("standard output was closed by its reader. The rest was not printed.", 2)


def close_output() -> None:
    """Discard what is left to print where nobody reads it or the disk is full; Python would fail again at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def print_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one sentence, without the line of code it came from."""
    sys.stderr.write(f"manylabel: warning: {message}\n")


def remark_printer() -> Callable[[str], None]:
    """A function that prints choices made for the user on standard error, apart from the results, each once."""
    printed = set()

    def print_remark(text: str) -> None:
        if text not in printed:
            printed.add(text)
            sys.stderr.write(text + "\n")

    return print_remark


def usage_error(bad_parameter: type[Exception]) -> type[Exception]:
    """The class of wrong command lines. Typer carries its own copy of click, or uses the installed one, by version;
    its `BadParameter` descends from the right one either way.
    """
    return next(parent for parent in bad_parameter.__mro__ if parent.__name__ == "ClickException")


def stopped() -> int:
    """Report that the work was interrupted; files are written whole or not at all."""
    return complain("stopped. Unfinished files were not written.", INTERRUPTED)


def complain(sentence: str, code: int) -> int:
    """Print an error message and return the exit code."""
    sys.stderr.write(f"manylabel: {sentence}\n")
    return code


def version_text() -> str:
    """The version, and whether the compiled kernels or their plain twins do the work."""
    import platform

    from manylabel import __version__
    from manylabel.kernels import active

    return f"manylabel {__version__} (kernels: {active()}; Python {platform.python_version()})"
