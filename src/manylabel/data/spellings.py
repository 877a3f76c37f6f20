"""Labels that differ only in case, in blanks or in the Unicode form of their characters, and how to merge them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from manylabel.data.corpus import Corpus
from manylabel.data.labels import LabelSets

_BLANKS_AROUND_SIGNS = re.compile(r"\s*([/&,-])\s*")


def plain_spelling(label: str) -> str:
    """The label without the differences that are no difference in meaning: case, blanks, composed characters.

    >>> plain_spelling(" Cafe\\u0301  Bar"), plain_spelling("CAFÉ BAR")
    ('café bar', 'café bar')
    >>> plain_spelling("Research & Development, X - Y"), plain_spelling("Research&Development,X-Y")
    ('research&development,x-y', 'research&development,x-y')

    Case matters in addresses: ``http://x.org/A`` is not ``http://x.org/a``.
    """
    if "://" in label:
        return label.strip()
    folded = unicodedata.normalize("NFC", label).casefold()
    plain = " ".join(unicodedata.normalize("NFC", folded).split())
    return _BLANKS_AROUND_SIGNS.sub(r"\1", plain)


def label_spellings(label_sets: LabelSets, preferred: Sequence[str] = ()) -> list[dict[str, int]]:
    """The labels with several spellings: for each, the documents of every spelling, the most frequent one first.

    A label that is spelled otherwise in `preferred` (the labels of a model) counts too.

    >>> label_spellings([["VPN"], ["vpn", "mail"], ["VPN"]])
    [{'VPN': 2, 'vpn': 1}]
    >>> label_spellings([["VPN"], ["mail"]], ["vpn", "mail"])
    [{'VPN': 1, 'vpn': 0}]
    """
    counts = Counter(name for names in label_sets for name in names)
    known = dict.fromkeys(preferred, 0)
    groups: dict[str, dict[str, int]] = {}
    for name in sorted({**known, **counts}, key=lambda name: (-counts[name], not _is_tidy(name), name)):
        groups.setdefault(plain_spelling(name), {})[name] = counts[name]
    return [
        spellings
        for _, spellings in sorted(groups.items())
        if len(spellings) > 1 and (sum(n > 0 for n in spellings.values()) > 1 or not known.keys() >= spellings.keys())
    ]


def merge_spellings(label_sets: LabelSets, preferred: Sequence[str] = ()) -> list[list[str]]:
    """The label sets with one spelling per label: the one in `preferred`, otherwise the most frequent one.

    >>> merge_spellings([["VPN"], ["vpn", "mail"], ["VPN", "vpn"]])
    [['VPN'], ['VPN', 'mail'], ['VPN']]
    """
    chosen = _chosen(label_sets, preferred)
    return [sorted({chosen.get(name, name) for name in names}) for names in label_sets]


def merge_corpus_spellings(corpus: Corpus, preferred: Sequence[str] = ()) -> Corpus:
    """The corpus with one spelling per label; see `merge_spellings`."""
    chosen = _chosen(corpus.label_sets, preferred)
    names = list(dict.fromkeys(chosen.get(name, name) for name in corpus.label_names))
    return replace(corpus, labels=merge_spellings(corpus.label_sets, preferred), label_names=names)


def _chosen(label_sets: LabelSets, preferred: Sequence[str]) -> dict[str, str]:
    """The spelling to use for each other one."""
    known = set(preferred)
    chosen: dict[str, str] = {}
    for spellings in label_spellings(label_sets):
        first = next(iter(spellings))
        chosen |= {name: first for name in spellings if name != first}
    by_spelling = {plain_spelling(name): name for name in preferred}
    for name in {name for names in label_sets for name in names} - known:
        if plain_spelling(name) in by_spelling:
            chosen[name] = by_spelling[plain_spelling(name)]
    return {name: target for name, target in chosen.items() if name not in known}


def _is_tidy(name: str) -> bool:
    """Whether a label has composed characters and no needless blanks; of equally frequent spellings it is preferred."""
    return unicodedata.is_normalized("NFC", name) and name == " ".join(name.split())


def spellings_text(groups: Iterable[Mapping[str, int]], most: int = 5) -> str:
    r"""The spellings with their documents, for a sentence.

    >>> spellings_text([{"VPN": 2, "vpn": 1}, {"Café": 2, "Cafe\u0301": 1}])
    "'VPN' (2) and 'vpn' (1); 'Café' (2) and 'Cafe\\u0301' (1)"
    """
    shown = [" and ".join(f"{_visible(name)} ({count:,})" for name, count in spellings.items()) for spellings in groups]
    return "; ".join(shown[:most]) + (f"; and {len(shown) - most:,} more" if len(shown) > most else "")


def _visible(name: str) -> str:
    """The label in quotation marks, with escapes where it would look like another one."""
    return repr(name) if unicodedata.is_normalized("NFC", name) else ascii(name)
