"""What a training in memory takes, and how much text fits into a limit; `costs` is about training from disk."""

from __future__ import annotations

FIXED_MEMORY = 220e6
"""Bytes of the program."""
IN_MEMORY, TABLES_A_BYTE, MOST_TABLES = 10, 20, 2.5e8
"""Bytes of a training in memory: for each byte of text those of the documents, and those of tables of labels × terms,
which are solved in blocks where there are many."""


def memory_of_all(text_bytes: int, kept: float = 1.0) -> float:
    """The bytes of memory that training on all documents at once takes, whatever the method.

    `kept` is how many trainings keep their documents and tables at a time.

    >>> round(memory_of_all(14_600_000) / 1e6), round(memory_of_all(73_000_000) / 1e6)
    (616, 1200)
    """
    tables = min(TABLES_A_BYTE * text_bytes, MOST_TABLES)
    return FIXED_MEMORY + kept * (IN_MEMORY * text_bytes + tables)


def text_in_memory(limit: float, kept: float = 1.0) -> int:
    """How many bytes of text can be trained on in memory within a limit: the inverse of `memory_of_all`.

    >>> text_in_memory(616e6), text_in_memory(1.2e9), text_in_memory(250e6), text_in_memory(100e6)
    (14600000, 73000000, 1000000, 0)
    """
    room = max(limit - FIXED_MEMORY, 0.0) / kept
    return int(max(room / (IN_MEMORY + TABLES_A_BYTE), (room - MOST_TABLES) / IN_MEMORY))
