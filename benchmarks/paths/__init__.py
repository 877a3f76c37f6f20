"""The hot paths, one file each."""

from __future__ import annotations

from importlib import import_module

from benchmarks.paths.contract import HotPath

NAMES = ("text", "svm", "knn", "naive_bayes", "one_document", "end_to_end", "pmm", "thresholds")


def hot_path(name: str) -> HotPath:
    """The hot path of that name."""
    path: HotPath = import_module(f"benchmarks.paths.{name}").PATH
    return path
