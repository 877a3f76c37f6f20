"""A corpus by the name in an address, within one transaction: what all routes of corpora have in common."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Path, Request

from manylabel.server.operations import ROUTE
from manylabel.server.problems import RequestError
from manylabel.server.store.files import CorpusFile, CorpusFiles

Given = TypeVar("Given")
CorpusName = Annotated[str, Path(description="The name of a corpus.", max_length=64)]


class CorpusRoutes:
    """Opens the corpus that an address names."""

    def __init__(self, files: CorpusFiles) -> None:
        self.files = files

    def get(self, request: Request, name: str) -> CorpusFile:
        """The corpus that an address names; 404 where there is none."""
        request.scope[ROUTE] = "corpora"
        if name not in self.files.names():
            known = ", ".join(self.files.names()) or "none"
            raise RequestError(404, f"There is no corpus {name!r}. Known: {known}. Import one: POST /v1/jobs.")
        return self.files.get(name)

    def read(self, request: Request, name: str, work: Callable[[sqlite3.Connection], Given]) -> Given:
        """What `work` finds in a corpus."""
        with self.get(request, name).reading() as database:
            return work(database)

    def write(self, request: Request, name: str, work: Callable[[sqlite3.Connection], Given]) -> Given:
        """What `work` returns after what it did is on the disk."""
        try:
            with self.get(request, name).writing() as database:
                return work(database)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            raise RequestError(
                429, "A longer change of this corpus is under way. Nothing was saved. Try again.", {"Retry-After": "5"}
            ) from None
