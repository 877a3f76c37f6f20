"""Shared fixtures: the research data, where it is at hand."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Examples are the same in every run, so that a change is judged by what it changed; MANYLABEL_EXPLORE=1 draws new ones.
explore = bool(os.environ.get("MANYLABEL_EXPLORE"))
settings.register_profile("manylabel", deadline=None, max_examples=60, derandomize=not explore)
settings.load_profile("manylabel")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of research data; a test that asks for it is skipped where there is none."""
    folder = os.environ.get("MANYLABEL_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("MANYLABEL_DATA names no folder of research data")
    return Path(folder)
