"""manylabel serve against other servers: the same documents, one per request, in turn, with wrk on the same computer.

    MANYLABEL_DATA=… python -m benchmarks.serving --seconds 10 --rounds 3
    … --seconds 600 --rounds 1 --only manylabel        (ten minutes: memory and file handles must stay flat)

wrk is a package of most distributions. Reuters-21578, ModApte split, 90 labels; the default method against a
scikit-learn pipeline (tf-idf, one linear SVM per label) behind FastAPI, as tutorials write it
(`benchmarks/serving_peer.py`), with as many workers. A running Annif is measured with --annif URL --project ID.
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
from pathlib import Path
from urllib.parse import urlencode, urlsplit

SCRIPT = Path(__file__).with_suffix(".lua")
HERE = Path(__file__).parents[1]


def prepare(folder: Path) -> None:
    """Write the texts and the model of manylabel."""
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
def started(command: list[str], health: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server that answers; it is stopped at the end."""
    process = subprocess.Popen(command, cwd=HERE, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
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


def measure(wrk: str, folder: Path, name: str, url: str, seconds: int, connections: int) -> dict[str, float]:
    """Requests per second, percentiles in milliseconds and failures, as wrk measures them."""
    place = urlsplit(url)
    command = [wrk, "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", "-s", str(SCRIPT)]
    done = subprocess.run(
        [*command, f"http://{place.netloc}"],
        env={**os.environ, "REQUESTS": str(folder / name)},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(re.findall(r"^{.*}$", done.stdout, re.MULTILINE)[0])
    return found


def usage(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """The resident memory in megabytes and the open files of all children of a process."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    memory = sum(int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{one}/status").read_text())[0]) for one in children)
    return memory >> 10, sum(len(os.listdir(f"/proc/{one}/fd")) for one in children)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--wrk", default="wrk")
    parser.add_argument("--only", choices=["manylabel", "fastapi", "annif"])
    parser.add_argument("--annif", help="the address of a running Annif, http://HOST:PORT")
    parser.add_argument("--project", default="reuters")
    return parser.parse_args()


def main() -> None:
    """Measure all servers in turn and print a table."""
    given = arguments()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        prepare(folder)
        texts = json.loads((folder / "test.json").read_text())["texts"][:1000]
        ours, theirs = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        targets: dict[str, str] = {}
        if given.only in (None, "manylabel"):
            command = [sys.executable, "-m", "manylabel", "serve", str(folder / "reuters.manylabel")]
            command += ["--port", str(urlsplit(ours).port), "--workers", str(given.workers)]
            server = stack.enter_context(started(command, f"{ours}/health"))
            targets["manylabel"] = f"{ours}/v1/models/reuters/predict"
        if given.only in (None, "fastapi"):
            os.environ["SERVING_DATA"] = str(folder / "train.json")
            command = [sys.executable, "-m", "uvicorn", "benchmarks.serving_peer:app", "--no-access-log"]
            command += ["--port", str(urlsplit(theirs).port), "--workers", str(given.workers)]
            stack.enter_context(started(command, f"{theirs}/health"))
            targets["fastapi"] = f"{theirs}/predict"
        if given.annif and given.only in (None, "annif"):
            targets["annif"] = f"{given.annif}/v1/projects/{given.project}/suggest"
        for target, url in targets.items():
            form = target == "annif"
            bodies = [urlencode({"text": text}) if form else json.dumps({"text": text}) for text in texts]
            kind = "application/x-www-form-urlencoded" if form else "application/json"
            write_requests(folder, target, url, bodies, kind)
        before = usage(server) if "manylabel" in targets else None
        rounds: dict[str, list[dict[str, float]]] = {target: [] for target in targets}
        for _ in range(given.rounds):
            for target, url in targets.items():
                rounds[target].append(measure(given.wrk, folder, target, url, given.seconds, given.connections))
        report(rounds)
        if before is not None:
            print(f"manylabel's workers before and after: {before} and {usage(server)} (MB, open files)")


def report(rounds: dict[str, list[dict[str, float]]]) -> None:
    """Print the medians of the rounds, and the ratios."""
    rates = {target: statistics.median(one["rate"] for one in found) for target, found in rounds.items()}
    print(f"{'server':12} {'requests/s':>12} {'p50 ms':>9} {'p99 ms':>9} {'failed':>7}  manylabel is")
    for target, found in rounds.items():
        p50, p99 = (statistics.median(one[name] for one in found) for name in ("p50", "p99"))
        failed = sum(one["failed"] for one in found)
        ratio = f"{rates['manylabel'] / rates[target]:.0f}× as fast" if "manylabel" in rates else ""
        print(f"{target:12} {rates[target]:12,.0f} {p50:9.2f} {p99:9.2f} {failed:7.0f}  {ratio}")


if __name__ == "__main__":
    main()
