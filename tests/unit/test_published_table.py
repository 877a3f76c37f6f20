"""The table of published figures: means over draws, and documents with a label where others measure on them."""

from typing import Any

from benchmarks.published import divided, table

from manylabel.data import Corpus


def row(name: str, draw: int, micro: float) -> dict[str, Any]:
    """A measured row whose macro F1 is half its micro F1, and whose figures on labelled documents are 0.1 higher."""
    figures = {
        which: {one: [value, value - 0.02, value + 0.01] for one, value in (("micro-f1", own), ("macro-f1", own / 2))}
        for which, own in (("all", micro), ("with a label", micro + 0.1))
    }
    documents = {"all": 3000, "with a label": 2800}
    kept = {"set": name, "draw": draw, "metric": "micro-f1", "encoder": "", "documents": documents, "seconds": 4.0}
    return {**kept, "figures": figures, "trained": 2000, "chosen": None}


def test_the_table_has_means_over_draws_and_published_figures() -> None:
    rows = [row("yahoo-arts", 0, 0.5), row("yahoo-arts", 1, 0.6), row("reuters21578", 0, 0.8)]
    assert table(rows).splitlines()[2:] == [
        "| reuters21578 | 2,800 | micro-f1 | 90.0 [88.0, 91.0] | 45.0 [43.0, 46.0] "
        "| BERT-base 89.0, BERT-large 90.7 | 4 |",
        "| reuters21578 | 3,000 | micro-f1 | 80.0 [78.0, 81.0] | 40.0 [38.0, 41.0] |  | 4 |",
        "| yahoo-arts | 3,000 × 2 draws | micro-f1 | 55.0 [53.0, 56.0] | 27.5 [25.5, 28.5] |  | 4 |",
    ]


def test_draws_differ_and_do_not_overlap() -> None:
    corpus = Corpus(ids=[str(number) for number in range(6_000)])
    pairs = [divided(corpus, draw) for draw in (0, 1)]
    for train, test in pairs:
        assert (len(train), len(test)) == (2_000, 3_000)
        assert not {*train.ids} & {*test.ids}
    assert list(pairs[0][0].ids) != list(pairs[1][0].ids)
