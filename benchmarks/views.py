"""What views and stacks gain: the default as it was before, with words alone, with each view, and with what it chooses.

python -m benchmarks.views --held-out     on a quarter of the training documents: what choices are made by
python -m benchmarks.views                on the test splits, after all was chosen

Each cell trains the default for one metric on some training documents, drawn at random, and computes the metric on all
documents of the measured split. `before` is the default without all that was added for views: words alone, and for
macro F1 the candidates among the decision rules before `micro-macro` (`rules_before`). `words` is the default without
further views and stacks, `characters` and `pairs` have this view in place of the words, and `auto` is the default with
what it chooses. ``--encoder NAME…`` adds the default with each of these encoders. Behind the figures stand the
differences of `auto` and of encoders to `before` and to `words`, with a 95 % interval over resampled documents, and the
CPU seconds of training, including those for vectors that are not in the cache yet.

With ``--draws N`` the training documents are drawn N times; figures are means over the draws, and the interval of a
difference is that of its mean over the draws (Student's t): training documents vary, test documents do not. What was
measured is kept in a file, predictions beside it, and a run goes on where the last one ended. The data: MANYLABEL_DATA.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse, stats

from benchmarks.defaults import OUTPUT, SEED, TARGET_METRICS, drawn, quartered, read
from manylabel.catalog import DEFAULT_METHOD
from manylabel.data import Corpus
from manylabel.data.labels import label_matrix
from manylabel.decisions import DecisionRule, GlobalThreshold, Natural, PerLabelThreshold, best_rule
from manylabel.decisions.best_rule import candidates
from manylabel.estimator import Csr, Floats
from manylabel.evaluation.bootstrap import paired_difference
from manylabel.evaluation.statistics import DocumentStatistics, document_statistics
from manylabel.features.encoders import Encoder, load_encoder
from manylabel.features.views import VIEWS
from manylabel.metrics.targets import TargetMetric
from manylabel.models.score_kinds import ScoreKind
from manylabel.recipe import Recipe, with_metric
from manylabel.tasks.corpora import Source, documents_of, load_source
from manylabel.tasks.dividing import train_and_test
from manylabel.tasks.models import fit_corpus

SETS = ("townhall", "hallmarks", "goemotions", "reuters21578", "debtags")
"""The sets that come as texts."""
SIZES = (100, 300, 1_000, 3_000, 0)
"""Numbers of training documents; 0 stands for all."""
BEFORE, WORDS, AUTO = "before", "words", "auto"
BASES = (BEFORE, WORDS)
"""What `auto` and encoders are compared with."""
PLAIN = {"views": (), "stacked": False, "label_names": False}
KINDS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    BEFORE: {"model": PLAIN},
    WORDS: {"model": PLAIN},
    **{view: {"model": PLAIN, "features": dict(settings)} for view, settings in VIEWS.items()},
    AUTO: {},
}
"""What is trained, by name: settings that change the default."""


def main() -> None:
    """Measure what is missing, then print a table for each metric."""
    parser = argparse.ArgumentParser(description="Views of texts.")
    parser.add_argument("--held-out", action="store_true", help="measure on a quarter of the training documents")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument(
        "--encoder", nargs="+", default=[], help="folders, or names that `manylabel encoder list` prints"
    )
    parser.add_argument("--metrics", nargs="+", default=TARGET_METRICS)
    parser.add_argument("--draws", type=int, default=1, help="how many times training documents are drawn")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    asked = parser.parse_args()
    kinds = [*asked.kinds, *asked.encoder]
    folder = asked.output / ("views_held_out" if asked.held_out else "views")
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "rows.jsonl"
    known = {(row["set"], row["size"], row["metric"], row["draw"], row["kind"]): row for row in read(kept)}
    sizes = dict[str, list[int]]()
    for name in asked.sets:
        whole, test, _ = train_and_test(load_source(Source(name)).corpus, 0.25, SEED)
        whole, test = quartered(whole, SEED) if asked.held_out else (whole, test)
        sizes[name] = [size or len(whole) for size in asked.sizes if size < len(whole)]
        for size, metric in product(sizes[name], asked.metrics):
            for draw, kind in product(range(asked.draws if size < len(whole) else 1), kinds):
                cell = (name, size, metric, draw, kind)
                if cell in known:
                    continue
                row = dict(zip(("set", "size", "metric", "draw", "kind"), cell, strict=True))
                row |= measured(drawn(whole, size, SEED + draw), test, metric, kind, folder / f"{name}-{size}-{draw}")
                known[cell] = row
                with kept.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
                print(json.dumps(row), file=sys.stderr, flush=True)
    for metric in asked.metrics:
        rows = [row for row in known.values() if row["metric"] == metric and row["size"] in sizes.get(row["set"], ())]
        print(table(rows, kinds))
        print(differences(rows, kinds))
        print(mean_differences(rows, kinds))


def measured(train: Corpus, test: Corpus, metric: str, kind: str, folder: Path) -> dict[str, Any]:
    """Figures, CPU seconds and chosen settings of a kind; of `auto` and encoders, the differences to what is in BASES.

    A kind that is not in `KINDS` is the default with this encoder. Predictions are kept in the folder.
    """
    names = sorted({name for corpus in (train, test) for names in corpus.label_sets for name in names})
    Y_true = label_matrix(test.label_sets, names)
    recipe = Recipe.of(DEFAULT_METHOD, with_metric(KINDS.get(kind, {}), metric))
    encoder = None if kind in KINDS else _loaded(kind)
    began = time.process_time()
    with rules_before() if kind == BEFORE else nullcontext():
        model = fit_corpus(train, recipe, seed=SEED, n_jobs=1, encoder=encoder)
    seconds = time.process_time() - began
    Y_pred = label_matrix(model.predict(documents_of(test)), names)
    folder.mkdir(exist_ok=True)
    sparse.save_npz(_predictions(folder, metric, kind), Y_pred)
    found = document_statistics(Y_true, Y_pred)
    choice = model.decided_.choice_
    row = {
        "figures": {one: float(found.value(one)) for one in TARGET_METRICS},
        "seconds": round(seconds, 1),
        "rule": None if choice is None else choice["rule"],
        "chosen": None if choice is None else choice["settings"],
    }
    return row | {"gain": _gains(found, metric, folder)} if is_compared(kind) else row


def is_compared(kind: str) -> bool:
    """Whether differences of this kind to those in BASES are computed: `auto`, and the default with an encoder."""
    return kind == AUTO or kind not in KINDS


def _gains(found: DocumentStatistics, metric: str, folder: Path) -> dict[str, list[float]]:
    """The differences to the predictions of each of BASES that are in the folder, with their intervals."""
    gains = {}
    for base in BASES:
        path = _predictions(folder, metric, base)
        if path.exists():
            gap = paired_difference(
                found, document_statistics(found.Y_true, Csr(sparse.load_npz(path))), metric, seed=SEED
            )
            gains[base] = [gap.value, gap.low, gap.high]
    return gains


def _predictions(folder: Path, metric: str, kind: str) -> Path:
    return folder / f"{metric}-{kind.replace('/', '_')}.npz"


@cache
def _loaded(name: str) -> Encoder:
    return load_encoder(name)


@contextmanager
def rules_before() -> Iterator[None]:
    """Choose the rule for macro F1 as before `micro-macro`: thresholds per label, whatever they cost in micro F1."""
    with (
        patch.object(best_rule, "candidates", candidates_before),
        patch.object(best_rule, "TOLERANCE_FOR_RARE", 0.0),
        patch.object(best_rule, "MOST_MICRO_F1_LOST", 1.0),
        patch.object(best_rule, "MOST_MICRO_F1_LOST_OF_FEW", 1.0),
    ):
        yield


def candidates_before(
    metric: TargetMetric, kind: ScoreKind, now: Callable[[TargetMetric, ScoreKind], list[DecisionRule]] = candidates
) -> list[DecisionRule]:
    """The rules that were tried before `micro-macro`; for other metrics than macro F1 they are those of today."""
    if metric.name != "macro-f1":
        return now(metric, kind)
    listed = [Natural(), GlobalThreshold()]
    listed += [PerLabelThreshold(shrinkage, floor) for shrinkage in (20.0, 5.0, 1.0) for floor in (0.1, 0.0)]
    return [rule for rule in listed if kind in rule.accepts]


def table(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> str:
    """Sets and sizes × kinds, in percent; micro / macro F1 of each, and CPU seconds of those that are compared."""
    timed = [kind for kind in kinds if kind in BASES or is_compared(kind)]
    lines = _head(rows, "micro / macro F1", [*kinds, "CPU seconds: " + ", ".join(timed)])
    for (name, size), found in _by_sample(rows).items():
        n_draws = _n_draws(found)
        cells = [_figures(found[kind], n_draws) if kind in found else "–" for kind in kinds]
        seconds = [np.mean([row["seconds"] for row in found[kind]]) if kind in found else None for kind in timed]
        cells.append(", ".join("–" if one is None else f"{one:.1f}" for one in seconds))
        lines.append(f"| {name} | {size:,} | {n_draws} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def differences(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> str:
    """Sets and sizes × kinds that are compared, each with BASES: differences of the metric of training, in points."""
    pairs = list(product([kind for kind in kinds if is_compared(kind)], [base for base in BASES if base in kinds]))
    lines = _head(rows, "difference", [f"{kind} − {base}" for kind, base in pairs])
    for (name, size), found in _by_sample(rows).items():
        cells = [_difference(found.get(kind, []), base) for kind, base in pairs]
        lines.append(f"| {name} | {size:,} | {_n_draws(found)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _head(rows: Sequence[Mapping[str, Any]], what: str, columns: Sequence[str]) -> list[str]:
    """The first two lines of a table of sets and sizes."""
    titles = [f"trained for {rows[0]['metric'] if rows else 'nothing'}: {what}", "documents", "draws", *columns]
    return [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]


def _n_draws(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> int:
    """The number of draws of the kind that has most of them."""
    return max(len(draws) for draws in found.values())


def mean_differences(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> str:
    """A line for each size, kind and base it is compared with: the mean difference over the sets, and the least.

    A size that is all documents of a set counts as "all". Where all sets have the same number of draws, the mean has
    an interval over the draws: each of them has a mean over the sets.
    """
    found = defaultdict[tuple[float, str, str], list[Floats]](list)
    for (_, size), by_kind in _by_sample(rows).items():
        for kind, base in product(kinds, BASES):
            gains = [row["gain"][base][0] for row in by_kind.get(kind, []) if base in row.get("gain", {})]
            if gains:
                found[size if size in SIZES else np.inf, kind, base].append(100 * np.array(gains))
    lines = []
    for (most, kind, base), of_sets in sorted(found.items()):
        means = [float(one.mean()) for one in of_sets]
        alike = len({len(one) for one in of_sets}) == 1
        shown = mean_with_interval(np.mean(of_sets, axis=0) if alike else np.array([np.mean(means)]), 2)
        which = f"{f'{most:,}' if np.isfinite(most) else 'all'} documents, {kind} − {base}"
        lines.append(f"{which}: {shown} on the mean of {len(of_sets)} sets, {min(means):+.2f} at the least\n")
    return "".join(lines)


def _by_sample(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], dict[str, list[Mapping[str, Any]]]]:
    """The rows of each kind, one for each draw, by set and number of training documents."""
    found: dict[tuple[str, int], dict[str, list[Mapping[str, Any]]]] = {}
    for row in sorted(rows, key=lambda row: (_place(SETS, row["set"]), row["size"], row["draw"])):
        found.setdefault((row["set"], row["size"]), {}).setdefault(row["kind"], []).append(row)
    return found


def _place(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


def _figures(draws: Sequence[Mapping[str, Any]], n_draws: int) -> str:
    """The means of both metrics, in percent, and over how many draws where others have more."""
    shown = " / ".join(f"{100 * np.mean([one['figures'][name] for one in draws]):.1f}" for name in TARGET_METRICS)
    return shown if len(draws) == n_draws else f"{shown} (of {len(draws)})"


def _difference(draws: Sequence[Mapping[str, Any]], base: str) -> str:
    """The difference to a base with its interval; of several draws, their mean and its interval."""
    gains = 100 * np.array([one["gain"][base] for one in draws if base in one.get("gain", {})])
    if not len(gains):
        return "–"
    if len(gains) == 1:
        return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*gains[0])
    return mean_with_interval(gains[:, 0], 1)


def mean_with_interval(values: Floats, digits: int) -> str:
    """The mean of independent values with its 95 % interval by Student's t; of a single value, this value."""
    mean = float(values.mean())
    if len(values) == 1:
        return f"{mean:+.{digits}f}"
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{mean:+.{digits}f} [{mean - half:+.{digits}f}, {mean + half:+.{digits}f}]"


if __name__ == "__main__":
    main()
