"""What a class may offer is declared in its base class with a default; nothing finds out by probing."""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import manylabel
from manylabel.decisions.base import DecisionRule
from manylabel.estimator import Estimator
from manylabel.models.base import MultiLabelModel

SOURCE = Path(manylabel.__file__).parent
DECLARING = ("estimator.py", "models/base.py", "decisions/base.py", "kernels/", "strategies/scikit_learn_model.py")
"""The base classes, the choice between compiled kernels and their twins, and the adapter of scikit-learn."""

FOREIGN = {
    "shape": "arrays, sparse matrices and data frames, as opposed to lists",
    "item": "NumPy's numbers",
    "fit_resample": "the samplers of imbalanced-learn",
    "O_BINARY": "a constant that only Windows has",
}
"""Names that may be looked up on objects that are not ours, and whose they are."""


def probes(tree: ast.AST) -> Iterator[str]:
    """Every probe in a module: a literal name looked up, a parameter found by the end of its name, `__dict__`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            yield "__dict__"
        if not isinstance(node, ast.Call):
            continue
        literals = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if called in ("getattr", "hasattr") and literals and literals[0] not in FOREIGN:
            yield f"{called} {literals[0]!r}"
        if called in ("partition", "rpartition", "split", "rsplit") and "__" in literals:
            yield f"{called} '__'"


def modules() -> list[str]:
    names = [path.relative_to(SOURCE).as_posix() for path in sorted(SOURCE.rglob("*.py"))]
    return [name for name in names if not name.startswith(DECLARING)]


@cache
def found_in(name: str) -> tuple[list[str], set[Any]]:
    """The probes in a module, and the constants that it gives to getattr and hasattr; both tests need its tree."""
    tree = ast.parse((SOURCE / name).read_text(encoding="utf-8"))
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr")
    ]
    return list(probes(tree)), {one.value for call in calls for one in call.args if isinstance(one, ast.Constant)}


@pytest.mark.parametrize("name", modules())
def test_nothing_probes(name: str) -> None:
    assert found_in(name)[0] == []


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_names_are_not_ours(name: str) -> None:
    """A name that a base class of ours declares is asked for directly, whatever the object."""
    for base in (Estimator, MultiLabelModel, DecisionRule):
        annotated = {key for one in base.__mro__ for key in inspect.get_annotations(one)}
        assert name not in {*dir(base), *annotated}


def test_foreign_names_are_still_looked_up() -> None:
    assert set(FOREIGN) <= {name for module in modules() for name in found_in(module)[1]}


def test_probes_are_found() -> None:
    code = 'hasattr(m, "wants"); getattr(m, "shape", 0); getattr(m, "model_", 0); n.rpartition("__"); self.__dict__'
    assert sorted(probes(ast.parse(code))) == ["__dict__", "getattr 'model_'", "hasattr 'wants'", "rpartition '__'"]
