"""Fuzz one target guided by coverage: ``python -m fuzz.guided TARGET [options of libFuzzer]``; needs atheris.

Inputs that reach new code are kept in build/fuzz/guided/TARGET and start the next run. libFuzzer stops at the first
find and writes it to build/fuzz/finds/TARGET, where `python -m fuzz.replay` reads it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["manylabel"]):
    from fuzz.judging import FINDS, MEMORY, SECONDS, judge
    from fuzz.targets import TARGETS

FOLDER = Path("build/fuzz")


def main() -> None:
    """Fuzz the target that the first argument names."""
    target = TARGETS[sys.argv[1]]
    kept, finds = FOLDER / "guided" / target.name, FOLDER / "finds" / target.name
    for folder in (kept, finds):
        folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds()):
        (kept / f"seed-{number:03}").write_bytes(seed)

    def run(data: bytes) -> None:
        verdict, error = judge(target, data)
        if verdict in FINDS and error is not None:
            raise error

    limits = [f"-timeout={SECONDS:.0f}", f"-rss_limit_mb={2 * MEMORY >> 20}", f"-artifact_prefix={finds}/guided-"]
    atheris.Setup([sys.argv[0], *limits, *sys.argv[2:], str(kept)], run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
