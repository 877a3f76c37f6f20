"""Point 7 of the first-hour list: labels that differ only in case, blanks or Unicode form."""

import json
import unicodedata

import pytest

from manylabel.cli.run import run
from manylabel.data import label_spellings, load, merge_spellings

CAFE, DECOMPOSED = "Café", unicodedata.normalize("NFD", "Café")


@pytest.fixture
def data(tmp_path):
    rows = [
        {"text": f"the {word} is down", "labels": labels}
        for word, labels in [
            ("vpn", ["VPN"]),
            ("vpn", ["VPN"]),
            ("vpn", ["vpn"]),
            ("bar", [CAFE]),
            ("bar", [DECOMPOSED]),
        ]
    ]
    path = tmp_path / "tickets.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows * 4))
    return path


@pytest.mark.parametrize("sign", ["/", "-", "&", ","])
def test_blanks_around_a_sign_are_no_difference(sign: str) -> None:
    spaced, close, other = f"Einkauf {sign} Beschaffung", f"Einkauf{sign}Beschaffung", "Einkauf Beschaffung"
    assert merge_spellings([[spaced], [spaced], [close, other]]) == [[spaced], [spaced], [spaced, other]]


def test_point_7_spellings_are_found():
    """Point 7: case, surrounding and repeated blanks, composed and decomposed characters; addresses stay apart."""
    sets = [["a b"], ["A  b"], [" a b "], [CAFE], [DECOMPOSED], ["http://x.org/A"], ["http://x.org/a"], ["c"], ["ca"]]
    assert label_spellings(sets) == [{" a b ": 1, "A  b": 1, "a b": 1}, {DECOMPOSED: 1, CAFE: 1}]
    assert label_spellings([["a"], ["b"]]) == []


def test_point_7_the_most_frequent_spelling_is_kept():
    """Point 7: documents with both spellings have the label once; a model's spelling comes first."""
    sets = [["VPN", "mail"], ["VPN"], ["vpn", "VPN"], ["Mail"], ["mail"]]
    assert merge_spellings(sets) == [["VPN", "mail"], ["VPN"], ["VPN"], ["mail"], ["mail"]]
    assert merge_spellings(sets, ["vpn"]) == [["mail", "vpn"], ["vpn"], ["vpn"], ["mail"], ["mail"]]
    assert merge_spellings([["Straße"], ["STRASSE"], ["STRASSE"]]) == [["STRASSE"]] * 3


@pytest.mark.parametrize("command", ["describe", "train"])
def test_point_7_spellings_are_reported(data, command, tmp_path, capfd):
    """Point 7: with names and counts, and the option."""
    options = ["--model", str(tmp_path / "a.manylabel"), "--method", "nb-binary"] if command == "train" else []
    assert run([command, str(data), *options]) == 0
    captured = capfd.readouterr()
    reported = f"'{CAFE}' (4) and {DECOMPOSED!a} (4); 'VPN' (8) and 'vpn' (4). Use --merge-labels to merge them."
    found = "2 labels have several spellings that differ only in case, blanks or Unicode form"
    assert f"{found}: {reported}" in captured.err
    if command == "describe":
        assert "VPN (8) and vpn (4). Merge them with --merge-labels." in captured.out
        assert run(["describe", str(data), "--merge-labels", "--json"]) == 0
        labels = json.loads(capfd.readouterr().out)["labels"]
        assert {one["label"]: one["documents"] for one in labels["by_frequency"]} == {"VPN": 12, CAFE: 8}
        assert labels["spellings"] == []


def test_point_7_a_model_keeps_its_spellings(data, tmp_path, capfd):
    """Point 7: documents to evaluate on get the spellings of a model that was trained with --merge-labels."""
    model = tmp_path / "a.manylabel"
    assert run(["train", str(data), "--merge-labels", "--model", str(model), "--method", "nb-binary"]) == 0
    assert "They are merged." in capfd.readouterr().err
    new = tmp_path / "new.jsonl"
    new.write_text('{"text": "the vpn is down", "labels": ["vpn"]}\n{"text": "the vpn fails", "labels": ["Vpn"]}\n')
    assert run(["evaluate", str(new), "--model", str(model), "--json"]) == 0
    captured = capfd.readouterr()
    assert "1 label has several spellings" in captured.err
    assert json.loads(captured.out)["results"][0]["metrics"]["all"]["micro-recall"] == 1.0


def test_point_7_spellings_are_merged_in_python(data):
    """Point 7: `load` has the option too."""
    assert load(data, merge_labels=True).corpus.label_names == [CAFE, "VPN"]
