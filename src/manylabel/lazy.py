"""Public names of a package that are imported when they are first used, so that importing the package costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package whose public names are defined in its modules.

    `modules` maps each module, named relative to the package, to the names it defines, as in an import statement: "load
    as load_corpus" is the module's `load` under another name. The package lists the names in `__all__` and imports them
    for type checkers:

        __all__ = ["LinearSVM"]

        if TYPE_CHECKING:
            from manylabel.models.linear_svm import LinearSVM
        else:
            __getattr__, __dir__ = lazy_names(__name__, {"linear_svm": "LinearSVM"})

    No public name may be the name of a module of the package: importing the module would replace it.
    """
    origins = {
        public or name: (f"{package}.{module}", name)
        for module, names in modules.items()
        for name, _, public in (entry.partition(" as ") for entry in names.split(", "))
    }

    def find(name: str) -> object:
        if name not in origins:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = origins[name]
        value: object = getattr(import_module(module), attribute)
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return find, list_names
