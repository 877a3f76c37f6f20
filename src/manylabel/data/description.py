"""What a corpus holds, as a plain dictionary."""

from __future__ import annotations

from typing import Any

from manylabel.data.corpus import Corpus
from manylabel.data.labels import LabelSets


def describe(corpus: Corpus) -> dict[str, Any]:
    """Sizes of a corpus: documents, labels, terms, and for each part how many have no, one, several labels.

    ``labels`` counts the label names, ``labels used`` those some document bears, ``label assignments`` the
    pairs of document and label, ``labels per labelled document`` the assignments over the documents with at
    least one label (None without any). ``terms`` and ``non-zero counts`` are there for ready-made counts
    only, the label figures only where there are labels.

    >>> corpus = Corpus(ids=["1", "2", "3"], fields={"text": ["a", "b", "c"]}, labels=[["x", "y"], ["x"], []])
    >>> summary = describe(corpus)
    >>> summary["label assignments"], summary["labels per labelled document"]
    (3, 1.5)
    >>> summary["parts"]["all"]
    {'documents': 3, 'no label': 1, 'one label': 1, 'several labels': 1}
    """
    summary: dict[str, Any] = {"name": corpus.name, "documents": len(corpus), "fields": list(corpus.fields)}
    if corpus.counts is not None:
        summary |= {"terms": int(corpus.counts.shape[1]), "non-zero counts": int(corpus.counts.nnz)}
    if corpus.labels is not None:
        sizes = [len(names) for names in corpus.labels]
        labelled = sum(size > 0 for size in sizes)
        summary |= {
            "labels": len(corpus.label_names),
            "labels used": len({name for names in corpus.labels for name in names}),
            "label assignments": sum(sizes),
            "labels per labelled document": sum(sizes) / labelled if labelled else None,
        }
    summary["parts"] = {"all": split_sizes(corpus.labels, len(corpus))}
    for name in corpus.splits:
        part = corpus.split(name)
        summary["parts"][name] = split_sizes(part.labels, len(part))
    if corpus.hierarchy is not None:
        summary["labels under another"] = len(corpus.hierarchy.parents)
    return summary


def split_sizes(labels: LabelSets | None, total: int) -> dict[str, int]:
    """How many documents there are, and with labels how many have none, one, several."""
    if labels is None:
        return {"documents": total}
    sizes = [len(names) for names in labels]
    return {
        "documents": total,
        "no label": sum(size == 0 for size in sizes),
        "one label": sum(size == 1 for size in sizes),
        "several labels": sum(size > 1 for size in sizes),
    }
