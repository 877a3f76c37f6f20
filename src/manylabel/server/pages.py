"""The workbench: its page, and the scripts, styles and libraries that the page loads. They hold nothing secret."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from manylabel.server.operations import HEADERS, ROUTE
from manylabel.web import FOLDER, MODULES

KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What browsers allow the page: scripts of the server alone, none inside the page, and requests to the server alone."""
_BARE = re.compile(rf"""\b(from|import)\s*"({"|".join(map(re.escape, MODULES))})";?""")


def _served_files() -> dict[str, Path]:
    """By address, the files that browsers may ask for."""
    found = [path for path in sorted(FOLDER.rglob("*")) if path.suffix in KINDS]
    return {f"/web/{path.relative_to(FOLDER).as_posix()}": path for path in found}


FILES = {"/": FOLDER / "workbench" / "index.html", **_served_files()}
PAGE_ADDRESSES = frozenset(FILES)
"""Addresses that need no token: the page asks for it."""


def content_of(path: Path) -> bytes:
    """A file; scripts import the modules of others by their addresses, since browsers do not know their names."""
    if path.suffix != ".js":
        return path.read_bytes()

    def by_address(found: re.Match[str]) -> str:
        return f'{found[1]} "/web/{MODULES[found[2]]}";'

    return _BARE.sub(by_address, path.read_text(encoding="utf-8")).encode()


class PageFile:
    """An endpoint that serves one file from memory; browsers ask each time whether it changed."""

    def __init__(self, path: Path) -> None:
        self.body = content_of(path)
        self.headers = {
            "Content-Type": f"{KINDS[path.suffix]}; charset=utf-8",
            "Content-Security-Policy": POLICY,
            "Cache-Control": "no-cache",
            "ETag": f'"{hashlib.sha256(self.body).hexdigest()[:32]}"',
        }

    async def __call__(self, request: Request) -> Response:
        """The file, or that it has not changed."""
        request.scope[ROUTE] = "page"
        if request.scope[HEADERS].get(b"if-none-match") == self.headers["ETag"].encode():
            return Response(status_code=304, headers=self.headers)
        return Response(self.body, headers=self.headers)


def page_routes() -> list[Route]:
    """The routes of all files of the workbench."""
    return [Route(address, PageFile(path).__call__, methods=["GET"]) for address, path in FILES.items()]
