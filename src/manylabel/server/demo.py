"""What ``manylabel serve --demo`` begins with: a model, and jobs that fill every view of the workbench."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manylabel.server.jobs.store import BUILT_IN, JobStore
from manylabel.server.store.files import CorpusFiles
from manylabel.tasks.serving import train_demo

JOBS: tuple[dict[str, Any], ...] = (
    {"kind": "import", "data": BUILT_IN, "corpus": BUILT_IN},
    {"kind": "score", "corpus": BUILT_IN},
    {"kind": "audit", "corpus": BUILT_IN},
    {"kind": "suggest", "corpus": BUILT_IN},
    {"kind": "labels", "corpus": BUILT_IN, "model": BUILT_IN},
    {"kind": "compare", "corpus": BUILT_IN, "methods": ["nb-binary", "rocchio", "svm"], "model": "townhall-compared"},
)
"""Jobs that take half a minute in all, in the order in which they need each other."""


def prepare_demo(data: Path) -> Path:
    """Train the model in a data directory, unless it is there, and queue the jobs, once; return the model file."""
    store = JobStore(data)
    store.prepare()
    model = store.model_path(BUILT_IN)
    if not model.exists():
        train_demo(model)
    was_queued = store.list(None, 1, kind="import", corpus=BUILT_IN) or BUILT_IN in CorpusFiles(data).names()
    if not was_queued:
        for job in JOBS:
            store.add(job["kind"], job, len(JOBS))
    return model
