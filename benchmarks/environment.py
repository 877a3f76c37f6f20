"""Make ``benchmarks/.venv``: manylabel with compiled kernels, and every peer in an environment of its own.

Quick when nothing changed: manylabel is installed again when its build files are newer than the last install, and a
peer is tried once; ``--again`` tries those that failed once more. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import venv
from dataclasses import asdict

from benchmarks.peers import BY_NAME, ENVIRONMENT, PEERS, ROOT, Peer, Presence, find, last_line, try_import

BUILT_FROM = ("pyproject.toml", "setup.py", "src/manylabel/kernels/*.pyx", "src/manylabel/kernels/*.pxd")
OWN_STEPS = (("matplotlib",), ("--editable", str(ROOT)))


def main() -> None:
    """Install what is missing."""
    parser = argparse.ArgumentParser(description="Make the environments of the benchmark.")
    parser.add_argument("--again", action="store_true", help="try once more to install the peers that failed")
    again = parser.parse_args().again
    (ENVIRONMENT / "logs").mkdir(parents=True, exist_ok=True)
    ours = BY_NAME["manylabel"]
    if find(ours).version is None or ours.outcome.stat().st_mtime < newest(BUILT_FROM):
        install(ours, OWN_STEPS)
    if find(ours).version is None:
        raise SystemExit(f"manylabel could not be installed: {find(ours).reason} (see {ours.log})")
    for peer in PEERS:
        if not peer.outcome.exists() or (again and find(peer).version is None):
            install(peer, peer.steps)
        if find(peer).version is None:
            print(f"{peer.name} is absent: {find(peer).reason} (see {peer.log.relative_to(ROOT)})")


def newest(patterns: tuple[str, ...]) -> float:
    """When the newest of the files was changed."""
    return max(path.stat().st_mtime for pattern in patterns for path in ROOT.glob(pattern))


def install(peer: Peer, steps: tuple[tuple[str, ...], ...]) -> None:
    """Install into the peer's environment, import it once, and note what came of it."""
    print(f"Installing {peer.name} …", flush=True)
    if not peer.python.exists():
        venv.create(peer.home, with_pip=True, symlinks=True)
    pip = [str(peer.python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    with peer.log.open("w") as log:
        worked = all(
            subprocess.run([*pip, *step], stdout=log, stderr=subprocess.STDOUT, check=False).returncode == 0
            for step in steps
        )
    presence = try_import(peer) if worked else Presence(None, last_line(peer.log.read_text()))
    peer.outcome.write_text(json.dumps(asdict(presence)))


if __name__ == "__main__":
    main()
