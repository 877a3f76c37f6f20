"""Dates as they are written in data, converted to values that sort by time."""

from __future__ import annotations

import datetime
import numbers
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.exceptions import DataError
from manylabel.wording import COUNTED

FORMS = (
    "%d-%b-%Y %H:%M:%S.%f",  # Reuters-21578
    "%d-%b-%Y %H:%M:%S",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%Y/%m/%d",
    "%a, %d %b %Y %H:%M:%S %z",  # mail
    "%a %b %d %H:%M:%S %z %Y",  # Twitter
)
"""The forms tried after ISO 8601."""
_SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/\d{4}\b")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
DAY_FIRST, MONTH_FIRST = (tuple(day + time for time in _TIMES) for day in ("%d/%m/%Y", "%m/%d/%Y"))
"""Forms with slashes, tried where a number above 12 anywhere among the dates shows which of the two is the day."""

LONGEST = 100
"""The most characters of a date."""


def read_dates(
    values: Sequence[Any], what: str = "dates", *, path: str | None = None, lines: Sequence[int] | None = None
) -> npt.NDArray[Any]:
    """The dates as numbers or as datetime64, all of one kind, so that they can be sorted.

    They may be numbers (years, seconds), date objects, and text: ISO 8601 (1987-02-26, with or without a time),
    1987, one of `FORMS`, or 26/02/1987 and 02/26/1987 where the dates together show which number is the day. Times with
    a zone are compared in universal time; those without as they stand. Errors name the column `what`, and the file and
    the line where `path` and `lines` are given.

    >>> read_dates(["26-FEB-1987 15:01:01.79", "1-MAR-1987 00:00:00.00"]).astype("datetime64[D]").tolist()
    [datetime.date(1987, 2, 26), datetime.date(1987, 3, 1)]
    >>> read_dates([1987, 1999]).tolist()
    [1987.0, 1999.0]
    >>> read_dates(["03/04/1987", "02/26/1987 3:01 PM"]).astype("datetime64[D]").tolist()
    [datetime.date(1987, 3, 4), datetime.date(1987, 2, 26)]
    """
    if values and all(_is_number(value) for value in values):
        return np.array([float(value) for value in values])
    read = np.empty(len(values), dtype="datetime64[us]")
    forms = (*FORMS, *_with_slashes(values))
    form = forms[0]
    for row, value in enumerate(values):
        moment, form = _moment(value, form, forms)
        if moment is None:
            where = f"{what}: document {row}" if lines is None else f"The column {what!r}"
            unclear = isinstance(value, str) and _SLASHES.match(value.strip()) is not None
            why = "the month is not clear" if unclear else "cannot be read as a date"
            raise DataError(
                f"{where} has {value!r:.100}, {'in which' if unclear else 'which'} {why}"
                f"{f' {COUNTED}' if lines is None else ''}.",
                path=path,
                line=None if lines is None else lines[row],
                remedy="Write dates as 1987-02-26, or as numbers, in every document.",
            )
        read[row] = moment
    return read


def _with_slashes(values: Sequence[Any]) -> tuple[str, ...]:
    """The forms of dates with slashes; none where no number is above 12, or numbers in both places are.

    >>> _with_slashes(["03/04/1987", "26/02/1987"]) == DAY_FIRST, _with_slashes(["03/04/1987"])
    (True, ())
    """
    found = [match.groups() for value in values if isinstance(value, str) and (match := _SLASHES.match(value.strip()))]
    first, second = (any(int(pair[place]) > 12 for pair in found) for place in (0, 1))
    return () if first == second else DAY_FIRST if first else MONTH_FIRST


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().isdecimal()
    return isinstance(value, numbers.Real) and value == value and not isinstance(value, bool)


def _moment(value: Any, likely: str, forms: Sequence[str]) -> tuple[datetime.datetime | None, str]:
    """A moment without a time zone, and the form it was written in, which is probably that of the next one."""
    if isinstance(value, datetime.datetime):
        try:
            return _universal(value), likely
        except OverflowError:
            return None, likely
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day), likely
    if isinstance(value, np.datetime64):
        value = str(value)
    if not isinstance(value, str):
        return None, likely
    # dates of Reuters-21578 end in garbage such as "27-MAR-1987 00:03:35.68&#5;&#5;&#5;F"
    text = re.split(r"&#|[\x00-\x1f]", value.strip())[0].strip()
    if len(text) > LONGEST:
        return None, likely
    try:
        return _universal(datetime.datetime.fromisoformat(text)), likely
    except (ValueError, OverflowError):  # OverflowError: the year 1 or 9999 in another time zone
        pass
    for form in (likely, *forms):
        try:
            return _universal(datetime.datetime.strptime(text, form)), form
        except (ValueError, OverflowError):
            continue
    return None, likely


def _universal(moment: datetime.datetime) -> datetime.datetime:
    return moment if moment.tzinfo is None else moment.astimezone(datetime.UTC).replace(tzinfo=None)
