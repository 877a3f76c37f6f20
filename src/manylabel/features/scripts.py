"""Writing systems and markup: how texts are split into tokens where words are not set apart, and HTML removed."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from manylabel.progress import remark
from manylabel.wording import settings_text

Item = TypeVar("Item")

SPACELESS = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003134f"  # noqa: E501
"""Characters of scripts without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, Japanese, Chinese."""
MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0955-\u0957\u0962\u0963\u0980-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d81-\u0d83\u0dca-\u0ddf\u200c\u200d"  # noqa: E501
"""Vowel signs and other marks inside words, which are not word characters of regular expressions."""

_CHARACTER, _LETTER = f"[{SPACELESS}]", f"(?:(?![{SPACELESS}])[\\w{MARKS}])"
PAIRS = f"(?=({_CHARACTER}{{2}}|(?<![\\w{MARKS}]){_LETTER}{{2,}}|(?<={_CHARACTER}){_LETTER}{{2,}}))"
"""Tokens of mixed texts: every pair of neighbouring characters in scripts without spaces, whole words elsewhere."""
MARKED_WORDS = f"[\\w{MARKS}]{{2,}}"
"""Words of scripts that write vowels as marks: Hindi, Nepali, Tamil and their relatives."""

PATTERNS = {"pairs": PAIRS, "marked": MARKED_WORDS}
"""The regular expressions behind two named values of the setting `tokens`."""

SOME_MARKUP = 0.02
"""The share of documents with HTML from which it is mentioned."""
MIN_SPACELESS, MIN_MARKS = 0.05, 0.05
"""The least share of characters at which a script changes how texts are split."""
MAX_TEXTS, MAX_CHARACTERS = 1000, 400
"""The number of texts looked at, evenly spread, and the number of characters of each."""

_TAG = re.compile(
    r"</?(?:a|b|i|u|p|br|hr|h[1-6]|em|strong|small|sub|sup|div|span|ul|ol|li|dl|dt|dd|table|tr|td|th|tbody|thead|img|"
    r"font|html|body|head|meta|link|script|style|title|pre|code|blockquote|form|input|iframe|center|section|article)"
    r"(?:\s[^<>]*+|/)?>",
    re.IGNORECASE,
)
_BEGINNING = re.compile(r"<!--|<(script|style)\b", re.IGNORECASE)
_ENDS = {
    "": re.compile("-->"),
    "script": re.compile(r"</script\s*+>", re.IGNORECASE),
    "style": re.compile(r"</style\s*+>", re.IGNORECASE),
}
"""What ends a comment, a script and a style."""
ANY_TAG = re.compile(r"<[a-zA-Z/!?][^<>]*+>")
_BLOCK = re.compile(
    r"</?(?:p|h[1-6]|div|ul|ol|dl|table|pre|blockquote|form|center|section|article|title|body)(?:\s[^<>]*+|/)?>",
    re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"<(?:br|hr|li|dt|dd|tr)(?:\s[^<>]*+|/)?>", re.IGNORECASE)
_BLANKS, _EMPTY_LINES = re.compile(r"[^\S\n]+"), re.compile(r"\n{3,}")
CHARACTER_REFERENCE = re.compile(r"&(#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")
"""What `html.unescape` replaces."""
_HUGE_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{9,}+;?")
"""A reference to a character that does not exist, whose number may be too long to be read."""


def guess_tokens(texts: Sequence[str]) -> str:
    """The setting `tokens` for texts: "words", or "pairs" or "marked" where words are not simply runs of letters.

    >>> guess_tokens(["the bus was late"]), guess_tokens(["公交车又晚点了"]), guess_tokens(["बस फिर से देर से आई"])
    ('words', 'pairs', 'marked')
    >>> re.findall(PAIRS, "公交车 bus又晚点")
    ['公交', '交车', 'bus', '又晚', '晚点']
    """
    sample = "".join(text[:MAX_CHARACTERS] for text in spread(texts))
    if sample.isascii():
        return "words"
    n_characters = max(len(re.findall(rf"[\w{MARKS}]", sample)), 1)
    if len(re.findall(_CHARACTER, sample)) >= MIN_SPACELESS * n_characters:
        return "pairs"
    return "marked" if len(re.findall(f"[{MARKS}]", sample)) >= MIN_MARKS * n_characters else "words"


def has_markup(texts: Sequence[str], n_fields: int = 1) -> bool:
    """Whether more than half of the documents contain HTML; each has `n_fields` texts that follow one another.

    >>> has_markup(["<p>late bus</p>", "a<br/>b", "if x < y"]), has_markup(["<b>", "1 < 2", "a > b"])
    (True, False)
    """
    return markup_share(texts, n_fields) > 0.5


def markup_share(texts: Sequence[str], n_fields: int = 1) -> float:
    """The share of documents that contain HTML, of a sample of them; 0 without documents.

    >>> markup_share(["<p>late bus</p>", "if x < y"])
    0.5
    """
    documents = [texts[start : start + n_fields] for start in range(0, len(texts), n_fields)]
    tagged = [any(_TAG.search(text) for text in document) for document in spread(documents)]
    return sum(tagged) / max(len(tagged), 1)


def kept_markup(texts: Sequence[str], n_fields: int = 1) -> str | None:
    """A sentence on documents with HTML that is not removed, because fewer than half contain some; None without any."""
    share = markup_share(texts, n_fields)
    if not SOME_MARKUP <= share <= 0.5:
        return None
    return f"{100 * share:.0f} % of the documents contain HTML: tags are kept, and counted as words."


def report_kept_markup(texts: Sequence[str], n_fields: int = 1) -> None:
    """Report the same, with the setting that removes it."""
    if (kept := kept_markup(texts, n_fields)) is not None:
        remark(f"{kept} To remove them, use {settings_text(**{'features.markup': 'strip'})}.")


def without_markup(text: str) -> str:
    """The text without HTML tags, comments, scripts and styles, its character references resolved.

    >>> without_markup("<p class='x'>Late&nbsp;bus &amp; tram<br>again</p><!-- no -->").split()
    ['Late', 'bus', '&', 'tram', 'again']
    """
    if "<" not in text and "&" not in text:
        return text
    return unescaped(ANY_TAG.sub(" ", _without_hidden(text)))


def readable_text(text: str) -> str:
    """The text as `without_markup` returns it, for people: with line breaks where a browser shows them.

    >>> readable_text("<h1>Late bus</h1><p>Line&nbsp;15<br>was   <b>late</b></p>")
    'Late bus\\n\\nLine 15\\nwas late'
    """
    if "<" not in text and "&" not in text:
        return text
    broken = _LINE_BREAK.sub("\n", _BLOCK.sub("\n\n", _without_hidden(text)))
    plain = _BLANKS.sub(" ", unescaped(ANY_TAG.sub(" ", broken)))
    return _EMPTY_LINES.sub("\n\n", plain.replace(" \n", "\n").replace("\n ", "\n")).strip()


def _without_hidden(text: str) -> str:
    """The text without comments, scripts and styles."""
    kept: list[str] = []
    done = 0
    for start, end in hidden_spans(text):
        kept.append(text[done:start])
        done = end
    return " ".join([*kept, text[done:]])


def unescaped(text: str) -> str:
    """The text with its character references resolved."""
    return html.unescape(_HUGE_REFERENCE.sub("\ufffd", text))


def hidden_spans(text: str) -> Iterator[tuple[int, int]]:
    """The places of comments, scripts and styles, found in one pass; one without an end is not hidden.

    >>> list(hidden_spans("a<!-- b -->c<SCRIPT x>d</script >e<!-- f"))
    [(1, 11), (12, 33)]
    """
    endless: set[str] = set()
    at = 0
    while (match := _BEGINNING.search(text, at)) is not None:
        kind = (match[1] or "").lower()
        end = None if kind in endless else _ENDS[kind].search(text, match.end())
        at = match.end() if end is None else end.end()
        if end is None:
            endless.add(kind)  # where one has no end, no later one has
        else:
            yield match.start(), at


def spread(items: Sequence[Item]) -> Sequence[Item]:
    """Up to `MAX_TEXTS` of the items, evenly spread."""
    return items[:: -(-len(items) // MAX_TEXTS) or 1]
