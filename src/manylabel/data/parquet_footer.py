"""What a Parquet file claims to hold, read from its footer in Python.

pyarrow ends the process where the figures of a column contradict its type, as soon as they are asked for. So they are
read here first: the footer is a struct in Thrift's compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ROW_GROUPS, COLUMNS, META_DATA, NUM_VALUES, UNPACKED = 4, 1, 3, 5, 6
"""Numbers of fields: of the file, of a row group, of a column in it, and two of that column's data."""
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class ColumnPart:
    """The values of one column in one group of rows, and their bytes when they are unpacked."""

    values: int
    unpacked: int


def column_parts(data: bytes) -> list[ColumnPart]:
    """The parts of all columns that the footer of a Parquet file declares; an error of any class if it is broken."""
    length = int.from_bytes(data[-8:-4], "little")
    footer = _Compact(data[len(data) - 8 - length : len(data) - 8]).struct(0)
    found = [column[META_DATA] for group in footer[ROW_GROUPS] for column in group[COLUMNS]]
    return [ColumnPart(int(part[NUM_VALUES]), int(part[UNPACKED])) for part in found]


class _Compact:
    """A reader of Thrift's compact protocol: structs become dictionaries from the numbers of fields to values."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        """A number without a sign, seven bits in each byte."""
        value = shift = 0
        while (byte := self.byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number of more than 64 bits")
        return value | byte << shift

    def signed(self) -> int:
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def struct(self, depth: int) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ValueError("structs are nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while (head := self.byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self.signed()
            kind = head & 0x0F
            fields[number] = kind == 1 if kind in (1, 2) else self.value(kind, depth + 1)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):
            return self.byte()
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 7:
            self.at += 8
            return None
        if kind == 8:
            length = self.number()
            self.at += length
            return None
        if kind in (9, 10):
            return self.items(depth)
        if kind == 12:
            return self.struct(depth)
        raise ValueError(f"values of the unknown type {kind}")

    def items(self, depth: int) -> list[Any]:
        head = self.byte()
        size = self.number() if head >> 4 == 15 else head >> 4
        if size > len(self.data) or depth > _DEEPEST:
            raise ValueError("a list that is longer than its data, or nested too deeply")
        return [self.value(head & 0x0F, depth + 1) for _ in range(size)]
