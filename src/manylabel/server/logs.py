"""Log lines on standard error: a sentence for people, or JSON for machines. Texts of documents are never written."""

from __future__ import annotations

import sys
import time
import traceback
from typing import Any, TypeAlias

import msgspec

Asked: TypeAlias = tuple[str | None, str | None, Any]
"""The method, address and client of a request; None where they did not arrive."""


class Log:
    """Writes one line per event."""

    def __init__(self, worker: int | None, *, as_json: bool) -> None:
        self.worker, self.as_json = worker, as_json

    def write(self, event: str, message: str = "", level: str = "info", **fields: Any) -> None:
        """Write an event with its fields."""
        known = fields if self.worker is None else {**fields, "worker": self.worker}
        if self.as_json:
            now = time.time()
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"
            row = {"time": stamp, "level": level, "event": event, **({"message": message} if message else {}), **known}
            line = msgspec.json.encode(row).decode()
        else:
            pairs = " ".join(f"{name}={_one_line(value)}" for name, value in known.items() if value is not None)
            line = f"manylabel: {message or event}{' ' if pairs else ''}{pairs}"
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def request(self, asked: Asked, status: int, seconds: float) -> None:
        """Write that a request was answered, and how long it took."""
        method, path, client = asked
        took = round(seconds * 1e3, 3)
        address = client[0] if client else None
        self.write("request", method=method, path=path, status=status, milliseconds=took, client=address)

    def error(self, event: str, error: BaseException, **fields: Any) -> None:
        """Write an error with its traceback."""
        trace = "".join(traceback.format_exception(error))
        if self.as_json:
            self.write(event, str(error), "error", traceback=trace, **fields)
        else:
            self.write(event, f"error inside manylabel: {error}", "error", **fields)
            sys.stderr.write(trace)


def _one_line(value: Any) -> str:
    """A value without line breaks, which would forge further lines."""
    text = str(value)
    return text if text.isprintable() else ascii(text)
