"""What machines can guard: import cost, public names, no pickle, no upward imports."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import manylabel

SOURCE = Path(manylabel.__file__).parent


def all_modules_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def modules_after(statement: str) -> set[str]:
    return {name.split(".")[0] for name in all_modules_after(statement)}


def test_importing_manylabel_imports_nothing_heavy() -> None:
    assert not modules_after("import manylabel") & {"numpy", "scipy", "sklearn", "rich", "typer"}


def test_the_command_table_imports_nothing_heavy() -> None:
    assert not modules_after("import manylabel.cli.app") & {
        "numpy",
        "scipy",
        "sklearn",
        "rich",
        "safetensors",
    }


def test_predicting_with_a_saved_model_does_not_import_scikit_learn(tmp_path: Path) -> None:
    path = tmp_path / "model.manylabel"
    texts = ["late bus", "a hole in the road", "bus and road"]
    manylabel.TextClassifier("nb-binary").fit(texts, [["buses"], ["roads"], ["buses", "roads"]]).save(path)
    used = modules_after(
        f"import manylabel; m = manylabel.TextClassifier.load({str(path)!r}); assert m.predict(['bus']) == [['buses']]"
    )
    assert "sklearn" not in used


def test_predicting_with_a_saved_model_imports_nothing_that_only_learning_needs(tmp_path: Path) -> None:
    path = tmp_path / "model.manylabel"
    texts = ["late bus", "a hole in the road", "bus and road"] * 4
    labels = [["buses"], ["roads"], ["buses", "roads"]] * 4
    manylabel.TextClassifier("svm", model={"C": 1.0}).fit(texts, labels).save(path)
    used = all_modules_after(
        f"import manylabel; m = manylabel.TextClassifier.load({str(path)!r}); assert m.predict(['bus']) == [['buses']]"
    )
    learning = {
        "data.splits",
        "data.stratification",
        "decisions.guarantee",
        "decisions.logistic_curves",
        "evaluation.expected",
        "explaining",
        "features.keyword_queries",
        "features.keywords",
        "kernels.linear_solvers",
        "metrics.counts",
    }
    assert "manylabel.models.linear_svm" in used
    assert not used & {f"manylabel.{name}" for name in learning}


def test_nothing_unpickles_or_evaluates() -> None:
    forbidden = re.compile(r"\b(pickle|joblib|cloudpickle|marshal)\b|\b(eval|exec)\(|allow_pickle=True")
    found = [
        f"{path.name}:{number}"
        for path in [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyx")]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if forbidden.search(line) and "no pickle" not in line.lower()
    ]
    assert found == []


def test_no_file_is_longer_than_four_hundred_lines() -> None:
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}


def test_libraries_do_not_print() -> None:
    printing = re.compile(r"^\s*print\(")
    for path in SOURCE.rglob("*.py"):
        assert not any(printing.match(line) for line in path.read_text(encoding="utf-8").splitlines()), path


@pytest.mark.parametrize("name", manylabel.__all__)
def test_public_names_are_there_and_documented(name: str) -> None:
    value = getattr(manylabel, name)
    assert name == "__version__" or value.__doc__


def test_every_module_is_in_a_room_of_the_house() -> None:
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert not rooms & {"utils", "helpers", "common", "misc", "core", "lib"}
