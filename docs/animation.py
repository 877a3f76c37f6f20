"""Join pictures of the workbench into one that moves, docs/images/workbench.svg: the last step of `make screenshots`.

An SVG needs nothing to be made or shown: each picture is a frame with a caption, shown in turn by a style. Readers who
want less motion see the first frame alone.
"""

from __future__ import annotations

import base64
import struct
from html import escape
from pathlib import Path

IMAGES = Path(__file__).resolve().parent / "images"
FRAMES = {
    "data": "Data: what was read, and what to do next",
    "compare": "Compare: which method is best, with intervals and tests",
    "labels": "Labels: move a threshold and see which documents enter or leave",
    "try": "Try: labels of a text, with the words that spoke for them",
    "review": "Review: decide by keyboard, with the evidence in the text",
    "errors": "Errors: every number opens its documents",
}
"""By view, the words below its picture."""
SECONDS = 3
CAPTION = 44
"""Height of the caption, in pixels."""


def size_of(picture: bytes) -> tuple[int, int]:
    """Width and height of a JPEG file.

    >>> size_of(bytes.fromhex("ffd8ffe00004aaaaffc00011080384 05a0"))
    (1440, 900)
    """
    place = 2
    while place + 9 <= len(picture):
        marker, length = struct.unpack(">HH", picture[place : place + 4])
        if 0xFFC0 <= marker <= 0xFFC2:
            height, width = struct.unpack(">HH", picture[place + 5 : place + 9])
            return width, height
        place += 2 + length
    raise ValueError("The file is not a JPEG picture.")


def animation(frames: dict[str, bytes]) -> str:
    """The SVG of some pictures of one size, by caption, each shown for some seconds."""
    width, height = size_of(next(iter(frames.values())))
    whole, share = SECONDS * len(frames), 100 / len(frames)
    parts = [
        f'<g class="frame" style="animation-delay: {SECONDS * place}s"><image width="{width}" height="{height}" '
        f'href="data:image/jpeg;base64,{base64.b64encode(picture).decode()}"/>'
        f'<text x="{width // 2}" y="{height + 30}">{escape(caption)}</text></g>'
        for place, (caption, picture) in enumerate(frames.items())
    ]
    style = (
        f"text {{ font: 24px system-ui, sans-serif; text-anchor: middle; fill: #55636f; }} "
        f".frame {{ visibility: hidden; animation: show {whole}s step-end infinite; }} "
        f"@keyframes show {{ 0% {{ visibility: visible; }} {share:.4f}% {{ visibility: hidden; }} }} "
        "@media (prefers-reduced-motion: reduce) { .frame { animation: none; } "
        ".frame:first-of-type { visibility: visible; } }"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + CAPTION}" role="img" '
        f'aria-label="The views of the workbench">\n<style>{style}</style>\n' + "\n".join(parts) + "\n</svg>\n"
    )


if __name__ == "__main__":
    pictures = {caption: (IMAGES / f"workbench-{view}.jpg").read_bytes() for view, caption in FRAMES.items()}
    (IMAGES / "workbench.svg").write_text(animation(pictures), encoding="utf-8")
