"""Counters that all workers share: each writes to a row of its own, and any of them reports the sums to Prometheus."""

from __future__ import annotations

import bisect
import math
import mmap
import resource
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO

STATUSES = (200, 202, 204, 400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429, 431, 500, 503, 507)
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""The upper bounds of the durations that are counted together, in seconds."""
_ROUTE = len(STATUSES) + 1 + len(BUCKETS) + 1 + 1
"""The number of columns per route: statuses, durations and the sum of the durations."""
MOST_ROUTES = 64
_FIELDS = (
    "documents",
    "in_flight",
    "reloads",
    "reload_failures",
    "ready",
    "generation",
    "looked",
    "restarts",
    "pid",
    "memory",
)
_FIELD = {name: MOST_ROUTES * _ROUTE + number for number, name in enumerate(_FIELDS)}
_ROW = MOST_ROUTES * _ROUTE + len(_FIELDS)


class Metrics:
    """A table in shared memory: a row per worker and one of the supervisor, a column per counter.

    A row has one writer, and a counter is written in one piece, so nothing is locked. A worker that is restarted goes
    on with the row of the one before: counters never fall.
    """

    def __init__(self, file: int, routes: Sequence[str], workers: int, row: int) -> None:
        self.routes, self.workers = tuple(routes), workers
        self._index = {route: number for number, route in enumerate(self.routes)}
        values = memoryview(mmap.mmap(file, (workers + 1) * _ROW * 8)).cast("d")
        self._rows = [values[start * _ROW : (start + 1) * _ROW] for start in range(workers + 1)]
        self.row = self._rows[row]

    @staticmethod
    def new_file(workers: int) -> IO[bytes]:
        """A file without a name for the rows of some workers and the supervisor, all zero."""
        made = tempfile.TemporaryFile()  # noqa: SIM115 -- the supervisor closes it
        made.truncate((workers + 1) * _ROW * 8)
        return made

    def count(self, route: str, status: int, seconds: float, documents: int = 0) -> None:
        """Count one request and its documents."""
        base = self._index.get(route, 0) * _ROUTE
        place = STATUSES.index(status) if status in STATUSES else len(STATUSES)
        row = self.row
        row[base + place] += 1
        row[base + len(STATUSES) + 1 + bisect.bisect_left(BUCKETS, seconds)] += 1
        row[base + _ROUTE - 1] += seconds
        row[_FIELD["documents"]] += documents

    def get(self, field: str, row: int | None = None) -> float:
        """A field of this process, or of another row."""
        return (self.row if row is None else self._rows[row])[_FIELD[field]]

    def set(self, field: str, value: float, row: int | None = None) -> None:
        """Set a field of this process, or of another row."""
        (self.row if row is None else self._rows[row])[_FIELD[field]] = value

    def add(self, field: str, by: float) -> None:
        """Add to a field of this process."""
        self.row[_FIELD[field]] += by

    def _sum(self, column: int) -> float:
        return sum(row[column] for row in self._rows)

    def ready_workers(self) -> list[int]:
        """The numbers of the workers that answer requests."""
        return [number for number in range(self.workers) if self.get("ready", number)]

    def least_generation(self) -> float:
        """The last time of asking as of which all workers serve the model files; infinite where no worker answers."""
        return min((self.get("generation", number) for number in self.ready_workers()), default=math.inf)

    # ---- the report --------------------------------------------------------------------------------------------------

    def report(self, models: Sequence[tuple[str, str, str]]) -> str:
        """All counters in Prometheus' text format; `models` are (name, version, SHA-256)."""
        return "\n".join([*self._requests(), *self._durations(), *self._others(models), ""])

    def _requests(self) -> Iterator[str]:
        yield from _heading("manylabel_requests_total", "counter", "Requests answered.")
        for number, route in enumerate(self.routes):
            for place, status in enumerate((*STATUSES, "other")):
                if total := self._sum(number * _ROUTE + place):
                    yield f'manylabel_requests_total{{route="{route}",status="{status}"}} {total:.0f}'

    def _durations(self) -> Iterator[str]:
        name = "manylabel_request_duration_seconds"
        yield from _heading(name, "histogram", "Time from the headers of a request to the end of its answer.")
        for number, route in enumerate(self.routes):
            base, total = number * _ROUTE + len(STATUSES) + 1, 0.0
            counts = [self._sum(base + place) for place in range(len(BUCKETS) + 1)]
            if not any(counts):
                continue
            for bound, count in zip((*BUCKETS, "+Inf"), counts, strict=True):
                total += count
                yield f'{name}_bucket{{route="{route}",le="{bound}"}} {total:.0f}'
            yield f'{name}_sum{{route="{route}"}} {self._sum((number + 1) * _ROUTE - 1):.9g}'
            yield f'{name}_count{{route="{route}"}} {total:.0f}'

    def _others(self, models: Sequence[tuple[str, str, str]]) -> Iterator[str]:
        for field, name, kind, text in (
            ("documents", "documents_total", "counter", "Documents labelled."),
            ("reloads", "model_reloads_total", "counter", "Models replaced by a new version, per worker."),
            ("reload_failures", "model_reload_failures_total", "counter", "Model files that could not be loaded."),
            ("restarts", "worker_restarts_total", "counter", "Workers started again after they had died."),
            ("in_flight", "requests_in_flight", "gauge", "Requests that are being answered."),
            ("ready", "workers_ready", "gauge", "Workers that answer requests."),
        ):
            yield from _heading(f"manylabel_{name}", kind, text)
            yield f"manylabel_{name} {self._sum(_FIELD[field]):.0f}"
        yield from _heading("manylabel_worker_memory_bytes", "gauge", "Peak resident memory of each worker.")
        for number in self.ready_workers():
            yield f'manylabel_worker_memory_bytes{{worker="{number}"}} {self.get("memory", number):.0f}'
        yield from _heading("manylabel_model_info", "gauge", "The models that are served.")
        for name, version, sha256 in models:
            quoted = name.replace("\\", "\\\\").replace('"', '\\"')
            yield f'manylabel_model_info{{model="{quoted}",version="{version}",sha256="{sha256}"}} 1'


def memory_of_this_process() -> float:
    """The peak resident memory of this process in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)


def _heading(name: str, kind: str, text: str) -> tuple[str, str]:
    return f"# HELP {name} {text}", f"# TYPE {name} {kind}"
