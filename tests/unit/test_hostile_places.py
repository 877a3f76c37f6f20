"""Folders without permission, pipes and devices in place of files."""

import os

import pytest

from hostile import run, without_privileges
from manylabel.cli.settings import read_recipe
from manylabel.data import find_hierarchy, read
from manylabel.data.label_vocabulary import read_label_vocabulary
from manylabel.exceptions import ManylabelError, MissingDataError
from manylabel.features.keyword_rules import rules_text


@pytest.mark.parametrize("given", ["folder", "folder/a.csv", "folder/a"])
def test_a_folder_without_permission(given, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.csv").write_text("text,labels\nx,a\n")
    folder.chmod(0o000)
    try:
        answer = run("describe", tmp_path / given, folder=tmp_path, before=without_privileges)
    finally:
        folder.chmod(0o755)
    answer.refuse("folder", "Permission denied")


def test_a_file_without_permission(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,labels\nx,a\n")
    path.chmod(0o000)
    answer = run("describe", path, folder=tmp_path, before=without_privileges)
    answer.refuse("a.csv cannot be opened: Permission denied")


def test_a_closed_folder_of_data_sets(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o000)
    variables = {"MANYLABEL_DATA": str(folder), "MANYLABEL_HOME": str(tmp_path / "none")}
    try:
        answer = run("describe", "enron", folder=tmp_path, environment=variables, before=without_privileges)
    finally:
        folder.chmod(0o755)
    answer.refuse("data")


READERS = {
    "data": lambda path: read(path),
    "named format": lambda path: read(path, format="csv"),
    "hierarchy": lambda path: find_hierarchy(str(path), ["a"]),
    "thesaurus": lambda path: read_label_vocabulary(path),
    "rules": lambda path: rules_text(path),
    "recipe": lambda path: read_recipe(path),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "folder"])
def test_what_is_not_a_file_is_refused_at_once(kind, reader, tmp_path):
    path = tmp_path / "a.csv"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)
    with pytest.raises(ManylabelError, match=r"a\.csv"):
        READERS[reader](path)


def test_a_pipe_beside_the_data_is_left_alone(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,labels\nx,0\ny,1\n")
    for name in ("names.txt", "labels.txt", "groups.json", "b.ttl", "c.tsv"):
        os.mkfifo(tmp_path / name)
    assert len(read(path).corpus) == 2
    assert len(read(tmp_path).corpus) == 2


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(MissingDataError, match=r"There is no file or folder"):
        read(tmp_path / "none.csv")
