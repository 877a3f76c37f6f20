"""Hostile SGML, Turtle, XML, hierarchies, keyword rules, patterns, recipes and markup take no more than linear time."""

import io
import json
import re
import tarfile
import time
import warnings
from pathlib import Path

import pytest

from hostile import read_all
from manylabel.cli.settings import read_recipe
from manylabel.data import Hierarchy, read, read_parents, read_skos
from manylabel.data.arff import read_label_file
from manylabel.data.dates import read_dates
from manylabel.data.label_vocabulary import read_label_vocabulary
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.features import Vectorizer
from manylabel.features.keyword_rules import rules_text, with_rule_labels
from manylabel.features.keywords import keyword_matcher
from manylabel.features.scripts import has_markup, without_markup
from manylabel.recipe import Recipe


@pytest.fixture
def quick():
    """Fail a test whose body takes more than five seconds of the processor."""
    began = time.process_time()
    yield
    assert time.process_time() - began < 5


def test_sgml_without_ends(tmp_path):
    begin = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'
    texts = {
        "open": "<REUTERS >" * 100_000,
        "blanks": "<REUTERS" + " " * 200_000,
        "attributes": "<REUTERS " + 'a="' * 100_000 + "></REUTERS>",
        "words": "<REUTERS " + "a" * 400_000 + "></REUTERS>",
        "texts": "<REUTERS NEWID='1'>" + "<TEXT>" * 100_000 + "</REUTERS>",
        "titles": '<REUTERS NEWID="1"><TEXT>' + "<TITLE>" * 100_000 + "</TEXT></REUTERS>",
        "topics": '<REUTERS NEWID="1"><TOPICS>' + "<D>" * 100_000 + "</TOPICS><TEXT></TEXT></REUTERS>",
        "entities": '<REUTERS NEWID="1"><TEXT><BODY>&#' + "9" * 9000 + ";&#55296;</BODY></TEXT></REUTERS>",
        "number": f'<REUTERS NEWID="{"9" * 5000}"><TEXT></TEXT></REUTERS>',
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.sgm").write_text(begin + text)
    found = read_all(sorted(tmp_path.glob("*.sgm")), tmp_path)
    assert "no NEWID that is a number" in found["number.sgm"]
    body = read(tmp_path / "entities.sgm", split="all").corpus.fields["body"][0]
    assert body.encode()  # no half of a surrogate pair


def test_an_archive_with_a_sparse_member(tmp_path):
    path = tmp_path / "reuters.tar"
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("reut2-000.sgm")
        member.size = 8
        member.pax_headers = {"GNU.sparse.map": "0,8", "GNU.sparse.size": str(1 << 40), "GNU.sparse.name": member.name}
        archive.addfile(member, io.BytesIO(b"<REUTERS"))
    found = read_all([path], tmp_path)["reuters.tar"]
    assert "unpacked to more than 100 times as much" in (found or "")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('<a> <b> "' + "x" * 2_000_000, "line 2: The string that begins here has no end"),
        ('<a> <b> """' + 'x"' * 1_000_000, "The string that begins here has no end"),
        ("<a> <b> '" + "\\'" * 1_000_000, "line 2: The string that begins here has no end"),
        ("<a> <b> " + "[ <c> " * 100_000, "101 brackets within one another"),
        ("<a> <b> " + "( " * 100_000, "101 brackets within one another"),
    ],
)
def test_turtle_without_ends(text, problem, tmp_path):
    path = tmp_path / "a.ttl"
    path.write_text("# a thesaurus\n" + text)
    with pytest.raises(DataError) as caught:
        read_skos(path)
    assert problem in str(caught.value)


@pytest.mark.usefixtures("quick")
def test_xml_that_is_deep_or_declares_entities(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text("<labels>" + "<label name='a'>" * 50_000)
    with pytest.raises(DataError, match=r"a\.xml, line 1: There are 101 elements within one another"):
        read_label_file(path)
    path.write_text('<?xml version="1.0"?><rdf:RDF>' + "<a>" * 50_000)
    with pytest.raises(DataError, match=r"101 elements"):
        read_skos(path)
    path.write_text('<?xml version="1.0"?>\n<!DOCTYPE a [\n<!ENTITY x "y">]>\n<labels><label name="&x;"/></labels>')
    with pytest.raises(DataError, match=r"line 3: The file declares the entity 'x'"):
        read_label_file(path)
    path.write_text('<labels><label name="a"/><label name="a"/></labels>')
    with pytest.raises(DataError, match=r"names the label 'a' twice"):
        read_label_file(path)


@pytest.mark.usefixtures("quick")
def test_long_chains_of_parents(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{number}\t{number + 1}\n" for number in range(20_000)))
    with pytest.raises(DataError, match=r"20,001 levels in the label hierarchy, and at most 100.*limits={'levels': "):
        read_parents(path)
    assert Hierarchy({str(number): str(number + 1) for number in range(20_000)}).levels == 20_001
    with pytest.raises(DataError, match=r"levels in the label 'a/a/"):
        Hierarchy.from_paths(["a/" * 50_000 + "a"], "/")
    path.write_text("".join(f"x\t{number}\n" for number in range(50_000)))
    assert len(read_parents(path).ancestors("x")) == 50_000


def test_a_vocabulary_with_broken_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('uri,label_en\n<http://x/1>,"never closed\n' + "x" * 300_000 + "\n")
    assert read_label_vocabulary(path).names["en"]["http://x/1"].startswith("never closed")
    path.write_bytes(b"uri,label_en\n<http://x/1>,a\x00b\n<http://x/2>\n")
    with pytest.raises(DataError, match=r"line [23]: The row"):
        read_label_vocabulary(path)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("kind", ["{}", "numeric {}", "{{{}", "'{}"])
def test_arff_headers_of_blanks(kind, tmp_path):
    path = tmp_path / "a.arff"
    path.write_text("@relation r\n@attribute a" + kind.format(" " * 200_000 + "x") + "\n@data\n1\n")
    with pytest.raises(DataError, match=r"a\.arff(, line 2)?: "):
        read(path)


@pytest.mark.usefixtures("quick")
def test_arff_rows_of_quotes_and_pairs(tmp_path):
    path = tmp_path / "a.arff"
    head = "@relation 'r: -C 1'\n@attribute a {0,1}\n@attribute b string\n@data\n"
    for row in ("'" * 200_001, "2," + "'a' " * 100_000, "{" + "0 '" * 100_000 + "}", "{" + "0 1," * 100_000 + "}"):
        path.write_text(f"{head}{row}\n1,'a, \\'b'\n{{1 'c, d'}}\n")
        reading = read(path, on_error="skip")
        assert reading.corpus.fields["b"] == ["a, 'b", "c, d"]
        assert [problem.line for problem in reading.skipped] == [5]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "text", ["<!--" * 200_000, "<script" * 200_000, "<a " * 200_000, "&#" + "9" * 9000 + ";", "<!-- a -->" * 50_000]
)
def test_markup_without_ends(text):
    assert isinstance(without_markup(text), str)
    has_markup([text])


@pytest.mark.parametrize(
    "pattern", [r"(a+)+$", r"(a|aa)+$", r"(a*)*b", r"(\w+\s?)+", r"(\w+)\1", "(" * 300 + ")" * 300]
)
def test_patterns_that_could_run_without_end_are_refused(pattern):
    with pytest.raises(ParameterError, match=r"tokens must be .*a repetition that backtracks"):
        Vectorizer(tokens=pattern).fit(["a"])


@pytest.mark.parametrize(
    "pattern", [r"\w+", r"(?u)\b\w\w+\b", r"\w+(?:[-']\w+)*", r"(?:[a-z]\.)+", r"#?\w+|\d+(?:,\d+)*"]
)
def test_usual_patterns_are_allowed(pattern):
    text = "u.s.a. it's a well-known 1,000"
    assert set(Vectorizer(tokens=pattern).fit([text]).terms_) == set(re.findall(pattern, text))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "text", ["a = " + "[" * 1500, "a = " + "{a = " * 1500, "[" + "a." * 5000 + "a]", "a." * 500_000 + "a = 1"]
)
def test_deep_recipes_are_refused(text, tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(text)
    with pytest.raises(DataError, match=r"a\.toml: This is not TOML: keys or values are nested more than 100 deep"):
        read_recipe(path)


@pytest.mark.parametrize(
    "text", ["method = 3", "method = ['a']", "model = 3\nmethod = 'svm'", "method = 'svm'\nx = 1979-05-27"]
)
def test_recipes_of_wrong_types_are_refused(text):
    with pytest.raises(ParameterError):
        Recipe.from_toml(text)


@pytest.mark.usefixtures("quick")
def test_keyword_rules_of_60_000_terms_are_refused(tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text("x: " + " OR ".join(f"word{number}" for number in range(60_000)))
    with pytest.raises(DataError, match=r"more than 50,000 words"):
        rules_text(path)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("form", ["x: {}", "{}: word7"])
def test_keyword_rules_of_many_prefixes_or_labels(form):
    words = [f"word{number}" for number in range(20_000)]
    lines = [form.format(word + "*" if form.startswith("x") else word) for word in words]
    names = ["x"]
    with warnings.catch_warnings(action="ignore"):
        names, _ = with_rule_labels("\n".join(lines), names, Csr((2, 1)))
    matcher = keyword_matcher("\n".join(lines), {}, names, None, 1)
    assert matcher.transform(["one word7 two", "nothing"]).nnz in (1, 20_000)


def test_errors_show_a_piece_of_a_long_query(tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text("x: " + "word " * 200_000 + "(")
    with pytest.raises(DataError, match=r"rules.txt, line 1: The query ends") as caught:
        rules_text(path)
    assert len(str(caught.value)) < 1000


def test_parquet_of_equal_rows(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    rows = pyarrow.array([0] * 2_000_000, pyarrow.int32())
    texts = pyarrow.DictionaryArray.from_arrays(rows, pyarrow.array(["the same text"]))
    with pyarrow.parquet.ParquetWriter(tmp_path / "a.parquet", pyarrow.schema([("text", texts.type)])) as writer:
        for _ in range(10):
            writer.write_table(pyarrow.table({"text": texts}))
    long = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * 5000, pyarrow.int32()), pyarrow.array(["x" * 900_000])
    )
    pyarrow.parquet.write_table(pyarrow.table({"text": long}), tmp_path / "b.parquet")
    dates = pyarrow.array([2**62, 0], pyarrow.timestamp("ms"))
    pyarrow.parquet.write_table(pyarrow.table({"text": ["x", "y"], "date": dates}), tmp_path / "c.parquet")
    found = read_all(sorted(tmp_path.glob("*.parquet")), tmp_path)
    assert "limits={'expansion': " in found["a.parquet"]
    assert "limits={'expansion': " in found["b.parquet"]
    assert "The Parquet file cannot be read" in found["c.parquet"]


def test_parquet_that_announces_other_rows(tmp_path):
    pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    path.write_bytes((Path(__file__).parent / "hostile" / "other-rows.parquet").read_bytes())
    with pytest.raises(DataError, match=r"a\.parquet: The Parquet file cannot be read"):
        read(path)


def test_saved_results_of_strangers(tmp_path):
    path = tmp_path / "a.json"
    for text in (
        "[" * 100_000,
        "3",
        "[]",
        "[3]",
        '{"results": 3}',
        '{"results": [3]}',
        '{"results": {"a": 1}}',
        "\\ud800",
    ):
        path.write_text(text)
        run_one(path)


def run_one(path):
    from manylabel.tasks.evaluate import saved_results

    with pytest.raises(DataError, match=r"a\.json"):
        saved_results([path])


def test_numbers_of_json_keep_their_meaning(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "x", "labels": ["a"], "n": 12}) + "\n")
    assert read(path).corpus.metadata["n"] == [12]


@pytest.mark.parametrize(
    "value", ["²", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "1" * 5000 + "-", "x" * 10**6]
)
def test_odd_dates_are_refused(value):
    with pytest.raises(DataError, match=r"document 1 has .* which cannot be read as a date"):
        read_dates(["1987-02-26", value])
