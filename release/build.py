"""Build the source archive and the wheel twice from the committed files, and keep them only if both times are equal.

Run in an environment with ``build`` and ``twine`` (``make dist``). Everything that could differ between two builds is
fixed: the time of every file is that of the commit, members are sorted, and paths of the build are mapped away.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Build twice, compare, check the metadata, and leave the files with their hashes in a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    output: Path = parser.parse_args().output
    commit, time = last_commit()
    with tempfile.TemporaryDirectory() as folder:
        first, second = (built(Path(folder) / name, commit, time) for name in ("first", "second"))
        if differing := sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name)):
            print(f"Two builds differ: {', '.join(differing)}.", file=sys.stderr)
            return 1
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(Path(folder) / "first" / "dist", output)
    subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *map(str, sorted(output.iterdir()))], check=True
    )
    lines = [f"{digest}  {name}\n" for name, digest in sorted(first.items())]
    (output / "SHA256SUMS").write_text("".join(lines))
    print("Built twice, equal both times:\n" + "".join(lines), end="")
    return 0


def last_commit() -> tuple[str, int]:
    """The last commit and its time, in seconds since 1970; later commits do not change a build that has begun."""
    shown = subprocess.run(
        ["git", "log", "-1", "--format=%H %ct"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    commit, time = shown.stdout.split()
    return commit, int(time)


def built(folder: Path, commit: str, time: int) -> dict[str, str]:
    """Build the files of a commit in a folder; the SHA-256 of each file by name."""
    source, dist = folder / "source", folder / "dist"
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as committed:
        committed.extractall(source, filter="data")
    environment = {
        **os.environ,
        "SOURCE_DATE_EPOCH": str(time),
        "PYTHONHASHSEED": "0",
        "CFLAGS": f"-g0 -ffile-prefix-map={source}=.",
    }
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(dist), str(source)],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    for path in dist.glob("*.tar.gz"):
        path.write_bytes(fixed_archive(path.read_bytes(), time))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in dist.iterdir()}


def fixed_archive(data: bytes, time: int) -> bytes:
    """A .tar.gz with its members sorted, and one time and no owner for all of them."""
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as given,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as fixed,
    ):
        for member in sorted(given.getmembers(), key=lambda one: one.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            fixed.addfile(member, given.extractfile(member) if member.isfile() else None)
    return gzip.compress(packed.getvalue(), mtime=time)


if __name__ == "__main__":
    sys.exit(main())
