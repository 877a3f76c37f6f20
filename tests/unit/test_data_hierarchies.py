"""Label hierarchies from names, files of parents and SKOS; wrong ones are reported with file and line."""

import gzip
import socket
import sys
import urllib.request
import warnings
from pathlib import Path

import pytest

from manylabel.data.hierarchy import Hierarchy, find_hierarchy, find_separator, read_parents
from manylabel.data.problems import Problems
from manylabel.data.skos import read_skos, read_thesaurus
from manylabel.exceptions import DataError, MissingDataError, MissingExtraError

TURTLE = '''
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@base <http://example.org/> .
PREFIX ex: <http://example.org/c/>
# a remark; with . marks
ex:animal a skos:Concept ; skos:prefLabel "animal"@en , "Tier"@de .
ex:cat skos:broader ex:animal ;
    skos:prefLabel "cat"@en, "Katze"@de ;
    skos:note [ skos:value "in brackets; skos:broader ex:nothing" ; skos:list ( 1 2.5 true ) ] ; .
<c/lion> skos:broader ex:cat; skos:prefLabel """a "big" \\u006Cion"""@en, 'L\\u00f6we'@de-AT .
ex:animal skos:narrower ex:dog.v2 .
ex:dog.v2 skos:prefLabel "dog"@en ; skos:notation "d1"^^<http://example.org/type> ; skos:weight -1.5e3 .
'''

NTRIPLES = """\
<http://x/cat> <http://www.w3.org/2004/02/skos/core#broader> <http://x/animal> .
<http://x/cat> <http://www.w3.org/2004/02/skos/core#prefLabel> "cat"@en .
_:b1 <http://x/about> <http://x/cat> .
"""

RDF = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#"
         xml:base="http://x/" xml:lang="en">
  <skos:Concept rdf:about="animal"><skos:prefLabel>animal</skos:prefLabel></skos:Concept>
  <rdf:Description rdf:about="http://x/cat">
    <skos:broader rdf:resource="animal"/>
    <skos:prefLabel>cat</skos:prefLabel>
    <skos:prefLabel xml:lang="de">Katze</skos:prefLabel>
    <skos:definition rdf:parseType="Literal"><b>not <skos:broader rdf:resource="x"/></b></skos:definition>
  </rdf:Description>
  <skos:Concept rdf:ID="lion">
    <skos:broader><skos:Concept rdf:about="cat"/></skos:broader>
    <skos:prefLabel>lion</skos:prefLabel>
  </skos:Concept>
  <skos:Concept rdf:about="animal"><skos:narrower rdf:resource="dog"/></skos:Concept>
</rdf:RDF>
"""

BOMB = """<?xml version="1.0"?>
<!DOCTYPE rdf [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&b;</rdf:RDF>
"""


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# ---- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "separator"),
    [
        (["a/x", "a/y", "b"], "/"),
        (["a::x", "a::y", "b::z"], "::"),
        (["a > x", "a > y"], " > "),
        (["a / x", "a / y"], " / "),
        (["a--x/1", "a--y", "a"], "--"),
        (["a.x", "a"], "."),
    ],
)
def test_separator_is_found_where_there_is_no_doubt(names: list[str], separator: str) -> None:
    assert find_separator(names) == separator


@pytest.mark.parametrize("names", [["a", "b"], ["a/x::1", "a/x::2", "a/y::1"], ["input/output", "noise", "heat"]])
def test_separator_in_doubt_is_asked_for(names: list[str]) -> None:
    with pytest.raises(DataError, match="names:/"):
        find_separator(names)


def test_names_of_any_depth() -> None:
    tree = find_hierarchy("names:/", ["a/b/c", "a/d", "e"])
    assert tree.parents == {"a/b/c": "a/b", "a/b": "a", "a/d": "a"}
    assert tree.close(["a/b/c"]) == ["a", "a/b", "a/b/c"]
    assert find_hierarchy("names", ["a/b", "a/d"]).labels == ["a", "a/b", "a/d"]


def test_a_name_that_begins_with_the_separator_is_a_root() -> None:
    assert Hierarchy.from_paths(["/a", "b/"], "/").parents == {"b/": "b"}


def test_names_without_the_separator() -> None:
    with pytest.raises(DataError, match="No label name has '::' between two levels"):
        find_hierarchy("names:::", ["a/b"])
    with pytest.raises(DataError, match="separator of a label hierarchy is empty"):
        find_hierarchy("names:", ["a/b"])


@pytest.mark.parametrize("parents", [{"a": "b", "b": "a"}, {"a": "a"}, {"x": "a", "a": "b", "b": "c", "c": "a"}])
def test_cycles_are_refused(parents: dict[str, str]) -> None:
    with pytest.raises(DataError, match="cycle through"):
        Hierarchy(parents)


def test_a_deep_hierarchy_is_checked_in_no_time() -> None:
    chain = {str(node): str(node + 1) for node in range(5_000)}
    assert len(Hierarchy(chain).ancestors("0")) == 5_000


# ---- files of parents ------------------------------------------------------------------------------------------------


def test_a_file_of_parents(tmp_path: Path) -> None:
    path = _write(tmp_path, "areas.tsv", "# areas\nroads\tstreets\n\nparking \t streets\r\nroads\tstreets\n")
    assert find_hierarchy(str(path), ["roads", "noise"]).parents == {"roads": "streets", "parking": "streets"}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("roads\tstreets\nparking streets\n", 2, "'parking streets'"),
        ("roads\tstreets\tcity\n", 1, "The line must hold a child and its parent"),
        ("roads\t\n", 1, "The line must hold a child and its parent"),
        ("roads\troads\n", 1, "'roads' is its own parent"),
    ],
)
def test_wrong_lines(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = _write(tmp_path, "areas.tsv", text)
    with pytest.raises(DataError, match=problem) as error:
        read_parents(path)
    assert f"areas.tsv, line {line}:" in str(error.value)


def test_bad_lines_of_parents_are_skipped(tmp_path: Path) -> None:
    problems = Problems("skip")
    path = _write(tmp_path, "areas.tsv", "roads\tstreets\nroads\troads\nwrong\n")
    assert read_parents(path, problems).parents == {"roads": "streets"}
    assert [problem.line for problem in problems.skipped] == [2, 3]


def test_point_11_a_label_may_have_several_parents(tmp_path: Path) -> None:
    """Point 11 of the first hour: polyhierarchies are read, and ancestors follow all parents."""
    tree = read_parents(_write(tmp_path, "areas.tsv", "roads\tstreets\nroads\ttraffic\nstreets\tcity\n"))
    assert tree.parents == {"roads": "streets", "streets": "city"}
    assert tree.further_parents == {"roads": ("traffic",)}
    assert tree.ancestors("roads") == ["streets", "traffic", "city"]
    assert tree.children("traffic") == ["roads"]
    assert tree.labels == ["city", "roads", "streets", "traffic"]
    assert tree.close(["roads"]) == ["city", "roads", "streets", "traffic"]
    nodes, parents = tree.columns(["roads"])
    assert (nodes, parents.tolist()) == (["roads", "city", "streets"], [2, -1, 1])
    with pytest.raises(DataError, match="cycle"):
        Hierarchy({"a": "b", "b": "c"}, {"b": ("a",)})


def test_files_that_hold_no_hierarchy(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"areas\.tsv: The file has no child with a parent"):
        read_parents(_write(tmp_path, "areas.tsv", "# nothing\n"))
    with pytest.raises(DataError, match=r"areas\.tsv.*cycle"):
        read_parents(_write(tmp_path, "areas.tsv", "a\tb\nb\ta\n"))
    with pytest.raises(MissingDataError):
        read_parents(tmp_path / "no-such-file.tsv")
    path = _write(tmp_path, "areas.tsv", "roads\tstreets\n")
    with pytest.raises(DataError, match="None of the 1 label of the data is in the hierarchy"):
        find_hierarchy(str(path), ["buses"])


# ---- SKOS ------------------------------------------------------------------------------------------------------------


def test_turtle(tmp_path: Path) -> None:
    path = _write(tmp_path, "animals.ttl", TURTLE)
    german = read_skos(path, language="DE")
    assert german.parents["Katze"] == "Tier"
    english = find_hierarchy(str(path), ["cat", "dog"])
    assert english.parents == {"cat": "animal", 'a "big" lion': "cat", "dog": "animal"}
    assert find_hierarchy(str(path), ["http://example.org/c/cat"]).parents["http://example.org/c/lion"] == (
        "http://example.org/c/cat"
    )
    assert find_hierarchy(str(path), ["lion", "dog.v2"]).parents["dog.v2"] == "animal"


def test_turtle_names_and_links_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = read_thesaurus(_write(tmp_path, "animals.ttl", TURTLE))
    ex = "http://example.org/c/"
    assert found.names["en"][f"{ex}lion"] == 'a "big" lion'
    assert found.names["de-at"] == {f"{ex}lion": "Löwe"}
    assert found.links == [(f"{ex}cat", f"{ex}animal"), (f"{ex}lion", f"{ex}cat"), (f"{ex}dog.v2", f"{ex}animal")]
    assert found.concepts == {f"{ex}{name}" for name in ("animal", "cat", "lion", "dog.v2")}


def test_addresses_stay_relative_where_the_file_names_no_base(tmp_path: Path) -> None:
    broader = "<http://www.w3.org/2004/02/skos/core#broader>"
    assert read_skos(_write(tmp_path, "x.ttl", f"<cat> {broader} <animal> .")).parents == {"cat": "animal"}


def test_concepts_without_address_and_name_are_left_out(tmp_path: Path) -> None:
    text = TURTLE + 'ex:cow skos:broader [ skos:prefLabel "cattle"@en ] . ex:pig skos:broader [ a skos:Concept ] .'
    parents = read_skos(_write(tmp_path, "x.ttl", text), language="en").parents
    assert parents["http://example.org/c/cow"] == "cattle"
    assert "http://example.org/c/pig" not in parents


def test_skos_without_rdflib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'manylabel\[skos\]'"):
        read_skos(_write(tmp_path, "animals.ttl", TURTLE))


def test_rdflib_prints_and_logs_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    odd = f'{TURTLE}\nex:cat skos:date "yesterday"^^<http://www.w3.org/2001/XMLSchema#date> ; skos:seeAlso <a|b> .'
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        read_skos(_write(tmp_path, "animals.ttl", odd), language="en")
    assert capfd.readouterr() == ("", "")


def test_nothing_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("A connection was attempted.")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    doctype = '<!DOCTYPE rdf:RDF SYSTEM "http://example.org/rdf.dtd">\n<rdf:RDF '
    assert read_skos(_write(tmp_path, "x.rdf", RDF.replace("<rdf:RDF ", doctype)), language="en").parents
    imports = f"{TURTLE}\n<> <http://www.w3.org/2002/07/owl#imports> <http://example.org/more> ."
    assert read_skos(_write(tmp_path, "x.ttl", imports), language="en").parents
    context = '{"@context": "http://example.org/context.jsonld", "@id": "http://x/cat"}'
    with pytest.raises(DataError, match="cannot be read as Turtle"):
        read_skos(_write(tmp_path, "x.skos", context))


def test_n_triples_packed(tmp_path: Path) -> None:
    path = tmp_path / "animals.nt.gz"
    path.write_bytes(gzip.compress(NTRIPLES.encode()))
    assert find_hierarchy(str(path), ["cat"]).parents == {"cat": "http://x/animal"}


def test_rdf_xml(tmp_path: Path) -> None:
    path = _write(tmp_path, "animals.rdf", RDF)
    tree = read_skos(path, labels=["cat", "lion"])
    assert tree.parents == {"cat": "animal", "http://x/dog": "animal", "lion": "cat"}
    assert read_skos(path, language="de").parents["Katze"] == "http://x/animal"


def test_entities_are_refused_before_they_expand(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"bomb\.rdf, line 2: The file declares the entity 'a'"):
        read_thesaurus(_write(tmp_path, "bomb.rdf", BOMB))
    outside = BOMB.replace('"aaaaaaaaaa"', 'SYSTEM "file:///etc/hostname"')
    with pytest.raises(DataError, match="entities are not read"):
        read_thesaurus(_write(tmp_path, "bomb.rdf", outside))


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("x.rdf", "<?xml version='1.0'?>\n<a><b></a>", "line 2: The file is not XML"),
        ("x.rdf", "<?xml version='1.0'?>\n<a", "line 2: The file is not XML"),
        ("x.rdf", RDF.replace('rdf:about="animal"', 'rdf:bagID="x"'), "x.rdf"),
        (
            "x.ttl",
            "ex:cat ex:broader ex:animal .",
            'line 1: The file cannot be read as Turtle (Prefix "ex:" not bound)',
        ),
        ("x.ttl", "<a> <b>\n<c>", "line 2: The file ends within a statement"),
        ("x.ttl", "<a> <b> <c>\n<d> <e> .", "line 2: "),
        ("x.ttl", "<a> <b>", "line 1: The file ends within a statement"),
        ("x.ttl", '<a> <b> "open .\n', "line 1: "),
        ("x.ttl", "@prefix ex <http://x/> .", "line 1: "),
        ("x.ttl", "<a> <b> <c> .\n<d> [ <e> <f>", "line 2: The file ends within a statement"),
        ("x.ttl", "<a> <b> <c> .", "no skos:broader or skos:narrower"),
        ("x.ttl", '<a> <b> "\\UFFFFFFFF" .', "x.ttl"),
        ("x.ttl", '<a> <b> "a"@- .', "x.ttl"),
    ],
)
def test_wrong_thesauri(tmp_path: Path, name: str, text: str, problem: str) -> None:
    with pytest.raises(DataError) as error:
        read_skos(_write(tmp_path, name, text))
    assert problem in str(error.value)
    assert name in str(error.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_bytes(b'<a> <b> "ok" .\n<a> <b> "\xff" .')
    with pytest.raises(DataError, match="line 2: The file is not UTF-8"):
        read_skos(path)


def test_languages_must_be_named_or_told_by_the_labels(tmp_path: Path) -> None:
    path = _write(tmp_path, "animals.ttl", TURTLE)
    with pytest.raises(DataError, match=r"several languages\. Found: 'de', 'de-at', 'en'"):
        read_skos(path)
    with pytest.raises(DataError, match="no skos:prefLabel in the language 'fr'"):
        read_skos(path, language="fr")
    with pytest.raises(DataError, match="None of the 1 label of the data is the address or the skos:prefLabel"):
        find_hierarchy(str(path), ["Vogel"])


def test_point_11_several_broader_concepts(tmp_path: Path) -> None:
    """Point 11 of the first hour: a concept with two broader concepts keeps both."""
    text = NTRIPLES + NTRIPLES.splitlines()[0].replace("animal", "pet") + "\n"
    found = find_hierarchy(str(_write(tmp_path, "pets.nt", text)), ["cat"])
    assert found.parents_of("cat") == ["http://x/animal", "http://x/pet"]


@pytest.mark.parametrize("base", ["@base <http://x/v#> .", "BASE <http://x/v#>", "@base <http://x/v> ."])
def test_point_11_the_base_of_a_turtle_file(tmp_path: Path, base: str) -> None:
    """Point 11 of the first hour: relative addresses are resolved against ``@base``."""
    text = f'{base}\n<#cat> <http://www.w3.org/2004/02/skos/core#prefLabel> "cat"@en .'
    assert read_thesaurus(_write(tmp_path, "x.ttl", text)).concepts == {"http://x/v#cat"}


def test_a_cycle_of_concepts(tmp_path: Path) -> None:
    turned = NTRIPLES.splitlines()[0].replace("/cat>", "/x>").replace("/animal>", "/cat>").replace("/x>", "/animal>")
    path = _write(tmp_path, "cycle.nt", NTRIPLES + turned + "\n")
    with pytest.raises(DataError, match=r"cycle\.nt: The label hierarchy has a cycle"):
        find_hierarchy(str(path), ["cat"])


def test_concepts_of_one_name_go_by_their_addresses(tmp_path: Path) -> None:
    text = NTRIPLES + (
        '<http://x/cat2> <http://www.w3.org/2004/02/skos/core#prefLabel> "cat"@en .\n'
        "<http://x/cat2> <http://www.w3.org/2004/02/skos/core#broader> <http://x/tool> .\n"
    )
    tree = read_skos(_write(tmp_path, "x.nt", text), language="en")
    assert tree.parents == {"http://x/cat": "http://x/animal", "http://x/cat2": "http://x/tool"}
