"""JSON that every parser reads: NaN and infinities, which JSON lacks, are written as null."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def dumps(value: Any, *, indent: int | None = None) -> str:
    """The value as JSON; a number that is not finite becomes null, what JSON does not know its string.

    >>> dumps({"label": "roads", "threshold": math.inf, "score": 0.5})
    '{"label": "roads", "threshold": null, "score": 0.5}'
    """
    return json.dumps(finite(value), ensure_ascii=False, indent=indent, allow_nan=False, default=str)


def finite(value: Any) -> Any:
    """The same plain data with None in place of NaN and infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(inner) for inner in value]
    return value
