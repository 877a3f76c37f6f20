"""Bring a data set into the cache."""

from __future__ import annotations

from pathlib import Path

from manylabel.data.fetch import fetch as download


def fetch(name: str, source: str | None = None) -> Path:
    """Download a data set, or take it from a local file or another address; the path it has in the cache."""
    if source is None:
        return download(name)
    if "://" in source:
        return download(name, urls=[source], again=True)
    return download(name, file=source)
