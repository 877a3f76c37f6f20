"""The first hour with Annif's tutorial layout: addresses in a table, names in a folder, a thesaurus beside them."""

from __future__ import annotations

from pathlib import Path

from manylabel.classifier import TextClassifier
from manylabel.tasks.corpora import Source
from manylabel.tasks.evaluate import evaluate_model
from manylabel.tasks.models import inspect, predict_source, train

TURTLE = """@base <http://example.org/v/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<1> a skos:Concept ; skos:prefLabel "buses"@en, "Busse"@de .
<2> a skos:Concept ; skos:prefLabel "roads"@en, "Wege"@de .
"""
BUS, ROAD = "the late buses again", "a deep hole in the roads"


def _layout(folder: Path) -> tuple[Path, Path]:
    (folder / "subjects.ttl").write_text(TURTLE)
    table = folder / "documents.tsv"
    table.write_text(f"{BUS}\t<http://example.org/v/1>\n{ROAD}\t<http://example.org/v/2>\n" * 6)
    texts = folder / "fulltext"
    texts.mkdir()
    for name, text, label in (("a", BUS, "buses"), ("b", ROAD, "roads")):
        (texts / f"{name}.txt").write_text(text)
        (texts / f"{name}.key").write_text(f"{label}\n")
    return table, texts


def test_point_11_addresses_and_names_are_one_label(tmp_path: Path) -> None:
    """Point 11: trained on addresses, evaluated on names, with the vocabulary found beside the data."""
    table, texts = _layout(tmp_path)
    model = tmp_path / "model.manylabel"
    trained = train(Source(str(table), format="tsv"), model, method="nb-binary")
    assert trained.classifier.labels_ == ["buses", "roads"]
    assert "subjects.ttl" in str(trained.record.vocabulary)
    result = evaluate_model(Source(str(texts)), model).results[0]
    assert result.metrics["all"]["micro-f1"] == 1
    found = [p.as_dict(with_scores=False) for p in predict_source(TextClassifier.load(model), Source(str(texts)))[0]]
    assert found[0] == {"id": "a", "labels": ["buses"], "uris": ["http://example.org/v/1"]}
    assert inspect(model).addresses == {"buses": "http://example.org/v/1", "roads": "http://example.org/v/2"}


def test_point_11_labels_in_another_language(tmp_path: Path) -> None:
    """Point 11: --label-language names the labels in any language of the vocabulary."""
    table, texts = _layout(tmp_path)
    model = tmp_path / "model.manylabel"
    trained = train(Source(str(table), format="tsv", label_language="de"), model, method="nb-binary")
    assert trained.classifier.labels_ == ["Busse", "Wege"]
    assert evaluate_model(Source(str(texts)), model).results[0].metrics["all"]["micro-f1"] == 1
