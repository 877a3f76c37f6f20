"""A model of manylabel without manylabel: texts in, label names out. NumPy and SciPy do the work.

    from manylabel_model import Model

    model = Model.read("model.json")
    model.predict(["The bus was late."])         # a list of label names per text
    model.predict_scores(["The bus was late."])  # texts × labels, in the order of model.labels

`manylabel export` wrote this file and model.json beside it; manylabel's docs/exporting.md describes the form. A model
that counts stems needs PyStemmer (``pip install PyStemmer``), and nothing else does.
"""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

Array: TypeAlias = Any
"""An array of NumPy."""
LIMIT = 700.0
"""Log-odds are kept within ± this number, where their exponential is finite."""
BATCH = 1000
"""Texts that are scored together."""


def decoded(value: Any) -> Any:
    """The form with its arrays and sparse matrices as such."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [decoded(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "base64" in value:
        return np.frombuffer(base64.b64decode(value["base64"]), value["type"]).reshape(value["shape"])
    inner = {key: decoded(one) for key, one in value.items()}
    if "starts" in inner:
        return sparse.csr_matrix((inner["values"], inner["columns"], inner["starts"]), shape=inner["shape"])
    return inner


# ---- texts → counts --------------------------------------------------------------------------------------------------

PATTERNS = {"words": r"\b\w\w+\b", "letters": "[A-Za-z]+"}
BEGINNING = re.compile(r"<!--|<(script|style)\b", re.IGNORECASE)
ENDS = {"": r"-->", "script": r"</script\s*>", "style": r"</style\s*>"}
TAG = re.compile(r"<[a-zA-Z/!?][^<>]*>")
HUGE_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{9,};?")


def without_markup(text: str) -> str:
    """The text without HTML, its character references resolved."""
    kept: list[str] = []
    done, at, endless = 0, 0, set()
    while (match := BEGINNING.search(text, at)) is not None:
        kind = (match[1] or "").lower()
        end = None if kind in endless else re.compile(ENDS[kind], re.IGNORECASE).search(text, match.end())
        at = match.end() if end is None else end.end()
        if end is None:
            endless.add(kind)
        else:
            kept.append(text[done : match.start()])
            done = at
    return html.unescape(HUGE_REFERENCE.sub("\ufffd", TAG.sub(" ", " ".join([*kept, text[done:]]))))


def without_accents(text: str, how: str) -> str:
    """The text with accented letters replaced by plain ones."""
    decomposed = unicodedata.normalize("NFKD", text)
    if how == "ascii":
        return decomposed.encode("ascii", "ignore").decode("ascii")
    return "".join([character for character in decomposed if not unicodedata.combining(character)])


def character_runs(text: str, shortest: int, longest: int, within_words: bool) -> list[str]:
    """The runs of characters of a text, or of each of its words between two blanks, which may be a shorter run."""
    text = re.sub(r"\s\s+", " ", text)
    pieces = [f" {word} " for word in text.split()] if within_words else [text]
    least = shortest if within_words else 0
    runs: list[str] = []
    for piece in pieces:
        for n in range(shortest, max(least, min(longest, len(piece))) + 1):
            runs += [piece[at : at + n] for at in range(max(len(piece) - n, 0) + 1)]
    return runs


class TermReader:
    """Splits texts into terms, as the entry `text` of the form says."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        pattern = settings["pattern"] or PATTERNS[settings["tokens"]]
        self.find = re.compile(pattern).findall
        self.stop_words = frozenset(settings["stop_words"])
        self.stemmer: Any = None
        if settings["stemmer"] is not None:
            import Stemmer

            self.stemmer = Stemmer.Stemmer(settings["stemmer"])

    def terms(self, document: Any) -> list[str]:
        """The terms of a text, or of all fields of a document, each as often as it occurs."""
        settings, text = self.settings, document if isinstance(document, str) else "\n".join(document.values())
        if settings["strip_markup"] and ("<" in text or "&" in text):
            text = without_markup(text)
        if settings["lowercase"]:
            text = text.lower()
        if settings["strip_accents"] is not None and not text.isascii():
            text = without_accents(text, settings["strip_accents"])
        shortest, longest = settings["ngram_range"]
        if settings["analyzer"] != "word":
            return character_runs(text, shortest, longest, settings["analyzer"] == "char_wb")
        words = [word for word in self.find(text) if word not in self.stop_words]
        if self.stemmer is not None:
            words = self._stems(words)
        if (shortest, longest) == (1, 1):
            return words
        lengths = range(shortest, longest + 1)
        return [" ".join(words[at : at + n]) for n in lengths for at in range(len(words) - n + 1)]

    def _stems(self, words: list[str]) -> list[str]:
        """The stems; a word that UTF-8 cannot write is kept."""
        sent = [word.encode("utf-8", "replace").decode("utf-8") for word in words]
        stems = self.stemmer.stemWords(sent)
        return [stemmed if word == clean else word for word, clean, stemmed in zip(words, sent, stems)]


# ---- counts → scores -------------------------------------------------------------------------------------------------


def row_numbers(X: Any) -> Array:
    """The row of each stored value."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


def with_values(X: Any, values: Array) -> Any:
    """The same matrix with other values."""
    return sparse.csr_matrix((values, X.indices, X.indptr), shape=X.shape)


def weighed(X: Any, weighting: dict[str, Any] | None) -> Any:
    """The counts, weighed; zeros are not stored."""
    if weighting is None:
        return X
    values = X.data.astype(np.float64)
    if weighting["tf"] == "log":
        values = 1 + np.log(values)
    elif weighting["tf"] == "binary":
        values = np.ones_like(values)
    if weighting["idf"] is not None:
        values = values * weighting["idf"][X.indices]
    found = with_values(X, values)
    if weighting["norm"] is not None:
        found = scaled(found, weighting["norm"])
    found.eliminate_zeros()
    return found


def scaled(X: Any, norm: str) -> Any:
    """The rows of a matrix divided by their length; rows of zeros stay zero."""
    rows = row_numbers(X)
    sizes = np.bincount(rows, np.abs(X.data) if norm == "l1" else X.data * X.data, minlength=X.shape[0])
    lengths = np.sqrt(sizes) if norm == "l2" else sizes
    return with_values(X, X.data / np.where(lengths > 0, lengths, 1.0)[rows])


def binned(X: Any, bins: dict[str, Any], n_rows: int) -> Any:
    """The documents as rows over the bins of terms."""
    low, high, steps = bins["low"][X.indices], bins["high"][X.indices], bins["n_bins"] - 1
    width = (high - low) / steps
    place = np.floor((np.clip(X.data, low, np.maximum(low, high)) - low) / np.where(width > 0, width, 1.0))
    number = 1 + np.where(width > 0, np.clip(place, 0, steps - 1), 0).astype(np.int64)
    cells = [bins["rows"][X.indices, number]]
    amounts = [{"one": np.ones(len(number)), "bin": number.astype(np.float64), "value": X.data}[bins["amount"]]]
    if bins["absence"]:
        cells.append(bins["rows"][X.indices, 0])
        amounts.append(np.full(len(number), -1.0))
    cell, amount = np.concatenate(cells), np.concatenate(amounts)
    rows = np.tile(row_numbers(X), len(cells))
    kept = cell >= 0
    return sparse.csr_matrix((amount[kept], (rows[kept], cell[kept])), shape=(X.shape[0], n_rows))


def block_scores(block: dict[str, Any], X: Any) -> Array:
    """The scores of one block."""
    X = weighed(X, block["weighting"])
    if block["values"] == "presence":
        X = with_values(X, np.ones_like(X.data))
    elif block["values"] == "unit":
        X = scaled(X, "l2")
    elif block["values"] == "bins":
        X = binned(X, block["bins"], block["weights"].shape[0])
    scores = dense(X @ block["weights"].astype(np.float64))
    if block["background"] is not None:
        scores = scores + dense(X @ block["background"]) @ block["loadings"]
    scores = scores + block["intercept"]
    return posteriors(scores) if block["is_posterior"] else scores


def dense(table: Any) -> Array:
    """A table as an array."""
    return table if isinstance(table, np.ndarray) else table.toarray()


def posteriors(joint: Array) -> Array:
    """e^s / Σ e^s of each row; all 0 where every s is −∞."""
    highest = joint.max(axis=1, keepdims=True, initial=-np.inf)
    powers = np.exp(joint - np.where(np.isneginf(highest), 0.0, highest))
    total = powers.sum(axis=1, keepdims=True)
    return powers / np.where(total == 0, 1.0, total)


def opened(scores: Array, kind: str) -> Array:
    """Posteriors as log-odds within ±700; other scores as they are."""
    if kind != "posterior":
        return scores
    with np.errstate(divide="ignore"):
        return np.clip(np.log(scores) - np.log1p(-scores), -LIMIT, LIMIT)


def sigmoid(log_odds: Array) -> Array:
    """1/(1 + e^−s), exactly 0 for −∞."""
    return np.where(np.isneginf(log_odds), 0.0, 1.0 / (1.0 + np.exp(-np.clip(log_odds, -LIMIT, LIMIT))))


def curve_log_odds(curves: dict[str, Any], scores: Array) -> Array:
    """The log-odds by logistic curves, −∞ for impossible labels."""
    own = np.clip(scores, -1e300, 1e300) * curves["slopes"] + curves["intercepts"]
    return np.where(np.isneginf(scores), -np.inf, np.clip(own, -LIMIT, LIMIT))


# ---- scores → labels -------------------------------------------------------------------------------------------------


def best_labels(scores: Array, n_labels: Any) -> Array:
    """The labels of each document with the highest scores; how many is one number, or a column of them."""
    chosen = np.zeros(scores.shape, dtype=bool)
    order = np.argsort(-scores, axis=1, kind="stable")
    np.put_along_axis(chosen, order, np.arange(scores.shape[1]) < n_labels, axis=1)
    return chosen


def accumulated(rule: dict[str, Any], scores: Array) -> Array:
    """The fewest best labels whose posteriors add up to the threshold."""
    ordered = -np.sort(-scores, axis=1)
    if rule["log_tail"]:
        after = np.zeros_like(ordered)
        after[:, :-1] = np.cumsum(ordered[:, :0:-1], axis=1)[:, ::-1]
        with np.errstate(divide="ignore"):
            keys, wanted = -np.log(after), -rule["threshold"]
    else:
        keys, wanted = np.cumsum(ordered, axis=1), rule["threshold"] if rule["threshold"] < 1 else np.inf
    n_labels = np.minimum((keys < wanted).sum(axis=1) + 1, (scores > 0).sum(axis=1))
    return best_labels(scores, n_labels[:, np.newaxis])


def best_sets(rule: dict[str, Any], scores: Array) -> Array:
    """The best of the label sets seen in training; `scores` are on an open scale."""
    sets = rule["sets"]
    if not sets.shape[0]:
        return np.zeros(scores.shape, dtype=bool)
    logs = sets @ curve_log_odds(rule["curves"], scores).T + rule["log_dependence"][:, np.newaxis]
    highest = logs.max(axis=0)
    weights = np.exp(logs - np.where(np.isneginf(highest), 0.0, highest))
    values = logs
    if rule["metric"] == "hamming-loss":
        values = sets @ (2.0 * (sets.T @ weights) - weights.sum(axis=0))
    elif rule["metric"] == "sample-f1":
        values = expected_f1(sets, weights)
    best = np.where(np.isneginf(logs), -np.inf, values).argmax(axis=0)
    return (sets[best].toarray() > 0) & ~np.isneginf(highest)[:, np.newaxis]


def expected_f1(sets: Any, weights: Array) -> Array:
    """The expected F1 of each set, sets × documents; the weights are those of the true set being each of them."""
    sizes = np.diff(sets.indptr)
    values = np.where((sizes == 0)[:, np.newaxis], weights, 0.0)
    groups = [(size, np.flatnonzero(sizes == size)) for size in np.unique(sizes[sizes > 0]).tolist()]
    holding = [(size, sets[rows].T @ weights[rows]) for size, rows in groups]
    for size, rows in groups:
        values[rows] = sets[rows] @ sum(held * (2.0 / (size + other)) for other, held in holding)
    return values


# ---- the model -------------------------------------------------------------------------------------------------------


class TermCounts:
    """Counts of the terms that a model knows."""

    def __init__(self, form: dict[str, Any]) -> None:
        self.labels: list[str] = list(form["labels"])
        self.terms: list[str] = list(form["terms"])
        self.reader = TermReader(form["text"])
        self.column = {term: column for column, term in enumerate(self.terms)}

    @classmethod
    def read(cls, path: str | Path) -> Any:
        """What `manylabel export` wrote to a file."""
        form = json.loads(Path(path).read_text(encoding="utf-8"))
        if form.get("format") != "manylabel-export" or form.get("version") != 1:
            raise ValueError(f"{path} is not a model of this version. Export it again with `manylabel export`.")
        return cls(form)

    def counts(self, texts: Any) -> Any:
        """How often each term occurs, texts × terms."""
        columns: list[int] = []
        starts = [0]
        for text in texts:
            columns += [self.column[term] for term in self.reader.terms(text) if term in self.column]
            starts.append(len(columns))
        shape = (len(starts) - 1, len(self.terms))
        occurrences = sparse.csr_matrix((np.ones(len(columns)), columns, starts), shape=shape)
        occurrences.sum_duplicates()
        return occurrences


class Model(TermCounts):
    """A model read from its form: counts, scores and label sets of texts."""

    def __init__(self, form: dict[str, Any]) -> None:
        super().__init__(form)
        self.form: dict[str, Any] = decoded(form)
        self.floor = 0.0 if form["score_kind"] == "posterior" else -np.inf  # the score of an impossible label

    def raw_scores(self, counts: Any) -> Array:
        """The scores that the decision rule reads, documents × labels."""
        X = weighed(sparse.csr_matrix(counts), self.form["weighting"])
        found, blocks = self.form["combination"], self.form["blocks"]
        if found is None:
            return block_scores(blocks[0], X)
        scores = np.tile(found["intercept"], (X.shape[0], 1))
        for block, weights in zip(blocks, found["weights"]):
            own = opened(block_scores(block, X), block["score_kind"])
            scores += np.nan_to_num(own, nan=0.0, posinf=LIMIT, neginf=-LIMIT) * weights
        return np.where(np.isnan(found["constant"]), scores, found["constant"])

    def shown(self, raw: Array) -> Array:
        """The scores as manylabel shows them: probabilities, if it has them."""
        shown = self.form["shown"]
        if shown["curve"] == "none":
            return raw
        if shown["curve"] == "sigmoid":
            return sigmoid(raw)
        scores = self._open(raw)
        if shown["curve"] == "logistic":
            return sigmoid(curve_log_odds(shown, scores))
        certain: Array = np.isposinf(scores)
        scores = np.where(certain.any(axis=1, keepdims=True), np.where(certain, 0.0, -np.inf), scores)
        return posteriors(scores * shown["factor"])

    def decide(self, counts: Any, raw: Array) -> Array:
        """The predicted labels, documents × labels, from counts and the scores of `raw_scores`."""
        rule = self.form["decision"]
        if rule["rule"] == "best-label":
            return best_labels(raw, 1)
        possible = raw > self.floor
        chosen = self._chosen(rule, raw) & possible
        if rule["at_least_one"]:
            chosen |= best_labels(raw, 1) & possible & ~chosen.any(axis=1, keepdims=True)
        if not rule["labels_empty"]:
            known = np.diff(weighed(sparse.csr_matrix(counts), self.form["weighting"]).indptr) > 0
            chosen &= known[:, np.newaxis]
        return chosen

    def _chosen(self, rule: dict[str, Any], raw: Array) -> Array:
        if rule["rule"] == "thresholds":
            scores = opened(raw, self.form["score_kind"]) if rule["log_odds"] else raw
            return scores > rule["thresholds"] if rule["strict"] else scores >= rule["thresholds"]
        if rule["rule"] == "top-k":
            return best_labels(raw, rule["k"])
        return accumulated(rule, raw) if rule["rule"] == "accumulated-posterior" else best_sets(rule, self._open(raw))

    def _open(self, raw: Array) -> Array:
        """The scores on a scale without bounds, −∞ for impossible labels."""
        return np.where(raw > self.floor, opened(raw, self.form["score_kind"]), -np.inf)

    def predict(self, texts: Any) -> list[list[str]]:
        """The predicted labels of each text."""
        found = [self.decide(counts, self.raw_scores(counts)) for counts in map(self.counts, batches(texts))]
        return [[self.labels[column] for column in np.flatnonzero(row)] for chosen in found for row in chosen]

    def predict_scores(self, texts: Any) -> Array:
        """The scores as manylabel's `predict_scores` returns them, texts × labels."""
        found = [self.shown(self.raw_scores(self.counts(batch))) for batch in batches(texts)]
        return np.vstack([np.zeros((0, len(self.labels))), *found])


def batches(texts: Any) -> Any:
    """The texts, some at a time."""
    listed = list(texts)
    return [listed[start : start + BATCH] for start in range(0, len(listed), BATCH)]
