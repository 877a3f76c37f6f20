"""Changed structures: JSON values, archives, arrays, tables and model files that stay readable as such."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from fuzz.mutation import mutated

Array = np.ndarray[Any, Any]
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, -(2**31) - 1, 2**63, 10**400, 0.5, -0.0, 1e308, 1e-320, float("nan"),
    float("inf"), "", " ", "a", "none", "auto", "\ud800", "\0", "é", "x" * 3000, [], {}, [[]], [None], [1, "a"],
    {"a": None}, {"": 1}, ["a", "a"], [0.5, -1], "__class__", "../../x", "0", "-1", "1e999", "nan",
)  # fmt: skip


def changed_json(rng: Random, value: Any, words: Sequence[Any] = ()) -> Any:
    """A copy of a JSON value with one place changed: replaced, left out, repeated, renamed or nested."""
    places = list(_places(value, ()))
    path = rng.choice(places)
    return _changed_at(rng, value, path, places, words, value)


def _places(value: Any, path: tuple[Any, ...]) -> Any:
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value[:50]):
            yield from _places(inner, (*path, index))


def _changed_at(
    rng: Random, value: Any, path: tuple[Any, ...], places: list[Any], words: Sequence[Any], whole: Any
) -> Any:
    if path:
        copy = dict(value) if isinstance(value, dict) else list(value)
        if len(path) == 1 and (chance := rng.random()) < 0.3:
            inner = copy.pop(path[0])
            if chance < 0.2 and isinstance(copy, dict):
                copy[rng.choice(("", "a", "é", *(word for word in words if isinstance(word, str))))] = inner
            elif chance < 0.2:
                copy[path[0] : path[0]] = [inner] * rng.choice((2, 3, 40))
            return copy
        copy[path[0]] = _changed_at(rng, value[path[0]], path[1:], places, words, whole)
        return copy
    return _other_value(rng, value, places, words, whole)


def _other_value(rng: Random, value: Any, places: list[Any], words: Sequence[Any], whole: Any) -> Any:
    chance = rng.random()
    if words and chance < 0.35:
        return rng.choice(words)
    if chance < 0.75:
        return rng.choice(VALUES)
    if chance < 0.85:
        return [value] * rng.choice((1, 2, 20))
    if chance < 0.9:
        for _ in range(rng.choice((2, 20, 60))):
            value = [value] if rng.random() < 0.5 else {"a": value}
        return value
    found = whole
    for step in rng.choice(places):
        found = found[step]
    return found


def json_bytes(value: Any) -> bytes:
    """The value as JSON; half characters are written as they are escaped, other wrong values as JSON's extensions."""
    return json.dumps(value).encode()


def changed_zip(rng: Random, data: bytes, change: Callable[[Random, str, bytes], bytes]) -> bytes:
    """A zip file with one or two members changed and its checksums right; bytes changed where it is no zip file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, RuntimeError):
        return mutated(rng, data, [])
    for at in rng.sample(range(len(members)), min(rng.randint(1, 2), len(members))):
        name, content = members[at]
        members[at] = (name, change(rng, name, content))
    if rng.random() < 0.1:
        members.insert(rng.randrange(len(members)), members.pop())
    if rng.random() < 0.05:
        members.pop(rng.randrange(len(members)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if rng.random() < 0.1 else zipfile.ZIP_STORED) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def changed_npy(rng: Random, name: str, content: bytes) -> bytes:
    """An array file with other values, type or shape; or with its header or bytes changed."""
    if rng.random() < 0.25:
        return mutated(
            rng, content, [], (b"'shape': (1000000000000,)", b"'descr': '|O'", b"'<i8'", b"'>f8'", b"'<U9'", b"True")
        )
    array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, changed_array(rng, array), allow_pickle=False)
    return buffer.getvalue()


EXTREMES: tuple[Any, ...] = (
    -1,
    0,
    1,
    2,
    77,
    127,
    255,
    32767,
    65535,
    10**9,
    -(2**31),
    2**31 - 1,
    2**31,
    2**40,
    2**63 - 1,
    -(2**63),
    2**64 - 1,
)
FLOATS: tuple[Any, ...] = (np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-320, 0.0, -0.0, -1.0, 0.5, 2.0**53)
DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "?")


def changed_array(rng: Random, array: Array) -> Array:
    """An array like another one, but for some values, its type or its shape."""
    flat = array.copy().ravel()
    how = rng.randrange(9)
    with np.errstate(all="ignore"):
        if how <= 2 and flat.size and flat.dtype.kind in "iufb":
            for _ in range(rng.choice((1, 1, 2, 5))):
                flat[rng.randrange(flat.size)] = _extreme(rng, flat)
        elif how == 3:
            flat = flat[: rng.randrange(flat.size + 1)]
        elif how == 4:
            flat = np.concatenate([flat, flat[: rng.randrange(flat.size + 1)]])
        elif how == 5 and flat.dtype.kind in "iufb":
            return flat.astype(rng.choice(DTYPES)).reshape(array.shape)
        elif how == 6 and flat.size and flat.dtype.kind in "iufb":
            flat[:] = _extreme(rng, flat)
        elif how == 7:
            return flat.reshape(rng.choice(((1, -1), (-1, 1), (-1,), (1, 1, -1))))
        else:
            flat = flat[np.array(rng.sample(range(flat.size), flat.size), dtype=np.intp)]
    return flat.reshape(array.shape) if flat.size == array.size else flat


def _extreme(rng: Random, flat: Array) -> Any:
    if flat.dtype.kind == "f":
        return rng.choice(FLOATS)
    if flat.dtype.kind == "b":
        return rng.random() < 0.5
    limits = np.iinfo(flat.dtype)
    near = (int(flat.max()) + 1, int(flat.max()), int(flat.min()), len(flat), len(flat) - 1)
    chosen = rng.choice(EXTREMES) if rng.random() < 0.6 else rng.choice(near)
    return min(max(chosen, int(limits.min)), int(limits.max))
