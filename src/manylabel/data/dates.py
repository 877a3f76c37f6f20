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

FORMS = (
    "%d-%b-%Y %H:%M:%S.%f",  # Reuters-21578
    "%d-%b-%Y %H:%M:%S",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%d.%m.%Y",
    "%Y/%m/%d",
    "%a, %d %b %Y %H:%M:%S %z",  # mail
    "%a %b %d %H:%M:%S %z %Y",  # Twitter
)
"""The forms tried after ISO 8601. Forms with slashes in which the month is not clear are not guessed."""


LONGEST = 100
"""The most characters of a date."""


def read_dates(values: Sequence[Any], what: str = "dates") -> npt.NDArray[Any]:
    """The dates as numbers or as datetime64, all of one kind, so that they can be sorted.

    They may be numbers (years, seconds), date objects, and text: ISO 8601 (1987-02-26, with or without a time),
    1987, or one of `FORMS`. Times with a zone are compared in universal time; those without as they stand.

    >>> read_dates(["26-FEB-1987 15:01:01.79", "1-MAR-1987 00:00:00.00"]).astype("datetime64[D]").tolist()
    [datetime.date(1987, 2, 26), datetime.date(1987, 3, 1)]
    >>> read_dates([1987, 1999]).tolist()
    [1987.0, 1999.0]
    """
    if values and all(_is_number(value) for value in values):
        return np.array([float(value) for value in values])
    read = np.empty(len(values), dtype="datetime64[us]")
    form = FORMS[0]
    for row, value in enumerate(values):
        moment, form = _moment(value, form)
        if moment is None:
            raise DataError(
                f"{what}: document {row + 1} has {value!r:.100}, which cannot be read as a date.",
                remedy="Write dates as 1987-02-26, or as numbers, in every document.",
            )
        read[row] = moment
    return read


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().isdecimal()
    return isinstance(value, numbers.Real) and value == value and not isinstance(value, bool)


def _moment(value: Any, likely: str) -> tuple[datetime.datetime | None, str]:
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
    for form in (likely, *FORMS):
        try:
            return _universal(datetime.datetime.strptime(text, form)), form
        except (ValueError, OverflowError):
            continue
    return None, likely


def _universal(moment: datetime.datetime) -> datetime.datetime:
    return moment if moment.tzinfo is None else moment.astimezone(datetime.UTC).replace(tzinfo=None)
