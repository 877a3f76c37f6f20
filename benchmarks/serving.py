"""manylabel serve against other servers: the same documents, one per request, in turn, with wrk on the same computer.

    MANYLABEL_DATA=… python -m benchmarks.serving                     (the table of docs/speed.md; about 4 minutes)
    … --annif .venv-annif/bin                                         (with Annif, where it is installed)
    … --minutes 10                                                    (memory and file handles of manylabel stay flat)

wrk is a package of most distributions. Reuters-21578, ModApte split, 90 labels: the default method of manylabel; a
scikit-learn pipeline (tf-idf, one linear SVM per label) behind FastAPI, as tutorials write it
(`benchmarks/serving_peer.py`); Annif with its backend omikuji behind gunicorn, as its documentation advises. Each has
as many workers. CPU time is that of all processes of a server; unlike the others it hardly depends on other load.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

SCRIPT = Path(__file__).with_suffix(".lua")
HERE = Path(__file__).parents[1]
TICKS = os.sysconf("SC_CLK_TCK")
MOST_GROWTH = 1.02
"""The most that memory may grow from the first minute to the last one."""


@dataclass
class Server:
    """A running server, and the requests that it is measured with."""

    name: str
    url: str
    process: subprocess.Popen[bytes]
    rounds: list[dict[str, float]] = field(default_factory=list)

    def processes(self) -> list[int]:
        """The process and all its descendants."""
        found = [self.process.pid]
        for one in found:
            for children in Path(f"/proc/{one}/task").glob("*/children"):
                found += map(int, children.read_text().split())
        return found

    def cpu_seconds(self) -> float:
        """The CPU time of all processes so far."""
        fields = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in self.processes()]
        return sum(int(one[11]) + int(one[12]) for one in fields) / TICKS

    def usage(self) -> tuple[float, int]:
        """The memory of all processes in megabytes, shared pages divided among them, and their open files."""
        memory = files = 0
        for one in self.processes():
            memory += int(re.findall(r"^Pss: +(\d+)", Path(f"/proc/{one}/smaps_rollup").read_text(), re.MULTILINE)[0])
            files += len(os.listdir(f"/proc/{one}/fd"))
        return memory / 1024, files

    def measure(self, wrk: str, folder: Path, seconds: int, connections: int) -> dict[str, float]:
        """Requests per second, percentiles in milliseconds, failures and CPU time per request, in microseconds."""
        place = urlsplit(self.url)
        command = [wrk, "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", "-s", str(SCRIPT)]
        before = self.cpu_seconds()
        done = subprocess.run(
            [*command, f"http://{place.netloc}"],
            env={**os.environ, "REQUESTS": str(folder / self.name)},
            capture_output=True,
            text=True,
            check=True,
        )
        found: dict[str, float] = json.loads(re.findall(r"^{.*}$", done.stdout, re.MULTILINE)[0])
        found["cpu"] = (self.cpu_seconds() - before) / max(1.0, found["requests"]) * 1e6
        return found


def prepare(folder: Path) -> None:
    """Write the documents and the model of manylabel."""
    from manylabel.data.known import load
    from manylabel.recipe import Recipe
    from manylabel.tasks.models import fit_corpus

    corpus = load("reuters21578", label_set="R90").corpus
    for name in ("train", "test"):
        part = corpus.split(name)
        texts = ["\n".join(fields) for fields in zip(*part.fields.values(), strict=True)]
        (folder / f"{name}.json").write_text(
            json.dumps({"texts": texts, "labels": [list(one) for one in part.label_sets]})
        )
    fit_corpus(corpus.split("train"), Recipe.of("auto")).save(folder / "reuters.manylabel")


def free_port() -> int:
    """A port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        return int(made.getsockname()[1])


@contextmanager
def started(command: list[str], health: str, **options: object) -> Iterator[subprocess.Popen[bytes]]:
    """A server that answers; it is stopped at the end."""
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
    try:
        deadline = time.monotonic() + 300
        while True:
            try:
                urllib.request.urlopen(health, timeout=5).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def write_requests(folder: Path, name: str, url: str, bodies: list[str], kind: str) -> None:
    """Write the requests of a server for wrk, one per file line."""
    place = urlsplit(url)
    (folder / f"{name}.jsonl").write_text("".join(body.replace("\n", "\\n") + "\n" for body in bodies))
    (folder / f"{name}.head").write_text(f"{place.path}\n{place.netloc}\n{kind}\n")


# ---- the servers -----------------------------------------------------------------------------------------------------


def start_manylabel(stack: ExitStack, folder: Path, workers: int) -> Server:
    """The server of this project."""
    port = free_port()
    command = [sys.executable, "-m", "manylabel", "serve", str(folder / "reuters.manylabel"), "--port", str(port)]
    url = f"http://127.0.0.1:{port}"
    process = stack.enter_context(started([*command, "--workers", str(workers)], f"{url}/health", cwd=HERE))
    return Server("manylabel", f"{url}/v1/models/reuters/predict", process)


def start_fastapi(stack: ExitStack, folder: Path, workers: int) -> Server:
    """FastAPI with a scikit-learn pipeline, which each worker trains when it starts."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "benchmarks.serving_peer:app", "--no-access-log", "--port", str(port)]
    url = f"http://127.0.0.1:{port}"
    environment = {**os.environ, "SERVING_DATA": str(folder / "train.json")}
    command += ["--workers", str(workers)]
    process = stack.enter_context(started(command, f"{url}/health", cwd=HERE, env=environment))
    return Server("FastAPI + scikit-learn", f"{url}/predict", process)


def start_annif(stack: ExitStack, folder: Path, workers: int, programs: Path) -> Server:
    """Annif, trained on the same documents; `programs` holds the commands annif and gunicorn."""
    data = json.loads((folder / "train.json").read_text())
    address = {name: f"<http://example.org/{quote(name)}>" for labels in data["labels"] for name in labels}
    (folder / "projects.cfg").write_text(
        "[reuters]\nname=Reuters\nlanguage=en\nbackend=omikuji\nanalyzer=snowball(english)\nvocab=reuters\nlimit=10\n"
    )
    (folder / "vocabulary.tsv").write_text("".join(f"{uri}\t{name}\n" for name, uri in address.items()))
    lines = [
        f"{' '.join(text.split())}\t{' '.join(address[name] for name in labels)}\n"
        for text, labels in zip(data["texts"], data["labels"], strict=True)
    ]
    (folder / "train.tsv").write_text("".join(lines))
    for arguments in (("load-vocab", "-L", "en", "reuters", "vocabulary.tsv"), ("train", "reuters", "train.tsv")):
        subprocess.run([programs / "annif", *arguments], cwd=folder, check=True, capture_output=True)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [str(programs / "gunicorn"), "annif:create_app()", "--bind", f"127.0.0.1:{port}", "--timeout", "300"]
    command += ["--workers", str(workers), "--worker-class", "uvicorn.workers.UvicornWorker"]
    process = stack.enter_context(started(command, f"{url}/v1/projects", cwd=folder))
    return Server("Annif, omikuji", f"{url}/v1/projects/reuters/suggest", process)


def send(folder: Path, server: Server, texts: list[str]) -> None:
    """Write the requests of a server in its own dialect, and ask once."""
    is_form = server.url.endswith("/suggest")
    bodies = [urlencode({"text": text}) if is_form else json.dumps({"text": text}) for text in texts]
    kind = "application/x-www-form-urlencoded" if is_form else "application/json"
    write_requests(folder, server.name, server.url, bodies, kind)
    asked = urllib.request.Request(server.url, bodies[0].encode(), {"Content-Type": kind})
    urllib.request.urlopen(asked, timeout=120).close()


# ---- the reports -----------------------------------------------------------------------------------------------------


def report(servers: list[Server]) -> None:
    """Print the medians of the rounds and the ratios as a table in Markdown."""
    rates = [statistics.median(one["rate"] for one in server.rounds) for server in servers]
    print("| server | requests per second | p50 | p99 | CPU per request | failed | manylabel answers |")
    print("|---|---|---|---|---|---|---|")
    for server, rate in zip(servers, rates, strict=True):
        p50, p99, cpu = (statistics.median(one[name] for one in server.rounds) for name in ("p50", "p99", "cpu"))
        failed = sum(one["failed"] for one in server.rounds)
        ratio = "" if rate == rates[0] else f"{rates[0] / rate:.0f}× as many"
        print(f"| {server.name} | {rate:,.0f} | {p50:.1f} ms | {p99:.1f} ms | {cpu:,.0f} µs | {failed:.0f} | {ratio} |")


def check_flat(server: Server, given: argparse.Namespace, folder: Path) -> bool:
    """Print memory and open files after each minute of load; return whether they stay flat."""
    seen = []
    print("| minute | requests per second | p99 | failed | memory | open files |\n|---|---|---|---|---|---|")
    for minute in range(1, given.minutes + 1):
        found = server.measure(given.wrk, folder, 60, given.connections)
        time.sleep(1)  # connections are closed
        seen.append(server.usage())
        memory, files = seen[-1]
        row = f"{found['rate']:,.0f} | {found['p99']:.1f} ms | {found['failed']:.0f} | {memory:.1f} MB | {files}"
        print(f"| {minute} | {row} |", flush=True)
    is_flat = seen[-1][0] <= seen[0][0] * MOST_GROWTH and seen[-1][1] <= seen[0][1]
    print("Memory and open files stay flat." if is_flat else "Memory or open files grow.")
    return is_flat


def arguments() -> argparse.Namespace:
    """The options of the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=15, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--wrk", default="wrk", help="the command wrk")
    parser.add_argument("--only", choices=["manylabel", "fastapi", "annif"], action="append")
    parser.add_argument("--annif", type=Path, help="the folder with the commands annif and gunicorn")
    parser.add_argument("--minutes", type=int, help="measure manylabel alone for so long; exit code 1 where it grows")
    return parser.parse_args()


def main() -> int:
    """Measure all servers in turn and print a table, or manylabel alone for some minutes."""
    given = arguments()
    wanted = ["manylabel"] if given.minutes else given.only or ["manylabel", "fastapi", "annif"]
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        prepare(folder)
        servers = []
        if "manylabel" in wanted:
            servers.append(start_manylabel(stack, folder, given.workers))
        if "fastapi" in wanted:
            servers.append(start_fastapi(stack, folder, given.workers))
        if "annif" in wanted and given.annif is not None:
            servers.append(start_annif(stack, folder, given.workers, given.annif.absolute()))
        texts = json.loads((folder / "test.json").read_text())["texts"][:1000]
        for server in servers:
            send(folder, server, texts)
            server.measure(given.wrk, folder, 2, given.connections)  # all workers have started, and are warm
        if given.minutes:
            return 0 if check_flat(servers[0], given, folder) else 1
        for _ in range(given.rounds):
            for server in servers:
                server.rounds.append(server.measure(given.wrk, folder, given.seconds, given.connections))
        report(servers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
