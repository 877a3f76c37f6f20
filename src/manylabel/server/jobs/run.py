"""The process of one job, within limits of memory and time.

``python -m manylabel.server.jobs.run FOLDER ID MEGABYTES MODELS`` runs it. It ends when standard input does: the
supervisor is gone then, or wants it to stop.
"""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manylabel.exceptions import ManylabelError
from manylabel.progress import figures_to, remarks_to, reporting_to
from manylabel.server.jobs.bodies import chosen_recipe
from manylabel.server.jobs.store import FULL, WRITE_MODELS, JobStore
from manylabel.server.shortage import DISK_FULL, is_disk_full, is_out_of_memory
from manylabel.server.store.files import CorpusFile, CorpusFiles
from manylabel.server.store.filling import corrected_source, import_corpus, keep_suggestions
from manylabel.server.store.scoring import score_corpus, suggest_documents
from manylabel.server.store.thresholds import saved_thresholds
from manylabel.tasks.corpora import Source
from manylabel.tasks.jobs import dumps, run_job
from manylabel.tasks.thresholds import write_reviewed
from manylabel.wording import settings_worded_for

PAUSE = 0.2
"""Seconds between two reports of progress."""
STOPPED = 4
"""The exit code of a job that was told to stop."""


class StoppedError(BaseException):
    """The job was told to stop; not an `Exception`, so that no work catches it."""


@dataclass(eq=False)
class Stage:
    """A stage of a job, and how far it is; two are never equal."""

    stage: str
    total: int | None
    done: int = 0


class Reporter:
    """Keeps progress in the store, a few times per second."""

    def __init__(self, store: JobStore, identifier: str) -> None:
        self.store, self.identifier = store, identifier
        self.stages: list[Stage] = []
        self.figures: dict[str, dict[str, float]] = {}
        self.reported = 0.0

    def started(self, what: str, total: int | None) -> None:
        """Report that a stage begins."""
        self.stages.append(Stage(what, total))
        self._report()

    def advanced(self, what: str, by: int) -> None:
        """Report that a stage went on."""
        self._innermost(what).done += by
        self._report()

    def finished(self, what: str) -> None:
        """Forget a stage that is over."""
        self.stages.remove(self._innermost(what))

    def figure(self, name: str, value: float, steps: int) -> None:
        """Something reached a value after some steps."""
        self.figures[name] = {"value": value, "steps": steps}

    def _innermost(self, what: str) -> Stage:
        """The stage of a name that began last: members of an ensemble have stages of the same names as the ensemble."""
        return next(one for one in reversed(self.stages) if one.stage == what)

    def _report(self) -> None:
        now = time.monotonic()
        if now - self.reported < PAUSE:
            return
        self.reported = now
        stages = [asdict(one) for one in list(self.stages)]
        if self.store.report(self.identifier, {"stages": stages, "figures": dict(self.figures)}):
            raise StoppedError


def end_with_supervisor() -> None:
    """End this process when standard input ends."""

    def wait() -> None:
        while os.read(0, 1024):
            pass
        os._exit(STOPPED)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def limited_memory(megabytes: int | None) -> Iterator[None]:
    """Have the system refuse memory beyond a limit within the block; after it, the job can still record its error."""
    if megabytes is None:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def run(
    store: JobStore,
    identifier: str,
    work: Callable[..., dict[str, Any]] = run_job,
    megabytes: int | None = None,
) -> int:
    """Run a job of the store within a limit of memory, and keep its result; return the exit code."""
    job = store.get(identifier)
    if job is None or job["state"] != "running":
        return 1

    def say(text: str) -> None:
        sys.stderr.write(without_folder(store, text) + "\n")

    try:
        reporter = Reporter(store, identifier)
        with (
            limited_memory(megabytes),
            reporting_to(reporter),
            figures_to(reporter.figure),
            remarks_to(say),
            settings_worded_for("request"),
        ):
            result = dumps(perform(store, job["kind"], job["request"], work))
        store.end(identifier, "done", result=result)
    except StoppedError:
        store.end(identifier, "cancelled", error="The job was told to stop.")
        return STOPPED
    except Exception as error:
        return _keep_error(store, identifier, error, megabytes)
    return 0


def _keep_error(store: JobStore, identifier: str, error: Exception, megabytes: int | None) -> int:
    """Keep why a job failed; return the exit code."""
    code = 2
    if isinstance(error, ManylabelError):
        why = without_folder(store, str(error))
    elif is_out_of_memory(error):
        limit = "its limit" if megabytes is None else f"its limit of {megabytes:,} MiB"
        why = f"The job needed more memory than {limit}. Start the server with a higher --limit job_megabytes=…."
    elif is_disk_full(error):
        why = DISK_FULL
    else:
        traceback.print_exc()
        why, code = f"Something went wrong inside manylabel ({type(error).__name__}: {error}).", 1
    try:
        store.end(identifier, "failed", error=why)
    except sqlite3.OperationalError as second:
        if not is_disk_full(second):
            raise
        return FULL
    return code


def perform(store: JobStore, kind: str, request: dict[str, Any], work: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """The result of a job on uploaded data, or on a corpus under review with its corrected labels."""
    corpora = CorpusFiles(store.folder)
    if (recipe := chosen_recipe(store, request)) is not None:
        request = {**request, "recipe": recipe}
    if kind == "import":
        return import_corpus(
            corpora,
            request["corpus"],
            store.data_path(request["data"]),
            request.get("options", {}),
            no_label_applies=request.get("no_label_applies", False),
        )
    if kind == "thresholds":
        return _write_thresholds(store, corpora.get(request["corpus"]), request)
    model = None
    if (name := request.get("model")) is not None:
        model = store.writable_model(name) if kind in WRITE_MODELS else store.found_model(name)
    if "corpus" not in request:
        return work(kind, _uploaded(store, request), model, request)
    corpus = corpora.get(request["corpus"])
    if kind == "score":
        return score_corpus(corpus, model, request)
    if kind == "retrain":
        return score_corpus(corpus, None, request, output=model)
    if kind == "suggest":
        return suggest_documents(corpus, request)
    result = work(kind, corrected_source(corpus), model, request)
    if kind == "audit":
        with corpus.writing() as database:
            result["suggestions"] = keep_suggestions(database, result["doubted"])
    return result


def _uploaded(store: JobStore, request: Mapping[str, Any]) -> Source:
    """The uploaded data of a job, read with its options."""
    options = dict(request.get("options") or {})
    merges, drops = bool(options.pop("merge_labels", False)), bool(options.pop("drop_unlabelled", False))
    path = store.data_path(request["data"])
    return Source(path, options=options, merge_labels=merges, drop_unlabelled=drops)


def _write_thresholds(store: JobStore, corpus: CorpusFile, request: Mapping[str, Any]) -> dict[str, Any]:
    """Write the saved thresholds of a corpus into a model, or into a new one beside it; return what changed."""
    source, name = store.found_model(request["model"]), request.get("name", request["model"])
    target = store.writable_model(name)
    with corpus.reading() as database:
        saved = saved_thresholds(database)
    result = write_reviewed(source, saved, target, f"saved in the review of {corpus.folder.name}")
    return {"corpus": corpus.folder.name, "model": name, **result}


def without_folder(store: JobStore, text: str) -> str:
    """A message without the place of the data directory, which does not concern those who use the server."""
    return text.replace(f"{store.folder}{os.sep}", "")


if __name__ == "__main__":
    end_with_supervisor()
    opened = JobStore(Path(sys.argv[1]), json.loads(sys.argv[4]))
    sys.exit(run(opened, sys.argv[2], megabytes=int(sys.argv[3])))
