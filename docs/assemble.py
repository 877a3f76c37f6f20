"""Assemble the source of the site: the pages of this folder, the generated ones, and the files that pages link to.

python -m docs.assemble build/docs site     then: mkdocs build --strict --config-file build/docs/mkdocs.yml

Nothing here needs MkDocs, and MkDocs runs no code of ours: any program that reads its settings can build the site.
"""

import json
import os
import posixpath
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from docs.generate import api, commands, methods, recipes, reference, rest

DOCS = Path(__file__).parent
ROOT = DOCS.parent
REPOSITORY = "repository/"
"""The folder of the site with files from outside docs that pages link to."""
LINK = re.compile(r"\]\(([^)#\s]+)?(#[^)\s]*)?\)")
"""A link to a page, to an anchor on it, or to an anchor on the same page."""
LANGUAGES = {".py": "python", ".toml": "toml", ".service": "ini", ".cff": "yaml"}


def ordered(folder: str, names: str) -> list[str]:
    """Pages of a folder in an order, then the others of the folder."""
    return [*(f"{folder}/{name}.md" for name in names.split()), f"{folder}/"]


NAV: list[Any] = [
    {
        "Start": [
            "index.md",
            *ordered("start", "what-it-is installing browser command-line python"),
            {"Examples": ["repository/examples/README.md", "repository/examples/"]},
        ]
    },
    {
        "Tutorials": ordered(
            "tutorials", "tickets news-topics library-subjects few-documents noisy-labels many-documents"
        )
    },
    {
        "Guides": [
            {
                "By question": ordered(
                    "guides",
                    "which-method scores choosing-a-metric rare-labels small-data label-descriptions language-models "
                    "many-labels time-and-memory languages encoders own-features reading-and-writing deploying "
                    "data-engines monitoring updating privacy",
                )
            },
            {
                "Data": ["texts.md", "formats.md", "splits.md", "limits.md"],
                "Training": ["comparing-methods.md", "tuning.md", "feature-selection.md", "decision-rules.md"],
                "Looking at results": [
                    "workbench.md",
                    "evaluation-report.md",
                    "explanations.md",
                    "label-report.md",
                    "analyses.md",
                    "audit.md",
                    "suggest.md",
                    "guarantees.md",
                ],
                "Using models": ["serving.md", "deploying.md", "exporting.md", "memory.md", "scale.md", "security.md"],
            },
        ]
    },
    {"Methods": ["methods.md", {"Families": ["methods/"], "Each method": ["catalogue/"]}]},
    {
        "Reference": [
            "reference/index.md",
            {
                "Python": ["reference/api/"],
                "Command line": ["reference/commands/"],
                "REST API": ["reference/rest/"],
            },
            "reference/recipes.md",
            "model-files.md",
            "reference/",
        ]
    },
    {
        "Background": [
            "glossary.md",
            {
                "Metrics": ["metrics.md", "ranking.md"],
                "Evidence": ["papers.md", "published.md", "reproduction.md", "speed.md", "defaults.md", "views.md"],
                "The project": [
                    "architecture.md",
                    "repository/CHANGELOG.md",
                    "repository/CONTRIBUTING.md",
                    "licences.md",
                    {"Decisions": ["decisions/README.md", "decisions/"]},
                ],
            },
        ]
    },
    {
        "Coming from": [
            *ordered(
                "coming-from", "scikit-learn scikit-multilearn meka-mulan libmultilabel annif fasttext label-studio"
            ),
            "scikit-learn.md",
        ]
    },
]
"""The pages in the order of the navigation; a name that ends in / is all pages of the folder that are not listed."""
BROUGHT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")
"""Pages outside docs that the navigation lists."""


def pages() -> dict[str, str]:
    """All pages of the site in Markdown, by path; every link between them is relative and leads to one of them."""
    texts = {f"docs/{path.relative_to(DOCS).as_posix()}": read(path) for path in sorted(DOCS.rglob("*.md"))}
    for module in (methods, api, commands, recipes, rest, reference):
        texts.update({f"docs/{name}": text for name, text in module.pages().items()})
    waiting = [*texts, *BROUGHT]
    found: dict[str, str] = {}
    while waiting:
        path = waiting.pop(0)
        if (name := site_path(path)) not in found:
            found[name], leads = relinked(path, texts.get(path) or brought(ROOT / path))
            waiting += [one for one in leads if not one.startswith("docs/")]
    return found


def site_path(path: str) -> str:
    """Where the site has a file of the repository, given by its path there."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    page = f"{path}/README.md" if (ROOT / path).is_dir() else path if path.endswith(".md") else f"{path}.md"
    return REPOSITORY + page


def relinked(path: str, text: str) -> tuple[str, list[str]]:
    """The text of a file of the repository with its links as the site needs them, and the files that it links to."""
    leads: list[str] = []
    here = posixpath.dirname(path)

    def link(match: re.Match[str]) -> str:
        if match[1] is None or re.match(r"[a-z]+:", match[1]):
            return match[0]
        leads.append(posixpath.normpath(posixpath.join(here, match[1])))
        target = posixpath.relpath(site_path(leads[-1]), posixpath.dirname(site_path(path)))
        return f"]({target}{match[2] or ''})"

    return LINK.sub(link, text), leads


def brought(path: Path) -> str:
    """A file from outside docs as a page; a folder is one page with all its files."""
    if path.suffix == ".md":
        return read(path)
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    title = f"# `{path.relative_to(ROOT).as_posix()}`\n"
    return title + "".join(
        (f"\n## `{file.name}`\n" if path.is_dir() else "")
        + f"\n````{LANGUAGES.get(file.suffix, 'text')}\n{read(file)}````\n"
        for file in files
    )


def navigation(found: Mapping[str, str]) -> list[Any]:
    """The navigation with its folders as lists of their pages, and without what is empty."""
    left = dict.fromkeys(found)
    for name in _named(NAV):
        left.pop(name, None)

    def filled(part: str | dict[str, list[Any]]) -> list[Any]:
        if isinstance(part, dict):
            inside = {title: [one for entry in parts for one in filled(entry)] for title, parts in part.items()}
            return [{title: entries} for title, entries in inside.items() if entries]
        return in_order(part, left, found) if part.endswith("/") else [part]

    return [one for part in NAV for one in filled(part)]


def _named(parts: Iterable[str | dict[str, list[Any]]]) -> Iterator[str]:
    """The pages and folders that parts of the navigation name."""
    for part in parts:
        if isinstance(part, dict):
            yield from (name for inside in part.values() for name in _named(inside))
        else:
            yield part


def in_order(folder: str, names: Iterable[str], found: Mapping[str, str]) -> list[str]:
    """The pages of a folder: its index, then those that it links to in the order of the links, then the others."""
    own = [name for name in names if posixpath.dirname(name) + "/" == folder]
    index = next((folder + name for name in ("index.md", "README.md") if folder + name in found), "")
    linked = [folder + match[1] for match in LINK.finditer(found.get(index, "")) if match[1]]
    order = [index, *linked, *own]
    return sorted(own, key=order.index)


def write(folder: Path, site: Path) -> None:
    """Write the source of the site and its settings, in place of what the folder held; MkDocs builds it in `site`."""
    shutil.rmtree(folder, ignore_errors=True)
    source = folder / "pages"
    found = pages()
    for name, text in found.items():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    shutil.copytree(DOCS / "images", source / "images")
    for name in ("site.css", "iframe-worker.js"):
        shutil.copy(DOCS / name, source)
    (source / "reference" / "openapi.json").write_text(json.dumps(rest.document(), indent=1) + "\n", encoding="utf-8")
    made = json.dumps(settings(folder, site, found), indent=1) + "\n"
    (folder / "mkdocs.yml").write_text(made, encoding="utf-8")  # JSON is YAML


def settings(folder: Path, site: Path, found: Mapping[str, str]) -> dict[str, Any]:
    """The settings of MkDocs for the pages in the folder; paths are relative to it."""
    return {
        "INHERIT": os.path.relpath(ROOT / "mkdocs.yml", folder),
        "docs_dir": "pages",
        "site_dir": os.path.relpath(site, folder),
        "nav": navigation(found),
        "not_in_nav": f"/{REPOSITORY}",
    }


def read(path: Path) -> str:
    """The text of a file."""
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
