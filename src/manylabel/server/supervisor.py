"""The parent process: it holds the listening socket and copies of the models, and keeps the workers running."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from manylabel.exceptions import ParameterError
from manylabel.server.channel import Channel, Looked, Told
from manylabel.server.jobs.schedule import Scheduler
from manylabel.server.jobs.store import JobStore
from manylabel.server.logs import Log
from manylabel.server.metrics import Metrics
from manylabel.server.models import ModelFiles
from manylabel.server.settings import UNUSABLE, Settings, check_exposure
from manylabel.server.waiting import Waiting

POLL = 0.05
DEAF = 60.0
"""Seconds after which a worker that does not read what it is told is ended."""
WATCH = 1.0
"""Seconds between two looks at the model files."""
BACKLOG = 2048
LONGEST_PAUSE = 10.0
"""Seconds before a worker that dies again and again is started once more."""
TRIES = 3
"""How many workers may die before all have started."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on an address; an error where it is taken or not one of this computer."""
    made = None
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
        made.setblocking(False)
    except OSError as error:
        if made is not None:
            made.close()
        raise ParameterError(
            f"Cannot listen on {host}, port {port}: {error.strerror or error}. Choose another one with --host and "
            "--port (0 for any free port)."
        ) from None
    return made


def tell_systemd(state: str) -> None:
    """Tell systemd the state of the service, where it asks for it (``Type=notify``)."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address is None:
        return
    place = "\0" + address[1:] if address.startswith("@") else address
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:  # nobody listens
        told.sendto(state.encode(), place)


class Supervisor:
    """Keeps `settings.workers` processes running on one socket until it is told to stop."""

    def __init__(self, settings: Settings, started: Callable[[str], None]) -> None:
        check_exposure(settings.host, settings.token)
        self.settings, self.started = settings, started
        self.log = Log(None, as_json=settings.json_logs)
        self.scheduler: Scheduler | None = None
        folder = None
        if settings.data is not None:
            store = JobStore(Path(settings.data), settings.models)
            folder = store.models
            self.scheduler = Scheduler(store, settings.jobs, settings.limits, self.log)
        self.listener = listen(settings.host, settings.port)
        self.table = Metrics.new_file(settings.workers)
        self.metrics = Metrics(self.table.fileno(), (), settings.workers, settings.workers)
        self.waiting = Waiting(self.listener, self.metrics, self.log if settings.log_requests else None)
        self.files = ModelFiles(settings.models, folder)
        self._looked = 0.0
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self._channels: dict[int, Channel] = {}
        self._stopping = False
        self._due = [0.0] * settings.workers
        """When each worker may be started again."""
        self._pauses = [0.0] * settings.workers

    @property
    def address(self) -> str:
        """The address of the server."""
        host, port = self.listener.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def run(self) -> int:
        """Serve until a signal comes; return the exit code."""
        kept = {one: signal.signal(one, self._stop) for one in (signal.SIGTERM, signal.SIGINT)}
        kept[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._reload)
        try:
            self.waiting.start()
            self.files.look()
            for worker in range(self.settings.workers):
                self._start(worker)
            return self._keep_running()
        finally:
            self.waiting.end()
            if self.scheduler is not None:
                self.scheduler.stop()
            self._end_all()
            self.listener.close()
            self.table.close()
            for one, handler in kept.items():
                signal.signal(one, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True

    def _reload(self, number: int, frame: FrameType | None) -> None:
        self.metrics.set("generation", time.monotonic())

    def _keep_running(self) -> int:
        announced = False
        while not self._stopping:
            if self.waiting.is_alive() and self.metrics.ready_workers():
                self.waiting.end()
            if not announced and len(self.metrics.ready_workers()) == self.settings.workers:
                announced = True
                tell_systemd("READY=1")
                self.started(self.address)
            for worker, process in list(self.processes.items()):
                code = process.poll()
                if code is None:
                    continue
                if not announced and (code == UNUSABLE or self.metrics.get("restarts") >= TRIES):
                    return 2 if code == UNUSABLE else 1
                self._died(worker, code)
            for worker in range(self.settings.workers):
                if worker not in self.processes and time.monotonic() >= self._due[worker]:
                    self._start(worker)
                    self.metrics.add("restarts", 1)
            if self.scheduler is not None:
                self.scheduler.step()
            self._look_at_models()
            time.sleep(POLL)
        self.log.write("stop", "the server was told to stop, and ends when requests in flight are answered.")
        return 0

    def _look_at_models(self) -> None:
        """Tell the workers which model files changed: now and then, and at once when a request or a signal asks."""
        asked, now = self.metrics.get("generation"), time.monotonic()
        if asked <= self.metrics.get("looked") and now - self._looked < WATCH:
            return
        told: list[tuple[Told, int | None]] = [*self.files.look()]
        if asked > self.metrics.get("looked"):
            told.append((Looked(asked), None))
        for worker in self._channels:
            self._tell(worker, told)
        self.metrics.set("looked", asked)
        self._looked = now

    def _start(self, worker: int) -> None:
        fds = (self.listener.fileno(), self.table.fileno())
        ours, theirs = socket.socketpair()
        with theirs:
            self.processes[worker] = subprocess.Popen(
                [sys.executable, "-m", "manylabel.server.worker", str(worker), *map(str, fds)],
                stdin=theirs.fileno(),
                pass_fds=fds,
                process_group=0,  # Ctrl-C reaches the supervisor only, which then stops the workers
            )
        ours.settimeout(DEAF)
        self._channels[worker] = Channel(ours)
        self._tell(
            worker,
            [(self.settings, None), *self.files.all, (Looked(self.metrics.get("looked")), None)],
        )
        self._due[worker] = time.monotonic()

    def _tell(self, worker: int, messages: Sequence[tuple[Told, int | None]]) -> None:
        """Send messages to a worker; end one that does not listen, so that it is started again and told then."""
        try:
            for message, file in messages:
                self._channels[worker].send(message, file)
        except OSError:
            self.processes[worker].kill()

    def _died(self, worker: int, code: int) -> None:
        """Plan the next start of a worker: at once, or later and later where it dies again and again."""
        del self.processes[worker]
        self._channels.pop(worker).end.close()
        for field in ("ready", "in_flight", "pid"):
            self.metrics.set(field, 0, worker)
        lived = time.monotonic() - self._due[worker]
        self._pauses[worker] = 0.0 if lived > LONGEST_PAUSE else min(LONGEST_PAUSE, 2 * self._pauses[worker] + 0.1)
        self._due[worker] = time.monotonic() + self._pauses[worker]
        self.log.write("worker_died", "a worker died and is started again:", "error", worker=worker, exit_code=code)

    def _end_all(self) -> None:
        """Let requests in flight finish, then end the workers."""
        for process in self.processes.values():
            process.terminate()
        deadline = time.monotonic() + self.settings.grace + 5
        for process in self.processes.values():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for channel in self._channels.values():
            channel.end.close()


def serve(settings: Settings, started: Callable[[str], None]) -> int:
    """Serve models until the process is told to stop; `started` is called with the address."""
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    return Supervisor(settings, started).run()
