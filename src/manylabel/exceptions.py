"""Every error manylabel raises on purpose, and the base class of its warnings.

::

    ManylabelError                  catch this one to catch them all
    ├── DataError                   ValueError         a document or line that cannot be read; knows path and line
    │   └── UnknownFormatError                         no reader recognises the file
    ├── MissingDataError            FileNotFoundError  a file or data set that is not there
    ├── WriteError                  OSError            a file that could not be written, such as on a full disk
    ├── ParameterError              ValueError         a setting outside what is allowed
    │   ├── UnknownNameError                           a name nobody knows; offers the nearest one
    │   │   └── UnknownParameterError TypeError        a keyword argument that a constructor does not have
    │   └── UnsupportedError        AttributeError     something that this method cannot do
    ├── DecisionError               ValueError         scores a decision rule cannot read, or a guarantee none can keep
    ├── ModelFileError              ValueError         a model file that is damaged, truncated or not ours
    ├── ComparisonError             ValueError         results that were not measured alike
    └── MissingExtraError           ImportError        an optional package that is not installed

Each is also a built-in error, so code that knows nothing of manylabel catches what it expects. The message is a
sentence for the person who reads it: what is wrong, what was given, what is allowed, what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

MOST_LISTED = 600
"""How many characters of known names a message lists; a corpus may have thousands of labels."""


def nearest_name(given: str, known: Iterable[str], cutoff: float = 0.5) -> str | None:
    """The known name that was probably meant, whatever its case; None where no name is as similar as `cutoff`.

    Two neighbouring letters exchanged come first: in a name of three letters they leave little that is equal.

    >>> [nearest_name(given, ["mail", "main", "vpn"], 0.75) for given in ("VNP", "Mails", "tax")]
    ['vpn', 'mail', None]
    """
    asked = given[:200].lower()
    lowered = {name.lower(): name for name in sorted(known, reverse=True)}
    exchanged = (f"{asked[:at]}{asked[at + 1]}{asked[at]}{asked[at + 2 :]}" for at in range(len(asked) - 1))
    for one in (asked, *exchanged):
        if one in lowered:
            return lowered[one]
    near = difflib.get_close_matches(asked, lowered, n=1, cutoff=cutoff)
    return lowered[near[0]] if near else None


def _listed(names: Sequence[str]) -> str:
    """The names, up to `MOST_LISTED` characters of them; those with a comma in quotation marks.

    >>> _listed(["mail", "Smith, John"]), _listed([])
    ("mail, 'Smith, John'", 'none')
    """
    shown = ""
    for place, name in enumerate(names):
        more = ("" if place == 0 else ", ") + (repr(name) if "," in name else name)
        if place and len(shown) + len(more) > MOST_LISTED:
            return f"{shown} … ({len(names):,} in all)"
        shown += more
    return shown or "none"


class ManylabelError(Exception):
    """The base class of all errors that manylabel raises on purpose."""


class DataError(ManylabelError, ValueError):
    """Data that cannot be read; the message names the file and the line where they are known."""

    def __init__(
        self,
        problem: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem, self.path, self.line, self.remedy = problem, path, line, remedy
        super().__init__(problem, path, line, remedy)

    def __str__(self) -> str:
        place = "" if self.path is None else str(self.path)
        if self.line is not None:
            place += f", line {self.line}" if place else f"line {self.line}"
        sentence = f"{place}: {self.problem}" if place else self.problem
        return f"{sentence} {self.remedy}" if self.remedy else sentence


class UnknownFormatError(DataError):
    """No reader recognises the file."""


class MissingDataError(ManylabelError, FileNotFoundError):
    """A file or a data set that is not where it was looked for."""


class WriteError(ManylabelError, OSError):
    """A file that could not be written: the disk is full, or the folder cannot be written to."""


class ParameterError(ManylabelError, ValueError):
    """A parameter has a value that is not allowed."""


class UnknownNameError(ParameterError):
    """An unknown name; the message suggests the nearest known one, or has the `hint` in its place."""

    def __init__(self, what: str, given: object, known: Iterable[str], hint: str = "") -> None:
        self.what, self.given, self.known = what, given, sorted(known)
        near = None if hint else nearest_name(str(given), self.known)
        offer = f" {hint}" if hint else "" if near is None else f" Did you mean {near!r}?"
        super().__init__(f"Unknown {what}: {given!r:.200}.{offer} Known: {_listed(self.known)}.")


class UnknownParameterError(UnknownNameError, TypeError):
    """A keyword argument that a constructor does not have."""


class UnsupportedError(ParameterError, AttributeError):
    """The method does not support what was asked for; `hasattr` is then False."""


class DecisionError(ManylabelError, ValueError):
    """A decision rule was given scores of a kind it cannot read, or asked for a guarantee that it cannot keep."""


class ModelFileError(ManylabelError, ValueError):
    """A model file that is damaged, truncated, of a later version, or not ours."""


class ComparisonError(ManylabelError, ValueError):
    """Results that were measured differently cannot be compared."""


class MissingExtraError(ManylabelError, ImportError):
    """An optional package is needed but not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs an optional package. Install it with: pip install 'manylabel[{extra}]', or in the folder of "
            f"the source: pip install '.[{extra}]'"
        )


class ManylabelWarning(UserWarning):
    """The base class of all warnings of manylabel."""
