"""The files of web pages: components and styles of our own, and the libraries of others in ``vendor``."""

from pathlib import Path

FOLDER = Path(__file__).parent
"""Where the files are."""
