"""Changed bytes: every function takes a random source and returns other bytes, the same ones for the same seed."""

from __future__ import annotations

import ast
import gzip
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

LARGEST = 1 << 16
"""The usual most bytes of an input; a few grow up to `GROWN`, to find work that grows faster than the input."""
GROWN = 1 << 19
NUMBERS = (
    b"0", b"-1", b"1", b"2", b"255", b"65536", b"99999999", b"2147483647", b"2147483648", b"-2147483649", b"4294967296",
    b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"1e308", b"1e999", b"-1e999", b"1e-320",
    b"nan", b"inf", b"-inf", b"0x10", b"1_000", b"1.5", b"-0.0", b"00", b"+1", b"1e5", b"\xd9\xa3", b"9" * 400,
    b"9" * 5000,
)  # fmt: skip
DICTIONARIES = Path(__file__).parent / "dictionaries"


def dictionary(*names: str) -> tuple[bytes, ...]:
    """The words of some formats: files in fuzz/dictionaries, one quoted word per line as libFuzzer reads them."""
    lines = [line for name in names for line in (DICTIONARIES / f"{name}.txt").read_text().splitlines()]
    return tuple(ast.literal_eval(f"b{line}") for line in lines)


TOKENS = dictionary("any")
BYTES = (0, 1, 9, 10, 13, 32, 34, 39, 44, 45, 48, 58, 59, 60, 91, 92, 123, 127, 128, 192, 237, 244, 254, 255)

Change = Callable[[Random, bytes, Sequence[bytes], Sequence[bytes]], bytes]


def mutated(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes] = ()) -> bytes:
    """The data after one to eight random changes; `seeds` are others to splice with, `tokens` words of the format."""
    for _ in range(min(1 + int(rng.expovariate(0.6)), 8)):
        change = CHANGES[int(rng.random() * len(CHANGES))]
        data = change(rng, data, seeds, tokens)[:LARGEST]
    chance = rng.random()
    if chance < 0.0005:
        return grown(rng, data)
    return gzip.compress(data, 1, mtime=0) if chance > 0.99 else data


def place(rng: Random, data: bytes) -> tuple[int, int]:
    """A random range of the data, mostly short."""
    start = int(rng.random() * (len(data) + 1))
    return start, min(len(data), start + int(rng.expovariate(1 / 12)) + 1)


def flip_bits(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """One to four bits changed."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4) if changed else 0):
        changed[int(rng.random() * len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def set_byte(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """One byte replaced by one with a meaning in many formats."""
    start = int(rng.random() * (len(data) + 1))
    return data[:start] + bytes([rng.choice(BYTES)]) + data[start + 1 :]


def delete(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """A range left out."""
    start, end = place(rng, data)
    return data[:start] + data[end:]


def truncate(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """The beginning alone."""
    return data[: int(rng.random() * len(data))]


def repeat(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """A range several times."""
    start, end = place(rng, data)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 5, 40)) + data[end:]


def insert_token(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """A word of the format, or a character with a meaning in many formats, put in or in place of a range."""
    token = rng.choice(tokens) if tokens and rng.random() < 0.7 else rng.choice(TOKENS)
    start, end = place(rng, data)
    return data[:start] + token + data[end if rng.random() < 0.4 else start :]


def insert_bytes(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Random bytes put in."""
    start = int(rng.random() * (len(data) + 1))
    return data[:start] + rng.randbytes(rng.randint(1, 12)) + data[start:]


_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")


def change_number(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """A number replaced by an extreme one."""
    found = list(_NUMBER.finditer(data, 0, 1 << 13))
    if not found:
        return data
    match = rng.choice(found)
    return data[: match.start()] + rng.choice(NUMBERS) + data[match.end() :]


def splice(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """The beginning of the data and the end of another seed."""
    other = rng.choice(seeds) if seeds else b""
    return data[: int(rng.random() * (len(data) + 1))] + other[int(rng.random() * (len(other) + 1)) :]


def change_lines(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """A line left out, repeated or moved."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    line = lines.pop(at)
    lines[at:at] = [[], [line] * rng.choice((2, 3, 30)), []][how := rng.randrange(3)]
    if how == 2:
        lines.insert(rng.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def nest(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Many opening brackets, tags or words."""
    token = (
        rng.choice(tokens) if tokens and rng.random() < 0.4 else rng.choice((b"[", b"(", b"{", b'{"a":', b"<a>", b'"'))
    )
    start = int(rng.random() * (len(data) + 1))
    return data[:start] + token * rng.choice((3, 30, 300, 3000)) + data[start:]


def encode_otherwise(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """The text in another encoding."""
    text = data.decode("utf-8", "replace")
    return text.encode(rng.choice(("utf-16", "utf-16-le", "utf-8-sig", "latin-1", "utf-32")), "replace")


def swap(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """A range moved to another place."""
    start, end = place(rng, data)
    rest, piece = data[:start] + data[end:], data[start:end]
    to = int(rng.random() * (len(rest) + 1))
    return rest[:to] + piece + rest[to:]


def grown(rng: Random, data: bytes) -> bytes:
    """A range repeated until the input has up to `GROWN` bytes: what is quadratic in its length then takes seconds."""
    start, end = place(rng, data)
    piece = data[start:end] or b" "
    size = rng.choice((GROWN >> 3, GROWN >> 1, GROWN))
    return data[:end] + piece * ((size - len(data)) // len(piece)) + data[end:]


CHANGES: tuple[Change, ...] = (
    flip_bits, set_byte, delete, truncate, repeat, insert_token, insert_token, insert_token, insert_bytes,
    change_number, change_number, splice, change_lines, change_lines, nest, encode_otherwise, swap,
)  # fmt: skip
