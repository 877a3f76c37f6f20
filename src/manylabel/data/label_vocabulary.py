"""Vocabularies of labels: the address (URI) of each concept and its names by language, from SKOS, TSV or CSV.

Subject indexers keep documents with addresses in one file and with names in another. A vocabulary maps between the two,
so that models are trained on, and answer with, names, whatever the data hold.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from manylabel.data.problems import Problems
from manylabel.data.textfile import Lines
from manylabel.exceptions import DataError
from manylabel.stored import Each, Fields, Mapped, Stored, Word
from manylabel.wording import is_worded_for

if TYPE_CHECKING:
    from manylabel.data.corpus import Corpus

SKOS_ENDINGS = (".ttl", ".nt", ".rdf", ".skos", ".owl")
"""The endings of thesauri that are looked for beside the data, in this order; ``.xml`` is too common for that."""
STORED_VOCABULARY: Stored = Fields(
    {
        "names": Mapped(Each(Each(Word(empty=True), None), 2)),
        "language": Word(empty=True),
        "source": Word(empty=True),
    }
)
"""A vocabulary as a model stores it, see `LabelVocabulary.as_dict`."""


def language_name() -> str:
    """The setting that chooses the language of labels: a parameter in Python, a field of requests."""
    return "--label-language" if is_worded_for("command line") else "language"


def as_vocabulary(file: Path) -> str:
    """The second half of an advice to give documents as data: how to give this file, where an option takes it."""
    return f" and this file with --vocabulary {shlex.quote(str(file))}" if is_worded_for("command line") else ""


@dataclass(frozen=True, slots=True)
class LabelVocabulary:
    """Concepts by address, with their names.

    >>> words = LabelVocabulary({"en": {"http://x/1": "cat"}, "de": {"http://x/1": "Katze"}}, "de")
    >>> words.address_of("cat"), words.address_of("http://x/1"), words.address_of("dog")
    ('http://x/1', 'http://x/1', None)
    >>> words.display_names(), words.display_names("en")
    ({'http://x/1': 'Katze'}, {'http://x/1': 'cat'})
    """

    names: Mapping[str, Mapping[str, str]]
    """By language (empty where none is given), the name of each address."""
    language: str = ""
    """The language in which labels are named."""
    source: str = ""

    @property
    def addresses(self) -> set[str]:
        """The addresses of all concepts with a name."""
        return {address for names in self.names.values() for address in names}

    @property
    def languages(self) -> list[str]:
        """The languages there are, sorted; without the names whose language is not given."""
        return sorted(filter(None, self.names))

    def _in_order(self, language: str) -> list[str]:
        """All languages, the wanted one first, then English and the names without a language."""
        first = [one for one in (language, "en", "") if one in self.names]
        return list(dict.fromkeys([*first, *sorted(self.names)]))

    def display_names(self, language: str | None = None) -> dict[str, str]:
        """The name of each address, each another: in the language where there is one, else in another one.

        Names that concepts share are told apart by the ends of the addresses, see `distinct_names`.
        """
        order = self._in_order(self.language if language is None else language)
        return distinct_names({address: name for one in reversed(order) for address, name in self.names[one].items()})

    def with_own_names(self, shown: Mapping[str, str]) -> LabelVocabulary:
        """The vocabulary with these names of addresses, each in the place of the name that is shown of it."""
        order = self._in_order(self.language)
        names = {language: dict(of) for language, of in self.names.items()}
        for address, name in shown.items():
            names[next(one for one in order if address in names[one])][address] = name
        return replace(self, names=names)

    def addresses_by_name(self) -> dict[str, str]:
        """The address of each name in any language, and of each address itself."""
        found = {address: address for address in self.addresses}
        for address, name in self.display_names().items():
            found.setdefault(name, address)
        for language in self._in_order(self.language):
            shared = Counter(self.names[language].values())
            for address, name in self.names[language].items():
                if shared[name] == 1:
                    found.setdefault(name, address)
        return found

    def address_of(self, label: str) -> str | None:
        """The address of a label, which is an address or a name in any language; None for an unknown label."""
        return self.addresses_by_name().get(bare_address(label))

    def checked_language(self, language: str) -> str:
        """The language as the vocabulary spells it; `DataError` where it has no names in it."""
        if (found := language.lower()) in self.names:
            return found
        if not self.languages:
            raise DataError(
                f"The names in the vocabulary have no language, so that {language!r} cannot be chosen.",
                path=self.source or None,
                remedy=f"Leave the language out ({language_name()}).",
            )
        raise DataError(
            f"The vocabulary has no names in the language {language!r}. Found: {', '.join(self.languages)}.",
            path=self.source or None,
            remedy=f"Choose one of them ({language_name()}).",
        )

    def joined(self, other: LabelVocabulary | None) -> LabelVocabulary:
        """The vocabulary and the names that only another one has."""
        if other is None:
            return self
        languages = dict.fromkeys([*self.names, *other.names])
        names = {one: {**other.names.get(one, {}), **self.names.get(one, {})} for one in languages}
        return replace(self, names=names)

    def restricted(self, addresses: Iterable[str]) -> LabelVocabulary:
        """The vocabulary of these addresses alone."""
        kept = set(addresses)
        names = {
            language: {address: name for address, name in all_names.items() if address in kept}
            for language, all_names in self.names.items()
        }
        return replace(self, names={language: found for language, found in names.items() if found})

    def as_dict(self) -> dict[str, Any]:
        """The vocabulary as plain data, for a model file: per language, a list of addresses and one of names.

        Of its file only the name: the folder is nothing that whoever gets a model should know.
        """
        pairs = {language: [list(names), list(names.values())] for language, names in self.names.items()}
        return {"language": self.language, "source": Path(self.source).name, "names": pairs}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> LabelVocabulary:
        """The vocabulary that `as_dict` gave."""
        names = {language: dict(zip(*pair, strict=True)) for language, pair in plain["names"].items()}
        return cls(names, plain["language"], plain["source"])


def distinct_names(names: Mapping[str, str]) -> dict[str, str]:
    """The name of each address; what stands behind the last ``/``, ``#`` or ``:`` of it is added where names are equal.

    Where that is equal, too, the whole address is added. A name to which it was added before keeps it.

    >>> distinct_names({"http://x/p1": "cats", "http://x/p6": "Mercury", "http://x/p7": "Mercury"})
    {'http://x/p1': 'cats', 'http://x/p6': 'Mercury (p6)', 'http://x/p7': 'Mercury (p7)'}
    """
    plain = {address: plain_name(name, address) for address, name in names.items()}
    times = Counter(plain.values())
    shared = {address: f"{name} ({_address_end(address)})" for address, name in plain.items() if times[name] > 1}
    used = Counter({**names, **shared}.values())
    return {
        address: name if address not in shared or used[name] == 1 else f"{plain[address]} ({address})"
        for address, name in {**names, **shared}.items()
    }


def plain_name(name: str, address: str) -> str:
    """A name of an address without what `distinct_names` added to it.

    >>> plain_name("Mercury (p6)", "http://x/p6"), plain_name("Mercury (metal)", "http://x/p6")
    ('Mercury', 'Mercury (metal)')
    """
    return name.removesuffix(f" ({address})").removesuffix(f" ({_address_end(address)})")


def _address_end(address: str) -> str:
    return re.split("[/#:]", address.rstrip("/#:"))[-1]


def is_address(label: str) -> bool:
    """Whether a label is an address itself, such as ``http://x.org/1``."""
    return "://" in label and len(label.split()) == 1


def made_address(label: str) -> str:
    """An address (URN) made of the name of a label that has none.

    >>> made_address("night buses")
    'urn:manylabel:night%20buses'
    """
    return "urn:manylabel:" + quote(label, safe="")


def addresses_of(vocabulary: LabelVocabulary | None, labels: Iterable[str]) -> dict[str, str]:
    """The address of each label that a vocabulary names; one that it lacks may be an address itself.

    >>> addresses_of(LabelVocabulary({"": {"http://x/1": "cat"}}), ["cat", "dog", "http://x/2"])
    {'cat': 'http://x/1', 'http://x/2': 'http://x/2'}
    """
    if vocabulary is None:
        return {}
    known = vocabulary.addresses_by_name()
    return {label: known.get(label, label) for label in labels if label in known or is_address(label)}


def bare_address(label: str) -> str:
    """A label without the angle brackets of an address.

    >>> bare_address("<http://x/1>"), bare_address("a < b")
    ('http://x/1', 'a < b')
    """
    return label[1:-1] if label.startswith("<") and label.endswith(">") else label


def read_label_vocabulary(path: str | Path, problems: Problems | None = None) -> LabelVocabulary:
    """The vocabulary of a file.

    SKOS (Turtle, N-Triples, RDF/XML) is recognised by its ending. Any other file is a table: ``<address>``, tab, name
    and perhaps a notation, without a header; or with a header that names ``uri`` and ``label_en``, ``label_fi`` …
    """
    path, problems = Path(path), problems or Problems()
    if path.name.lower().removesuffix(".gz").endswith((*SKOS_ENDINGS, ".xml")):
        from manylabel.data.skos import read_thesaurus

        names: Mapping[str, Mapping[str, str]] = read_thesaurus(path, problems.limits).names
    else:
        names = _read_table(path, problems)
    found = LabelVocabulary({language: of for language, of in names.items() if of}, source=str(path))
    if not found.names:
        raise DataError(
            "The file names no concept.",
            path=path,
            remedy="Give SKOS with prefLabels, a TSV file with <address>, tab, name, or a CSV file with uri and "
            "label_en.",
        )
    return found


def _read_table(path: Path, problems: Problems) -> dict[str, dict[str, str]]:
    lines = Lines(path, problems)
    reader = iter(lines)
    first = next((line for line in reader if line.strip()), "")
    comma = "," if path.name.lower().removesuffix(".gz").endswith(".csv") else "\t"
    header = [cell.strip().lower() for cell in first.split(comma)]
    named = {place: cell.removeprefix("label").strip("_") for place, cell in enumerate(header) if is_name_column(cell)}
    if "uri" in header and named:
        place_of_address, body = header.index("uri"), reader
    else:
        place_of_address, named, body = 0, {1: ""}, chain([first], reader)
    names: dict[str, dict[str, str]] = {language: {} for language in named.values()}
    rows = csv.reader(body, delimiter=comma)
    for row in whole_rows(rows, path, problems, lines):
        number = lines.number
        if len(row) <= max(place_of_address, *named):
            problems.report(
                f"The row has {len(row)} of the cells that a concept needs: its address and its name.",
                path=path,
                line=number,
                remedy="Complete or remove the row.",
            )
            continue
        address = bare_address(row[place_of_address].strip())
        for place, language in named.items():
            if row[place].strip():
                names[language].setdefault(address, row[place].strip())
    return names


def whole_rows(rows: Iterator[list[str]], path: Path, problems: Problems, lines: Lines) -> Iterator[list[str]]:
    """The rows that are not empty; a broken one is reported."""
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            problems.report(f"The row is broken ({error}).", path=path, line=lines.number, remedy="Correct it.")
            continue
        if any(cell.strip() for cell in row):
            yield row


def is_name_column(cell: str) -> bool:
    """Whether a header cell is the column of names, ``label`` or ``label_en``."""
    return cell == "label" or cell.startswith("label_")


def choose_language(vocabulary: LabelVocabulary, corpus: Corpus) -> str:
    """The language to name the labels of a corpus in.

    Labels that are names decide by themselves. Addresses are named in the language whose names occur most often in the
    texts of their documents, then in English, then in the language with the most names.
    """
    labels = set(map(bare_address, corpus.label_names))
    hits = {language: len(labels & set(names.values())) for language, names in vocabulary.names.items()}
    if not any(hits.values()):
        hits = {language: _mentions(names, corpus) for language, names in vocabulary.names.items()}
    sizes = {language: len(labels & names.keys()) for language, names in vocabulary.names.items()}
    return max(sorted(vocabulary.names), key=lambda one: (hits[one], one == "en", sizes[one]))


def _mentions(names: Mapping[str, str], corpus: Corpus, documents: int = 2000) -> int:
    """How often the beginning of a label's name occurs in a document that carries it."""
    if not corpus.fields or corpus.labels is None:
        return 0
    step = -(-len(corpus) // documents) or 1
    found = 0
    for text, labels in zip(corpus.joined_texts[::step], corpus.labels[::step], strict=True):
        folded = text.casefold()
        for label in labels:
            name = names.get(bare_address(label), "").casefold()
            found += bool(name) and name[: max(4, round(0.7 * len(name)))] in folded
    return found


def corpus_addresses(corpus: Corpus) -> dict[str, str]:
    """The address of each label of a corpus whose data give it."""
    known = {} if corpus.vocabulary is None else corpus.vocabulary.addresses_by_name()
    return {label: known[label] for label in corpus.label_names if label in known}


def label_addresses(corpus: Corpus) -> dict[str, str]:
    """The address of each label of a corpus that has one: by its vocabulary, or since it is an address itself."""
    all_are = corpus.layout is not None and corpus.layout.cells.startswith("addresses")
    themselves = {label: bare_address(label) for label in corpus.label_names}
    return {label: uri for label, uri in themselves.items() if all_are or is_address(uri)} | corpus_addresses(corpus)


def with_named_concepts(
    corpus: Corpus, vocabulary: LabelVocabulary, model_labels: Sequence[str] = (), described: Iterable[str] = ()
) -> Corpus:
    """The corpus with its labels named as the vocabulary names them; unknown labels stay as they are.

    Concepts that `model_labels` name are named as they are there: the true labels then match a model's predictions.
    Addresses that the data give with their labels come before those that the vocabulary has for their names. The
    vocabulary of the corpus has its own labels, and those that are `described`.
    """
    own = corpus_addresses(corpus)
    vocabulary = vocabulary.joined(corpus.vocabulary)
    known = vocabulary.addresses_by_name()
    of_model = {known[bare_address(label)]: label for label in model_labels if bare_address(label) in known}
    own_names = vocabulary.display_names()
    shown = {**own_names, **of_model}
    addresses = {label: own.get(label, known.get(bare_address(label))) for label in corpus.label_names}
    names = {label: label if address is None else shown[address] for label, address in addresses.items()}
    kept = {*filter(None, addresses.values()), *(known[label] for label in described if label in known)}
    # With the names as they are shown: among fewer concepts, one that was shared may no longer be.
    vocabulary = vocabulary.restricted(kept).with_own_names({address: own_names[address] for address in kept})
    return replace(
        corpus,
        labels=[sorted({names[label] for label in labels}) for labels in corpus.label_sets],
        label_names=sorted(set(names.values())),
        vocabulary=vocabulary,
    )
