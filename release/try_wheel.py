"""Try the files in dist as a new user would: an empty environment, ``manylabel demo``, ``manylabel serve --demo``.

Three environments: the wheel; the source archive on a machine without a compiler; and the wheel with the server. None
of them sees this repository.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from pathlib import Path

DIST = Path(__file__).resolve().parent.parent / "dist"
PORT = 8765


def main() -> int:
    """Try the three environments; 1 if one of them fails."""
    wheel, source = next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        plain = environment(place / "wheel", [f"{wheel}[server]"])
        command(plain, "--version", place)
        command(plain, "demo", place)
        serve(plain, place)
        bare = environment(place / "source", [str(source)], {"CC": "/nonexistent/cc", "CXX": "/nonexistent/c++"})
        if "plain" not in command(bare, "--version", place):
            print("The source archive was built with a compiler: this tries nothing.", file=sys.stderr)
            return 1
        command(bare, "demo", place)
    print("The wheel, the server, and the source archive without a compiler work.")
    return 0


def environment(folder: Path, packages: list[str], variables: dict[str, str] | None = None) -> Path:
    """A new environment with the packages installed; the folder of its commands."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    install = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    subprocess.run(install, check=True, cwd=folder, env={**clean(), **(variables or {})})
    return programs


def clean() -> dict[str, str]:
    """The variables of this process without those that would lead Python to this repository."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def command(programs: Path, arguments: str, folder: Path) -> str:
    """What a command of manylabel prints, in a folder outside the repository."""
    done = subprocess.run(
        [str(programs / "manylabel"), *arguments.split()],
        check=True,
        capture_output=True,
        text=True,
        cwd=folder,
        env=clean(),
    )
    print(f"$ manylabel {arguments}\n{done.stdout[-600:]}")
    return done.stdout


def serve(programs: Path, folder: Path) -> None:
    """Start the server on the demo and fetch its page and a prediction."""
    process = subprocess.Popen(
        [str(programs / "manylabel"), "serve", "--demo", "--port", str(PORT)], cwd=folder, env=clean()
    )
    try:
        page = fetched(f"http://127.0.0.1:{PORT}/", 120)
        if "<title>" not in page:
            raise SystemExit(f"The page of the server has no title: {page[:200]}")
        print(f"$ manylabel serve --demo\nThe page is there: {len(page):,} characters.")
    finally:
        process.terminate()
        process.wait(30)


def fetched(address: str, seconds: float) -> str:
    """The text at an address, tried until it answers."""
    until = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=10) as response:
                return str(response.read().decode())
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main())
