"""The peers: how each is installed, and whether it is here.

Every peer lives in an environment of its own, ``benchmarks/.venv/peers/<folder>``, so that what one pins (PECOS wants
NumPy 1, say) disturbs no other, and a peer that cannot be installed is absent and nothing more. scikit-learn is
installed beside manylabel, which depends on it. This module is read by a bare Python: standard library only.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / "benchmarks" / ".venv"
SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"


@dataclass(frozen=True, slots=True)
class Peer:
    """One peer: what pip is asked for, step after step, and an import that shows it is there."""

    name: str
    folder: str
    distribution: str
    steps: tuple[tuple[str, ...], ...]
    probe: str

    @property
    def home(self) -> Path:
        """The peer's environment."""
        return ENVIRONMENT / "peers" / self.folder if self.steps else ENVIRONMENT

    @property
    def python(self) -> Path:
        """The interpreter of the peer's environment."""
        return self.home / SCRIPTS / "python"

    @property
    def outcome(self) -> Path:
        """What the last install came to: version or reason, as JSON."""
        return ENVIRONMENT / "logs" / f"{self.folder}.json"

    @property
    def log(self) -> Path:
        """What pip said."""
        return ENVIRONMENT / "logs" / f"{self.folder}.txt"


PEERS = (
    # No steps: these two are what benchmarks/.venv itself is made of.
    Peer("manylabel", "manylabel", "manylabel", (), "manylabel"),
    Peer("scikit-learn", "scikit-learn", "scikit-learn", (), "sklearn"),
    # Without its dependencies, or it would bring PyTorch; the linear part needs none of it.
    Peer(
        "PECOS",
        "pecos",
        "libpecos",
        (("numpy<2", "scipy<1.14", "scikit-learn"), ("--no-deps", "libpecos")),
        "pecos.xmc.base",
    ),
    Peer("LibMultiLabel", "libmultilabel", "libmultilabel", (("libmultilabel",),), "libmultilabel.linear"),
    Peer(
        "sparse_dot_topn",
        "sparse_dot_topn",
        "sparse_dot_topn",
        (("numpy", "scipy", "sparse_dot_topn"),),
        "sparse_dot_topn",
    ),
    Peer("fastText", "fasttext", "fasttext-numpy2", (("numpy", "scipy", "fasttext-numpy2"),), "fasttext"),
    Peer("napkinXC", "napkinxc", "napkinxc", (("scikit-learn", "napkinxc"),), "napkinxc.models"),
    Peer("omikuji", "omikuji", "omikuji", (("scikit-learn", "omikuji"),), "omikuji"),
)

BY_NAME = {peer.name: peer for peer in PEERS}


@dataclass(frozen=True, slots=True)
class Presence:
    """Whether a peer is here: its version, or why it is not."""

    version: str | None
    reason: str = ""

    def __str__(self) -> str:
        return self.version if self.version is not None else f"absent: {self.reason}"


def try_import(peer: Peer) -> Presence:
    """Import the peer in its own environment: its version, or the error."""
    script = (
        "import importlib, importlib.metadata, sys; importlib.import_module(sys.argv[1]); "
        "print(importlib.metadata.version(sys.argv[2]))"
    )
    asked = subprocess.run(
        [peer.python, "-c", script, peer.probe, peer.distribution],
        capture_output=True,
        text=True,
        cwd=ENVIRONMENT,
        check=False,
    )
    if asked.returncode == 0:
        return Presence(last_line(asked.stdout))
    return Presence(None, last_line(asked.stderr) or f"importing it ended with {asked.returncode}")


def find(peer: Peer) -> Presence:
    """What the last install of the peer came to."""
    if not peer.outcome.exists():
        return Presence(None, "never installed; run python -m benchmarks.environment")
    outcome = json.loads(peer.outcome.read_text())
    return Presence(outcome["version"], outcome["reason"])


def find_all() -> dict[str, Presence]:
    """Every peer by name, and whether it is here."""
    return {peer.name: find(peer) for peer in PEERS}


def last_line(text: str) -> str:
    """The line that says what went wrong: the last one that names an error, or else the last one.

    >>> last_line("Traceback ...\\n  File ...\\nImportError: no torch\\n\\nnote: see above\\n")
    'ImportError: no torch'
    """
    said = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in said if re.match(r"(ERROR|error|\w*Error)\b", line)]
    return (errors or said or [""])[-1]
