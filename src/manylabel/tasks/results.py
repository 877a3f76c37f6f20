"""Read results that ``manylabel evaluate --json`` wrote, and put them side by side."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from manylabel.evaluation.comparability import check_comparable
from manylabel.evaluation.result import Result
from manylabel.exceptions import ComparisonError, DataError, MissingDataError


@dataclass(frozen=True, slots=True)
class SavedResults:
    """Results on one data set, measured alike, and how its documents were divided."""

    data: str
    split: str
    results: list[Result]

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, in the form that ``manylabel evaluate --json`` has."""
        return {"split": self.split, "results": [result.as_dict() for result in self.results]}


def saved_results(paths: Sequence[Path]) -> list[SavedResults]:
    """The results of some files, data set by data set; what was not measured alike is refused.

    Files with one data set each are taken to be about the same one, whatever they call it: the hash of the truth says
    whether they are. Files with several must have the same ones. A method that occurs twice is told apart by its file.
    """
    files = {str(path): _read(path) for path in dict.fromkeys(paths)}
    if all(len(groups) == 1 for groups in files.values()):
        return [_side_by_side({path: groups[0] for path, groups in files.items()})]
    names = [group.data for group in next(iter(files.values()))]
    tables = []
    for path, groups in files.items():
        if missing := set(names) ^ {group.data for group in groups}:
            raise ComparisonError(
                f"{path} and {next(iter(files))} do not have results on the same data sets: only one of them has "
                f"{', '.join(sorted(missing))}. Give files with one data set each, or with the same ones."
            )
    for name in names:
        here = {path: next(group for group in groups if group.data == name) for path, groups in files.items()}
        tables.append(_side_by_side(here))
    return tables


def _side_by_side(groups: Mapping[str, SavedResults]) -> SavedResults:
    """One group of results of each file, put together."""
    pairs = [(path, result) for path, group in groups.items() for result in group.results]
    results = [result for _, result in pairs]
    check_comparable(results, [f"{path} ({result.method})" for path, result in pairs])
    twice = {method for method, times in Counter(result.method for result in results).items() if times > 1}
    named = [
        replace(result, method=f"{result.method} ({Path(path).name})") if result.method in twice else result
        for path, result in pairs
    ]
    first = next(iter(groups.values()))
    return SavedResults(first.data, first.split, named)


def _read(path: Path) -> list[SavedResults]:
    """The results of one file, data set by data set."""
    if not path.is_file():
        raise MissingDataError(f"{path}: there is no such file. Make one with: manylabel evaluate DATA --json > {path}")
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(
            "This file is not JSON.",
            path=path,
            line=getattr(error, "lineno", None),
            remedy="Write results with `manylabel evaluate DATA --json`.",
        ) from None
    groups = []
    for group in plain if isinstance(plain, list) else [plain]:
        found = group.get("results") if isinstance(group, Mapping) else None
        if not found:
            raise DataError(
                "There are no results of an evaluation in this file.",
                path=path,
                remedy="Write some with `manylabel evaluate DATA --json`.",
            )
        groups.append(_group(path, str(group.get("split", "")), found))
    return groups


def _group(path: Path, split: str, plain: Sequence[Mapping[str, Any]]) -> SavedResults:
    try:
        results = [Result.from_dict(one) for one in plain]
    except DataError as error:
        raise DataError(error.problem, path=path, remedy=error.remedy) from None
    return SavedResults(results[0].data, split, results)
