"""A file written atomically is whole or not there."""

import gzip
import os

import pytest

from manylabel.data.atomic import atomic_text, atomic_write
from manylabel.exceptions import MissingDataError


def fail_half_way(writing):
    with writing as stream:
        stream.write("half")
        stream.flush()
        raise RuntimeError


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        fail_half_way(atomic_write(path, "w"))
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_nothing_is_seen_before_the_end(tmp_path):
    path = tmp_path / "a.bin"
    with atomic_write(path) as stream:
        stream.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"


def test_rights_follow_the_umask_or_the_old_file(tmp_path):
    path = tmp_path / "a.bin"
    before = os.umask(0o027)
    try:
        with atomic_write(path) as stream:
            stream.write(b"1")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o600)
    with atomic_write(path) as stream:
        stream.write(b"2")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "real.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    with atomic_write(link, "w") as stream:
        stream.write("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_packed_bytes_depend_on_the_content_alone(tmp_path):
    for name in ("a.txt.gz", "b.txt.gz"):
        with atomic_text(tmp_path / name) as stream:
            stream.write("né\n" * 100)
    assert (tmp_path / "a.txt.gz").read_bytes() == (tmp_path / "b.txt.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.txt.gz").read_bytes()).decode() == "né\n" * 100


def test_a_failure_while_packing_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError):
        fail_half_way(atomic_text(tmp_path / "a.txt.gz"))
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there(tmp_path):
    with (
        pytest.raises(MissingDataError, match=r"does not exist. Make it first"),
        atomic_write(tmp_path / "no" / "a"),
    ):
        pass
