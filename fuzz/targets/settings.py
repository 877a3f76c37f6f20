"""What else strangers hand over: recipes, settings, keyword rules, saved results, texts, lines to predict."""

from __future__ import annotations

import io
import json
import tomllib
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from fuzz.mutation import dictionary, mutated
from fuzz.structures import changed_json, json_bytes
from fuzz.targets.base import Target, file
from fuzz.targets.readers import JSON, on_error
from manylabel import TextClassifier
from manylabel.catalog import METHODS
from manylabel.cli.line_documents import LineDocuments, _lines_as_they_come
from manylabel.cli.predicting import Output, write_predictions
from manylabel.cli.settings import read_recipe
from manylabel.data.problems import Problems
from manylabel.features import TermSelector, Vectorizer, Weighting
from manylabel.features.keyword_queries import parse_query
from manylabel.features.keyword_rules import parse_rules, rules_text, write_rules
from manylabel.features.languages import guess_language
from manylabel.features.scripts import guess_tokens, has_markup, without_markup
from manylabel.recipe import Recipe
from manylabel.reports.page import render_text
from manylabel.reports.saved_results_page import ranks_page, saved_results_page
from manylabel.scale.predictions import Asked
from manylabel.setting_values import parse_settings, toml_value
from manylabel.tasks.evaluate import saved_results
from manylabel.tasks.models import predict_batches

TEXTS = ["The bus was late", "a late bin", "the bus and the bin"]
SETTINGS, QUERIES = dictionary("toml"), dictionary("queries")


def use_recipe(recipe: Recipe) -> None:
    """Do what a command does with a recipe before it reads any documents."""
    recipe.build().check_parameters()
    recipe.build_model().check_parameters()
    vectorizer = Vectorizer(**recipe.vectorizer_settings)
    vectorizer.check_parameters()
    if recipe.selection:
        TermSelector(**recipe.selection).check_parameters()
    Weighting(**recipe.weighting).check_parameters()
    vectorizer.fit_transform(TEXTS)
    recipe.to_toml()


def run_recipe(data: bytes) -> None:
    """A recipe file; what it names beside itself is not read."""
    plain = read_recipe(file("recipe", "recipe.toml", data))
    if not isinstance(plain["features"].get("rules"), (str, Path)):
        recipe = Recipe.from_dict(plain)
        recipe.read_rules()
        use_recipe(recipe)


def recipes() -> list[bytes]:
    """The recipe of every method, and some with settings of all kinds."""
    made = [Recipe.of(method).to_toml() for method in METHODS]
    made.append(
        Recipe.of(
            "svm", {"features": {"ngram_range": (1, 2), "min_df": 2, "tokens": "words"}, "model": {"C": 0.5}}
        ).to_toml()
    )
    made.append(Recipe.of("nb", {"features": {"rules": {"a": "x OR y", "b": ["z", "q*"]}}}).to_toml())
    return [text.encode() for text in made]


def changed_recipe(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """A recipe with a setting changed, or with its bytes changed."""
    if rng.random() < 0.5:
        return mutated(rng, data, seeds, tokens)
    try:
        plain = tomllib.loads(data.decode())
    except ValueError:
        return mutated(rng, data, seeds, tokens)
    for section, settings in Recipe.from_dict(plain).defaults().items():
        if rng.random() < 0.5 and settings:
            key = rng.choice(sorted(settings))
            plain.setdefault(section, {})[key] = _plain(settings[key])
    changed = changed_json(rng, plain, ("svm", "nb", "auto", "top-k", "words", "english", "(a+)+$", "best"))
    if not isinstance(changed, dict):
        return json_bytes(changed)
    lines = []
    for key, value in changed.items():
        if isinstance(value, Mapping):
            lines += [
                f"[{key}]",
                *(f"{json.dumps(str(name))} = {toml_value(_plain(one))}" for name, one in value.items()),
            ]
        else:
            lines.insert(0, f"{json.dumps(str(key))} = {toml_value(_plain(value))}")
    return "\n".join(lines).encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    """The value as TOML can express it."""
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return value if isinstance(value, (str, bool, int, float)) else "none"


def run_settings(data: bytes) -> None:
    """Assignments as after --set, one per line."""
    lines = data.decode("utf-8", "replace").split("\n")
    overrides = parse_settings([line for line in lines if line])
    if not isinstance(overrides.get("features", {}).get("rules"), (str, Path)):
        use_recipe(Recipe.of("svm", overrides))


def run_rules(data: bytes) -> None:
    """A file of keyword rules, read, written, read again and applied."""
    path = file("rules", "rules.txt", data)
    parsed = parse_rules(rules_text(path), path)
    again = parse_rules(write_rules(parsed))
    assert {label: str(query) for label, query in again.items()} == {
        label: str(query) for label, query in parsed.items()
    }
    if len(data) < 200 and len(data) % 8 == 0:  # training takes milliseconds
        model = TextClassifier("rules", features={"rules": path})
        model.fit(TEXTS * 4, [["a"], ["b"], ["a", "b"]] * 4)
        model.predict(TEXTS)


def run_query(data: bytes) -> None:
    """One query."""
    query = parse_query(data.decode("utf-8", "replace"))
    assert str(parse_query(str(query))) == str(query)


def results() -> list[bytes]:
    """Results that `evaluate --json` wrote, of one and of two methods."""
    from manylabel.tasks.corpora import Source
    from manylabel.tasks.evaluate import evaluate_methods

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = file(
            "results-seed",
            "data.csv",
            b"text,labels\n" + b"".join(b"late bus %d,a;b\nbin road %d,c\n" % (n, n) for n in range(12)),
        )
        made = [evaluate_methods(Source(str(path)), methods).as_dict() for methods in (["nb"], ["nb", "rocchio"])]
    return [json_bytes(one) for one in (*made, made)]


def changed_results(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Results with a value changed, or with their bytes changed."""
    if rng.random() < 0.3:
        return mutated(rng, data, seeds, tokens)
    value = json.loads(data)
    for _ in range(rng.randint(1, 3)):
        value = changed_json(rng, value)
    return json_bytes(value)


def run_results(data: bytes) -> None:
    """A file of saved results, read and shown."""
    found = saved_results([file("results", "results.json", data)])
    for one in found:
        render_text(saved_results_page(one.results, one.split))
    if len(found) > 1 and len(found[0].results) > 1:
        render_text(ranks_page([one.results for one in found]))


@cache
def vectorizers() -> list[Vectorizer]:
    """A vectoriser for each way to read texts."""
    kinds: tuple[dict[str, Any], ...] = (
        {},
        {"tokens": "auto", "stemmer": "auto", "markup": "auto"},
        {"tokens": "pairs", "strip_accents": "unicode"},
        {"tokens": "marked", "n_hashes": 64},
        {"tokens": "letters"},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
        {"ngram_range": (1, 2), "stemmer": "english", "stop_words": "english", "markup": "strip"},
    )
    return [Vectorizer(**kind) for kind in kinds]


def run_text(data: bytes) -> None:
    """Texts of any characters: tokens, stems, HTML, language."""
    text = data.decode("utf-8", "surrogateescape" if len(data) % 2 else "replace")
    texts = text.split("\n")
    without_markup(text)
    guess_language(texts)
    guess_tokens(texts)
    has_markup(texts)
    chosen = zlib.crc32(data)
    for number in (chosen % 7, chosen // 7 % 7):  # all of them would take seven times as long
        vectorizers()[number].fit_transform([*texts, "one word"])


@cache
def model() -> TextClassifier:
    """A small model to predict with."""
    return TextClassifier("nb").fit(TEXTS * 4, [["a"], ["b"], ["a", "b"]] * 4)


def run_predict(data: bytes) -> None:
    """Lines on standard input, predicted and written in each format."""
    lines = LineDocuments(Problems(on_error(data)), "standard input", "utf-8")

    def batches() -> Iterator[list[Any]]:
        for numbered in _lines_as_they_come(io.BytesIO(data)):
            pairs = [lines.document(number, raw) for number, raw in numbered]
            yield [pair for pair in pairs if pair is not None]

    found = list(predict_batches(model(), batches(), Asked(None, None, False, 3)))
    for to in (Output.JSONL, Output.TSV):
        for written in write_predictions(found, to, scores=True):
            written.encode()


OTHERS: tuple[Target, ...] = (
    Target("recipe", run_recipe, recipes, SETTINGS, changed_recipe),
    Target(
        "settings",
        run_settings,
        tokens=(*SETTINGS, b"\nmodel.inner.C=", b"\nselection.k=", b"\nweighting.tf=", b"\nfeatures."),
    ),
    Target("rules", run_rules, tokens=QUERIES),
    Target("query", run_query, lambda: [b'(corn OR maize) AND NOT "corn flakes" x*'], QUERIES),
    Target("results", run_results, results, JSON, changed_results, share=0.4),
    Target("text", run_text, tokens=dictionary("text"), share=0.5),
    Target("predict", run_predict, tokens=JSON),
)
