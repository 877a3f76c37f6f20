"""Attacks on model files: flipped bytes, cut and extended files, and forgeries whose checksums are correct.

`outcome` reads and uses one attacked file in this process. `campaign` makes many in processes of their own, each file
with limits of time and memory, so that a signal, a hang or a large allocation is counted instead of ending the tests:

    python tests/attacks.py --flips 5000 --cuts 500 --forgeries 5000
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from safetensors.numpy import load as read_arrays

from forging import Arrays, header_of, write_model
from manylabel import TextClassifier, load_corpus
from manylabel.catalog import METHODS, storable_classes
from manylabel.exceptions import ManylabelError
from manylabel.reports.model_page import inspect_page
from manylabel.tasks.models import inspect
from smaller import smaller

SECONDS = 5
MEMORY = 1 << 30
GOOD = ("refused", "same", "answered")
"""Outcomes that are allowed: an error of ours, the answers of the unchanged file, and for a forgery any answers."""
ATTACKS = ("flip", "unverified flip", "cut", "forgery")
Rng = np.random.Generator
Plan = list[tuple[str, int]]
"""Attacks by name, with the number that seeds each."""


# ---- using a model ---------------------------------------------------------------------------------------------------


def small_model(method: str, path: Path) -> None:
    """Write a model of a method, trained on a few documents."""
    corpus = load_corpus("townhall").corpus.split("train").subset(range(60))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        smaller(method).fit(corpus.texts, corpus.label_sets).save(path)


def texts() -> list[Any]:
    """Documents to classify; one has no known term."""
    return [*load_corpus("townhall").corpus.split("test").texts[:12], "", "zzz"]


def answers(path: Path, documents: Sequence[Any], *, verify: bool = True) -> tuple[bytes, ...]:
    """Everything that a model file answers, after each public way to use it."""
    model = TextClassifier.load(path, verify=verify)
    one, all_sets = [model.predict([text]) for text in documents[:2]], model.predict(documents)
    scores, raw = model.predict_scores(documents), model.predict_scores(documents, raw=True)
    top = [prediction.labels for prediction in model.iter_predictions(documents, top=2)]
    shown = repr((one, all_sets, top, model.thresholds, model.recipe, model.guarantee, model.hierarchy, repr(model)))
    evidence = model.decided_.evidence(model.transform(documents[:1]), [0]).toarray()
    model.remarks(documents[:2])
    _ = model._repr_html_(), model.label_addresses, model.reading, model.vocabulary
    if verify:
        inspect_page(inspect(path), None)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "again")
    with contextlib.suppress(ManylabelError):  # most methods cannot learn from more documents
        model.partial_fit(documents[:3], [model.labels_[:1]] * 3)
    return shown.encode(), scores.tobytes(), raw.tobytes(), evidence.tobytes()


def outcome(path: Path, documents: Sequence[Any], expected: tuple[bytes, ...] | None, *, verify: bool) -> str:
    """How a file was received: one of `GOOD`, "changed" answers, or the name of an error that is not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = answers(path, documents, verify=verify)
        except ManylabelError as error:
            causes = _causes(error)
            return "allocation" if any(isinstance(cause, MemoryError) for cause in causes) else "refused"
        except MemoryError:
            return "allocation"
        except Exception as error:  # any error at all is to be counted
            import traceback

            at = traceback.extract_tb(error.__traceback__)[-1]
            return f"foreign {type(error).__name__}: {str(error)[:100]} ({Path(at.filename).name}:{at.lineno})"
    if expected is None:
        return "answered"
    return "same" if found == expected else "changed"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


# ---- attacks ---------------------------------------------------------------------------------------------------------


def attacked(path: Path, to: Path, attack: str, rng: Rng) -> str:
    """Write an attacked copy of a model file; what was changed."""
    content = bytearray(path.read_bytes())
    if attack.endswith("flip"):
        # The header is small beside the arrays, so half of the flips are made in it.
        length = 8 + int.from_bytes(content[:8], "little")
        place = int(rng.integers(length if rng.random() < 0.5 else len(content)))
        content[place] ^= int(rng.integers(1, 256))
        to.write_bytes(content)
        return f"byte {place}"
    if attack == "cut":
        size = int(rng.choice([rng.integers(len(content)), len(content) - rng.integers(1, 64), rng.integers(64)]))
        changed = content[:size] if rng.random() < 0.7 else content + bytes(rng.integers(0, 256, 1 + size % 999, "u1"))
        to.write_bytes(changed)
        return f"{len(changed)} of {len(content)} bytes"
    header, arrays = header_of(path), {name: array.copy() for name, array in read_arrays(bytes(content)).items()}
    how = change_arrays(arrays, rng) if arrays and rng.random() < 0.5 else change_header(header, rng)
    write_model(to, header, arrays)
    return how


def change_arrays(arrays: Arrays, rng: Rng) -> str:
    """Change one array or two in place; what was changed."""
    names = sorted(arrays)
    name, other = (names[int(rng.integers(len(names)))] for _ in range(2))
    how = int(rng.integers(12))
    if how == 0:
        arrays[name], arrays[other] = arrays[other], arrays[name]
        return f"swapped {name} and {other}"
    if how == 1:
        alike = [one for one in names if one != name and arrays[one].nbytes == arrays[name].nbytes]
        if alike:
            other = alike[int(rng.integers(len(alike)))]
            arrays[name], arrays[other] = arrays[other], arrays[name]
        return f"swapped {name} and {other} of the same size"
    if how == 2:
        del arrays[name]
        return f"removed {name}"
    if how == 3:
        arrays[f"{name}.more"] = arrays[name]
        return f"added {name}.more"
    arrays[name] = other_values(arrays[name], rng)
    return f"values of {name}"


def other_values(array: np.ndarray[Any, Any], rng: Rng) -> np.ndarray[Any, Any]:
    """An array like another one, but for its values, its type or its shape."""
    changed = array.copy().ravel()
    how = int(rng.integers(10))
    if how <= 2 and changed.size and changed.dtype.kind in "iu":
        limits = np.iinfo(changed.dtype)
        far = [limits.min, limits.max, 0, 1, 77, changed.max(), changed.size, changed.size - 1, -1, -2, 10**9]
        usable = [number for number in far if limits.min <= number <= limits.max]
        changed[rng.integers(changed.size, size=int(rng.integers(1, 4)))] = usable[int(rng.integers(len(usable)))]
    elif how <= 2 and changed.size and changed.dtype.kind == "f":
        far = [np.nan, np.inf, -np.inf, 1e300, -1e300, 0.0, -1.0, 5e-324]
        with np.errstate(over="ignore"):
            changed[: int(rng.integers(1, changed.size + 1))] = far[int(rng.integers(len(far)))]
    elif how == 3:
        changed = changed[: int(rng.integers(len(changed) + 1))]
    elif how == 4:
        changed = np.concatenate([changed, changed[: int(rng.integers(len(changed) + 1))]])
    elif how == 5:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            changed = changed.astype(
                str(rng.choice(["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8", "b1"]))
            )
    elif how == 6:
        same = {8: ["i8", "u8", "f8"], 4: ["i4", "u4", "f4"], 2: ["i2", "u2"], 1: ["i1", "u1"]}
        changed = changed.view(str(rng.choice(same[changed.dtype.itemsize])))
    elif how == 7:
        return changed.reshape(1, -1) if rng.random() < 0.5 else changed.reshape(-1, 1)
    elif how == 8:
        changed = changed[::-1].copy()
    else:
        changed = changed[rng.permutation(len(changed))]
    return changed.reshape(array.shape) if changed.size == array.size else changed


PLAIN: list[Any] = [
    None, True, False, 0, 1, -1, 7, 2**31, 2**63, 10**30, -(2**40), 0.5, -1.5, 1e308, "", "x", "svm", "text", "none",
    [], {}, [[]], [None], [1, 2, 3], ["a", "a"], {"x": 1}, {"@float": "nan"}, {"@float": "inf"}, {"@float": "x" * 99},
    {"@tuple": []}, {"@tuple": [1, 1]}, {"@words": ["a", "b"]}, {"@words": [[1], 2]}, {"@array": "nowhere"},
    {"@array": None}, {"@array": ["a"]}, {"@strings": 7}, {"@csr": "nowhere", "shape": [1, 1]},
    {"@csr": None, "shape": None}, {"@object": "Threshold", "params": {}, "state": {}}, {"@object": None},
    {"@object": "LinearSVM", "params": {"C": "x"}, "state": {}}, "a" * 100_000, "\ud800", "(a+)+$", "(",
]  # fmt: skip


def nested(depth: int, kind: int) -> Any:
    """A value that is nested deeply: lists, mappings, tuples or estimators."""
    value: Any = 1
    for _ in range(depth):
        value = (
            [value],
            {"x": value},
            {"@tuple": [value]},
            {"@object": "BinaryRelevance", "params": {"model": value}, "state": {}},
        )[kind]
    return value


def change_header(header: dict[str, Any], rng: Rng) -> str:
    """Change one value of a header in place; what was changed."""
    spots = list(_spots(header, ""))
    holder, key, name = spots[int(rng.integers(len(spots)))]
    old, how = holder[key], int(rng.integers(10))
    if how == 0:
        del holder[key]
        return f"removed {name}"
    if how == 1 and isinstance(old, (int, float)):
        holder[key] = [old + 1, old - 1, -old, old * 10**9, old * 2, str(old), [old], old + 0.5][int(rng.integers(8))]
    elif how == 1 and isinstance(old, list):
        holder[key] = [old[1:], old[::-1], old + old, old[:1]][int(rng.integers(4))]
    elif how == 1 and isinstance(old, dict) and "@object" in old:
        classes = sorted(storable_classes())
        holder[key] = {**old, "@object": classes[int(rng.integers(len(classes)))]}
    elif how <= 3:
        source, inner, _ = spots[int(rng.integers(len(spots)))]
        holder[key] = copy.deepcopy(source[inner])
    elif how == 4:
        alike = [source[inner] for source, inner, _ in spots if type(source[inner]) is type(old)]
        holder[key] = copy.deepcopy(alike[int(rng.integers(len(alike)))])
    elif how == 5 and isinstance(old, dict):
        old[str(rng.choice(["more_", "fit", "__class__", "n_labels_", "model_", "@array", "@tuple", "state"]))] = 1
    elif how == 6:
        holder[key] = nested(int(rng.choice([2, 30, 60, 150, 300])), int(rng.integers(4)))
    else:
        holder[key] = copy.deepcopy(PLAIN[int(rng.integers(len(PLAIN)))])
    return f"{name}: {str(old)[:60]} → {str(holder[key])[:60]}"


def _spots(value: Any, name: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield the holder, the key and the path of every value inside a value."""
    inside: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        if name or key != "arrays":
            yield value, key, f"{name}.{key}"
            yield from _spots(inner, f"{name}.{key}")


# ---- many attacks in other processes ---------------------------------------------------------------------------------


def campaign(
    methods: Sequence[str], numbers: dict[str, int], seed: int = 0, report: Callable[[str], None] | None = None
) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Attack the model files of methods; how many attacks had which outcome, and each outcome that is not allowed."""
    counts: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for method in methods:
            path = Path(folder) / f"{method}.manylabel"
            small_model(method, path)
            command = [sys.executable, __file__, "--worker", str(path), "--seed", str(seed)]
            plan = [(attack, number) for attack in ATTACKS for number in range(numbers.get(attack, 0))]
            for (attack, number), how, found in received(path, plan, command):
                kind = found.partition(" ")[0]
                counts[attack, kind] += 1
                if kind not in GOOD:
                    wrong.append(f"{method}, {attack} {number} ({how}): {found}")
                    if report is not None:
                        report(wrong[-1])
    return counts, wrong


def received(path: Path, plan: Plan, command: Sequence[str]) -> Iterator[tuple[tuple[str, int], str, str]]:
    """Yield each attack of a plan, what it changed and its outcome; a process that dies is started anew after it."""
    done = 0
    while done < len(plan):
        how = "?"
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(plan[done:]))
                process.stdin.close()
            for line in process.stdout:
                word, _, rest = line.rstrip("\n").partition(" ")
                if word == "try":
                    how = rest
                else:
                    yield plan[done], how, rest
                    done += 1
        status = process.returncode
        if status > 0:
            raise RuntimeError(f"the process that attacks {path} failed")
        if status < 0 and done < len(plan):
            yield plan[done], how, "hang" if -status in (signal.SIGPROF, signal.SIGALRM) else f"signal {-status}"
            done += 1


def work(path: Path, plan: Plan, seed: int, to: TextIO) -> None:
    """Make the attacks of a plan, one after the other; print each outcome."""
    documents = texts()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = answers(path, documents)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    forged = path.with_suffix(f".{os.getpid()}")
    for attack, number in plan:
        rng = np.random.default_rng([seed, zlib.crc32(path.name.encode()), ATTACKS.index(attack), number])
        to.write(f"try {' '.join(ascii(attacked(path, forged, attack, rng)).split())}\n")
        to.flush()
        # The default action of both signals ends the process, even where a kernel never returns to Python.
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, 20 * SECONDS)
        same = expected if attack in ("flip", "cut") else None
        found = outcome(forged, documents, same, verify=attack != "unverified flip")
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        to.write(f"got {' '.join(found.split())}\n")
        to.flush()
    forged.unlink()


def main() -> int:
    """Attack the model files of all methods, or of those named; print a table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("methods", nargs="*", default=list(METHODS))
    for option in ("flips", "unverified-flips", "cuts", "forgeries", "seed"):
        parser.add_argument(f"--{option}", type=int, default=0)
    parser.add_argument("--worker", type=Path)
    given = parser.parse_args()
    if given.worker is not None:
        work(given.worker, json.load(sys.stdin), given.seed, sys.stdout)
        return 0
    totals = (given.flips, given.unverified_flips, given.cuts, given.forgeries)
    numbers = {attack: -(-total // len(given.methods)) for attack, total in zip(ATTACKS, totals, strict=True)}
    counts, wrong = campaign(given.methods, numbers, given.seed, lambda line: print(line, flush=True))  # noqa: T201
    for (attack, kind), count in sorted(counts.items()):
        print(f"{attack:16} {kind:12} {count:6,}")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
