"""What `manylabel thresholds --precision` and `--recall` reach on documents that neither model nor thresholds saw.

python -m benchmarks.targets [--sets townhall …]     prints the table of docs/decision-rules.md

`svm` is fitted on random documents, the thresholds of its labels are set for a target on its out-of-fold scores, and
precision and recall over all labels that reach the target are measured on up to 3,000 other documents. Mean over
random divisions.
"""

from __future__ import annotations

import argparse

import numpy as np

from manylabel.classifier import TextClassifier
from manylabel.data import load
from manylabel.data.label_forms import read_labels

SETS = {"townhall": (415, 12), "hallmarks": (1_000, 3), "debtags": (2_000, 3), "reuters21578": (3_000, 3)}
"""Training documents and divisions of each set."""
TARGETS = [("precision", 0.8), ("precision", 0.9), ("precision", 0.95), ("recall", 0.8), ("recall", 0.9)]
MOST = 3_000


def measure(data: str) -> None:
    """Print one line per target."""
    corpus = load(data).corpus
    n_train, divisions = SETS[data]
    found: dict[tuple[str, float], list[list[float]]] = {target: [] for target in TARGETS}
    for seed in range(divisions):
        order = np.random.default_rng(seed).permutation(len(corpus)).tolist()
        train, new = corpus.subset(order[:n_train]), corpus.subset(order[n_train : n_train + MOST])
        model = TextClassifier("svm", seed=seed).fit(train.texts, train.label_sets)
        scores = model.predict_scores(new.texts)
        Y_true = read_labels(new.label_sets, model.labels_, others="omit").Y.toarray() > 0
        figures = model.decided_.figures_
        assert figures is not None
        for figure, least in TARGETS:
            reached = model.thresholds_for(**{figure: least})
            columns = [model.labels_.index(label) for label in reached]
            own = figures.thresholds_for(figure, least)  # type: ignore[arg-type]
            true, predicted = figures.counts(np.nan_to_num(own))
            right, positives = true[columns].sum(), figures.positives_[columns].sum()
            chosen = scores[:, columns] >= np.array(list(reached.values()))
            hits = (chosen & Y_true[:, columns]).sum()
            found[figure, least].append(
                [
                    right / predicted[columns].sum(),
                    right / positives,
                    hits / chosen.sum(),
                    hits / Y_true[:, columns].sum(),
                ]
            )
    for (figure, least), rows in found.items():
        precision, recall, new_precision, new_recall = np.mean(rows, axis=0)
        print(
            f"{data}, {figure} {least}: where chosen, precision {precision:.3f} and recall {recall:.3f}; "
            f"on new documents {new_precision:.3f} and {new_recall:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    for name in parser.parse_args().sets:
        measure(name)
