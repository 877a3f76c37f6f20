"""The vendored libraries of pages are those that npm publishes."""

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

from manylabel.web import FOLDER

VENDOR = FOLDER / "vendor"
PACKAGES: list[dict[str, Any]] = tomllib.loads((VENDOR / "vendor.toml").read_text())["package"]


def test_every_vendored_file_is_declared() -> None:
    declared = {name for package in PACKAGES for name in package["files"]}
    assert {path.name for path in VENDOR.iterdir()} == declared | {"vendor.toml"}
    assert all(package["licence"] in ("ISC", "BSD-3-Clause", "MIT") for package in PACKAGES)


@pytest.mark.parametrize("package", PACKAGES, ids=[package["name"] for package in PACKAGES])
def test_vendored_files_are_the_published_ones(package: dict[str, Any], tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    wanted = f"{package['name']}@{package['version']}"
    packed = subprocess.run(
        ["npm", "pack", "--silent", wanted], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    if packed.returncode:
        pytest.skip(f"npm cannot fetch {wanted}")
    archive = next(tmp_path.glob("*.tgz"))
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    assert f"sha512-{digest}" == package["integrity"]
    with tarfile.open(archive) as opened:
        for name, path in package["files"].items():
            member = opened.extractfile(f"package/{path}")
            assert member is not None
            assert member.read() == (VENDOR / name).read_bytes()
