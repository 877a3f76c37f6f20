"""Files about labels: hierarchies, thesauri, vocabularies, names and groups; and dates."""

from __future__ import annotations

from collections.abc import Callable

from fuzz.mutation import dictionary
from fuzz.targets.base import Target, file
from fuzz.targets.readers import CSV, JSON, on_error
from manylabel.data.dates import read_dates
from manylabel.data.hierarchy import find_hierarchy, read_parents
from manylabel.data.label_descriptions import read_label_descriptions
from manylabel.data.label_vocabulary import read_label_vocabulary
from manylabel.data.problems import Problems
from manylabel.data.reading import read
from manylabel.data.skos import read_skos

TABLE = b"text,labels\nlate bus,0;1\nx,2\n"


def thesaurus(target: str, name: str) -> Callable[[bytes], None]:
    """A thesaurus, read as a hierarchy and as a vocabulary."""

    def run(data: bytes) -> None:
        path = file(target, name, data)
        found = read_skos(path, Problems(on_error(data)), labels=["a", "http://x.org/b"])
        found.columns(found.labels)
        read_label_vocabulary(path)

    return run


def run_parents(data: bytes) -> None:
    """A file of labels and their parents."""
    path = file("parents", "tree.tsv", data)
    read_parents(path, Problems(on_error(data)))
    find_hierarchy(str(path), ["a", "b"], Problems(on_error(data)))


def run_label_descriptions(data: bytes) -> None:
    """A table that describes labels."""
    read_label_descriptions(file("label-descriptions", "labels.csv", data), Problems(on_error(data)))


def run_vocabulary(data: bytes) -> None:
    """A table of addresses and names."""
    read_label_vocabulary(file("vocabulary", "words.tsv", data), Problems(on_error(data)))


def run_label_names(data: bytes) -> None:
    """A file with the names of labels 0, 1, 2."""
    names = file("label-names", "names.txt", data)
    read(file("label-names", "data.csv", TABLE), label_names_file=names, on_error=on_error(data))


def run_label_groups(data: bytes) -> None:
    """A JSON file that groups labels."""
    groups = file("label-groups", "groups.json", data)
    read(file("label-groups", "data.csv", TABLE), label_groups_file=groups, on_error=on_error(data))


def run_dates(data: bytes) -> None:
    """A column of dates, one per line."""
    lines = data.decode("utf-8", "replace").split("\n")
    read_dates(lines)


LABELS: tuple[Target, ...] = (
    Target("parents", run_parents, tokens=(*CSV, b"label\tparent\n", b"a\tb\nb\ta\n", b"a\ta\n", b"parent")),
    Target("turtle", thesaurus("turtle", "tree.ttl"), tokens=dictionary("turtle")),
    Target("rdf-xml", thesaurus("rdf-xml", "tree.rdf"), tokens=dictionary("rdf")),
    Target("triples", thesaurus("triples", "tree.nt"), tokens=dictionary("turtle")),
    Target("label-descriptions", run_label_descriptions, tokens=(*CSV, b"label,name,description\n")),
    Target("vocabulary", run_vocabulary, tokens=(*CSV, b"uri\tlabel_en\n", b"<http://x.org/c>\tc\n")),
    Target("label-names", run_label_names),
    Target("label-groups", run_label_groups, tokens=JSON),
    Target("dates", run_dates, tokens=dictionary("dates")),
)
