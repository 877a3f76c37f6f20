"""The files of web pages: components and styles of our own, and the libraries of others in ``vendor``."""

from pathlib import Path

FOLDER = Path(__file__).parent
"""Where the files are."""
MODULES = {
    "lit": "vendor/lit-element.js",
    "lit-html": "vendor/lit-html.js",
    "@lit/reactive-element": "vendor/reactive-element.js",
    "css-tag": "vendor/css-tag.js",
}
"""The names by which scripts import the modules of others."""
