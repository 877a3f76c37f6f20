"""The examples run as their reader runs them, without warnings, and print what they are about."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PRINTED = {
    "01_first_model": [
        r"415 training documents, 190 test documents, 29 labels",
        r"test documents: 0\.7\d",
        r"predicted labels: \['environment/waste', 'transport/buses'\]",
        r"agrees: True",
    ],
    "02_your_own_csv": [r"without a label: 1", r"\[\['roads'\], \['buses'\]\]"],
    "03_metric_and_decision_rule": [r"metric micro-f1: micro-f1 0\.7", r"rule top-k: .* 2\.0 labels per document"],
    "04_compare_methods": [r"svm: micro F1 0\.7\d, 95 % interval 0\.\d\d to 0\.\d\d", r"a real difference: True"],
    "05_own_features": [r"scores: \(50, 3\) kind: margin", r"correct cells: 0\.[89]", r"of the chain: 0\.[89]"],
    "06_hierarchy": [r"buses is transport\n", r"late again\. \['transport/buses'\]", r"its area: True"],
    "07_explain_by_evidence": [r"environment/waste: predicted.*\n  \+0.\d+ bin, written bin\n", r"It hangs on: bus\n"],
    "08_guarantee": [r"with the guarantee: recall 0\.[89]\d", r"guaranteed recall 0\.9, from \d+ held-out documents"],
    "10_scikit_learn": [
        r"three folds: \[0\.7\d 0\.7\d 0\.7\d\]",
        r"best: \{'model__C': 1\.0\} with micro F1 0\.7\d",
        r"the copy agrees: True",
        r"test documents: 0\.7\d",
        r"passed: [67]\d\n",
        r"failed: 0\n",
        r"xfail: 1\n",
    ],
    "11_update_a_model": [
        r"added: \['transport/buses'\] unchanged labels: 28",
        r"same scores: True",
        r"\[\[.*'transport/buses'.*\]\]",
        r"True False\nnew labels learned alone \(115 new documents\)\nnames and columns \(0 new documents\)",
    ],
    "12_describe_labels": [
        r"no labelled documents: micro F1 0\.[34]",
        r"\[\[.*'education/school-places'.*\]\]",
        r"documents and descriptions: micro F1 0\.[45]",
        r"descriptions only: \['leisure/allotments'\]",
    ],
    "09_classical_methods": [r"nb-binary +micro F1 0\.6", r"svm +micro F1 0\.7"],
}


def test_every_example_is_run_and_listed() -> None:
    names = sorted(path.stem for path in EXAMPLES.glob("*.py"))
    assert names == sorted(PRINTED)
    listed = re.findall(r"\]\((\w+)\.py\)", (EXAMPLES / "README.md").read_text(encoding="utf-8"))
    assert listed == names


def check(name: str, printed: str, folder: Path) -> None:
    for pattern in PRINTED[name]:
        assert re.search(pattern, printed), f"{pattern} is not in\n{printed}"
    assert not list(folder.iterdir()), "an example leaves no files behind"


def test_the_first_example_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    name = min(PRINTED)
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    check(name, done.stdout, tmp_path)


@pytest.mark.parametrize("name", sorted(PRINTED)[1:])
def test_the_example_prints_what_it_is_about(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, which has imported everything and turns warnings into errors."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    check(name, capsys.readouterr().out, tmp_path)
