"""Start the jobs of the queue, a few at a time, and end those that take too long or were cancelled.

Jobs that only read uploaded data have a lane of their own beside it.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from manylabel.exceptions import ManylabelError
from manylabel.server.damage import DamagedStoreError
from manylabel.server.jobs.store import FULL, SERVER_STOPPED, SHORT, JobStore, State
from manylabel.server.logs import Log
from manylabel.server.settings import Limits
from manylabel.server.shortage import DISK_FULL, has_no_space, is_disk_full
from manylabel.wording import counted

LOOK = 0.25
"""Seconds between two looks at the queue."""
TO_STOP = 5.0
"""Seconds that a cancelled job has to stop by itself."""


@dataclass(slots=True)
class Running:
    """The process of a job."""

    process: subprocess.Popen[bytes]
    is_short: bool
    began: float
    told: float | None = None
    """When the job was told to stop."""
    why: tuple[State, str] | None = None
    """The state and the reason of a job that was ended from here."""


class Scheduler:
    """Runs up to `at_once` jobs of a store, and one short one besides, each in a process of its own."""

    def __init__(self, store: JobStore, at_once: int, limits: Limits, log: Log) -> None:
        self.store, self.at_once, self.limits, self.log = store, at_once, limits, log
        self.running: dict[str, Running] = {}
        self.looked = 0.0
        self.is_disk_full = False
        if interrupted := self._prepare():
            log.write(
                "jobs_interrupted", f"{counted(interrupted, 'job')} ran when the server was killed; see /v1/jobs."
            )

    def _prepare(self) -> int:
        """Make the data directory, and mark the jobs that ran when the server was killed; return their number."""
        try:
            self.store.prepare()
            return self.store.interrupt_all()
        except (OSError, sqlite3.OperationalError) as error:
            if not is_disk_full(error):
                raise
            raise ManylabelError(DISK_FULL) from error

    def step(self) -> None:
        """Look at the queue and at the running jobs, if it is time to."""
        now = time.monotonic()
        if now - self.looked < LOOK:
            return
        self.looked = now
        try:
            self._work(now)
            self.is_disk_full = False
        except (OSError, sqlite3.OperationalError) as error:
            if not is_disk_full(error):
                raise
            if not self.is_disk_full:  # once, although every look fails until there is space
                self.log.write("disk_full", f"{DISK_FULL} Until then no job starts.", "error")
            self.is_disk_full = True

    def _work(self, now: float) -> None:
        """End jobs and start others."""
        for identifier, one in list(self.running.items()):
            if one.process.poll() is not None:
                self._ended(identifier)
            else:
                self._check(identifier, one, now)
        for short, most in ((True, 1), (False, self.at_once)):
            while self._count(short) < most and (job := self.store.take(short=short)) is not None:
                self._start(job)

    def _count(self, short: bool) -> int:
        """How many jobs of a lane run."""
        return sum(one.is_short == short for one in self.running.values())

    def _start(self, job: Mapping[str, Any]) -> None:
        identifier = job["id"]
        command = [sys.executable, "-m", "manylabel.server.jobs.run", str(self.store.folder), identifier]
        try:
            with self.store.log_of(identifier).open("ab") as log:
                if job["remark"] is not None:
                    log.write(f"Attempt {job['attempt']}. {job['remark']}\n".encode())
                    log.flush()
                process = subprocess.Popen(
                    [*command, str(self.limits.job_megabytes), json.dumps(self.store.served)],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    process_group=0,
                )
        except OSError as error:
            self.store.end(identifier, "failed", error=f"The job could not be started: {error.strerror}.")
            raise
        self.running[identifier] = Running(process, job["kind"] in SHORT, time.monotonic())

    def _check(self, identifier: str, one: Running, now: float) -> None:
        """End a job that took too long, or did not stop when it was told to."""
        if now - one.began > self.limits.job_seconds:
            limit = counted(self.limits.job_seconds, "second")
            one.why = "failed", f"The job took longer than {limit}, which is its limit (--limit job_seconds=…)."
            one.process.kill()
        elif one.told is None and self.store.is_cancelled(identifier):
            one.told = now
        elif one.told is not None and now - one.told > TO_STOP:
            one.why = "cancelled", "The job was told to stop."
            one.process.kill()

    def _ended(self, identifier: str) -> None:
        """Keep how a job ended that could not do so itself."""
        one = self.running[identifier]
        if one.process.stdin is not None:
            one.process.stdin.close()
        one.why = one.why or self._why_it_died(one.process.returncode)  # kept, should the disk be too full to record it
        state, error = one.why
        self.store.end(identifier, state, error=error)  # nothing changes where the job ended by itself
        del self.running[identifier]

    def _why_it_died(self, code: int) -> tuple[State, str]:
        """The state and the reason of a job whose process ended with a code and kept no reason itself."""
        if code == FULL or (code and has_no_space(self.store.folder)):
            return "failed", DISK_FULL
        lacked = "If it lacked memory, start the server with a higher --limit job_megabytes=…."
        return "interrupted", f"The process of the job ended with code {code}. {lacked} Resume it to try again."

    def stop(self) -> None:
        """End all jobs; they can be resumed."""
        for one in self.running.values():
            if one.process.stdin is not None:
                one.process.stdin.close()
        for identifier, one in list(self.running.items()):
            try:
                one.process.wait(TO_STOP)
            except subprocess.TimeoutExpired:
                one.process.kill()
                one.process.wait()
            one.why = "interrupted", SERVER_STOPPED
            with suppress(sqlite3.OperationalError, DamagedStoreError):  # the next start marks the job
                self._ended(identifier)
