"""Small files that once took minutes or gigabytes: ``python -m fuzz.denial [NAME …]`` measures each as one command.

Every file must be read or refused within `SECONDS` and `MEGABYTES`, start of the program included.
"""

from __future__ import annotations

import gzip
import io
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzz.judging import say

SECONDS, MEGABYTES = 5.0, 500
PATIENCE = 60
"""Seconds of CPU time after which a command is ended; a command that only waits is ended after ten times as many."""
TABLE = "text,labels\n" + "".join(f"late bus {n},a;b\nbin road {n},c\n" for n in range(20))


@dataclass(frozen=True, slots=True)
class Measured:
    """What one command took (seconds of CPU time), and what it printed."""

    seconds: float
    megabytes: float
    code: int
    message: str

    @property
    def is_bounded(self) -> bool:
        """Whether it ended by itself within the limits, with a result or with a sentence."""
        return self.code in (0, 2) and self.seconds <= SECONDS and self.megabytes <= MEGABYTES


def written(name: str, content: bytes | str, *command: str) -> Callable[[Path], list[str]]:
    """A file, and the command that reads it (``describe`` by default; ``{}`` stands for its path)."""

    def make(folder: Path) -> list[str]:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return [word.replace("{}", str(path)) for word in command or ("describe", "{}")]

    return make


def train(folder: Path, table: str, *options: str) -> list[str]:
    """The command that trains a quick method on a table."""
    return ["train", *written("data.csv", table)(folder)[1:], "--method", "nb", *options]


def matrix(folder: Path) -> list[str]:
    """A sparse matrix of two billion columns and one entry."""
    import numpy as np
    from scipy import sparse

    entry = (np.ones(1), np.array([0], np.int32), np.array([0, 1], np.int32))
    sparse.save_npz(folder / "X.npz", sparse.csr_matrix(entry, shape=(1, 2_000_000_000)))
    sparse.save_npz(folder / "Y.npz", sparse.csr_matrix(np.ones((1, 1))))
    return ["describe", str(folder / "X.npz")]


def bomb(folder: Path) -> list[str]:
    """A gzip file of two gigabytes of one letter."""
    piece = gzip.compress(b"a" * (1 << 24), mtime=0)
    (folder / "bomb.csv.gz").write_bytes(gzip.compress(b"text,labels\n", mtime=0) + piece * 128)
    return ["describe", str(folder / "bomb.csv.gz")]


def equal_rows(folder: Path) -> list[str]:
    """A Parquet table of twenty million equal rows, a few kilobytes."""
    import pyarrow
    import pyarrow.parquet

    rows = 20_000_000
    text = pyarrow.DictionaryArray.from_arrays(pyarrow.repeat(pyarrow.scalar(0, pyarrow.int8()), rows), ["late bus"])
    table = pyarrow.table({"text": text, "labels": text})
    pyarrow.parquet.write_table(table, folder / "rows.parquet", compression="zstd")
    return ["describe", str(folder / "rows.parquet")]


def chain(folder: Path) -> list[str]:
    """A chain of fifty thousand parents."""
    path = folder / "parents.tsv"
    path.write_text("".join(f"n{n}\tn{n + 1}\n" for n in range(50_000)))
    return train(folder, TABLE.replace(",c", ",n0"), "--hierarchy", str(path))


def turtle(folder: Path) -> list[str]:
    """A Turtle file with a string that is never closed."""
    path = folder / "words.ttl"
    head = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n<http://x.org/a> skos:prefLabel "
    path.write_text(head + '"""' + 'a "" b\n' * 60_000)
    return train(folder, TABLE, "--vocabulary", str(path))


def story(content: str) -> str:
    """A Reuters file with one sound story, followed by something else."""
    head = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" OLDID="1" NEWID="1">\n'
    return f"{head}<TOPICS><D>earn</D></TOPICS><TEXT><TITLE>A</TITLE><BODY>late bus</BODY></TEXT></REUTERS>\n{content}"


def rules(folder: Path) -> list[str]:
    """A keyword rule of two hundred thousand words."""
    path = folder / "rules.txt"
    path.write_text("a: " + " OR ".join(f"word{n}" for n in range(200_000)) + "\n")
    return train(folder, TABLE, "--rules", str(path))


def pattern(folder: Path) -> list[str]:
    """A token pattern that backtracks without end."""
    hard = "".join(f"{'a' * 40}b,a\n" for _ in range(20))
    return train(folder, TABLE + hard, "--set", "features.tokens='(a+)+$'")


def recipe(folder: Path) -> list[str]:
    """A recipe nested 1,500 deep."""
    path = folder / "recipe.toml"
    path.write_text("method = 'nb'\n[features]\nmin_df = " + "[" * 1500 + "]" * 1500 + "\n")
    return ["train", *written("data.csv", TABLE)(folder)[1:], "--recipe", str(path)]


def locked(folder: Path) -> list[str]:
    """A folder that may not be opened."""
    inside = folder / "locked"
    inside.mkdir()
    (inside / "data.csv").write_text(TABLE)
    inside.chmod(0)
    return ["describe", str(inside)]


def nested_sgml() -> str:
    """Stories that open and never close."""
    return story('<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" OLDID="2" NEWID="2">\n<TEXT><TITLE>' * 6000)


def keys() -> str:
    """JSON lines with thirty thousand distinct keys."""
    return "".join(f'{{"text": "late bus {n}", "labels": ["a"], "k{n}": 1}}\n' for n in range(30_000))


ITEMS: dict[str, Callable[[Path], list[str]]] = {
    "libsvm index 10^8": written("data.svm", "1 100000000:1\n"),
    "libsvm index 2*10^9": written("data.svm", "1 2000000000:1\n"),
    "libsvm label 2*10^9": written("data.svm", "2000000000 1:1\n"),
    "xmc header 2*10^9": written("data.xmc", "1 2000000000 2000000000\n0 0:1\n"),
    "xmc index 2*10^9": written("data.xmc", "1 10 10\n0 2000000000:1\n"),
    "npz 2*10^9 columns": matrix,
    "csv 150,000 columns": lambda folder: written(
        "data.csv", "text,labels," + ",".join(f"c{n}" for n in range(150_000)) + "\nlate,a" + ",1" * 150_000 + "\n"
    )(folder),
    "jsonl 30,000 keys": lambda folder: written("data.jsonl", keys())(folder),
    "label cell of 4 MB": lambda folder: written("data.csv", "text,labels\nlate," + "a;" * 2_000_000 + "\n")(folder),
    "label cell of 4 MB (list)": lambda folder: written(
        "data.csv", 'text,labels\nlate,"[' + "'a', " * 800_000 + ']"\nx,"[\'a\']"\n'
    )(folder),
    "gzip bomb of 2 GB": bomb,
    "parquet 20 M equal rows": equal_rows,
    "chain of 50,000 parents": chain,
    "turtle, unclosed string": turtle,
    "sgml, unclosed tags": lambda folder: written("data.sgm", nested_sgml())(folder),
    "sgml, 200 kB of blanks": lambda folder: written("data.sgm", story("<REUTERS" + " " * 200_000))(folder),
    "fasttext, 200,000 labels": lambda folder: written(
        "data.ft", " ".join(f"__label__l{n}" for n in range(200_000)) + " late bus\n"
    )(folder),
    "keyword rule, 200,000 words": rules,
    "token pattern (a+)+$": pattern,
    "recipe nested 1,500 deep": recipe,
    "folder without permission": locked,
}


def limits() -> None:
    """End a command that works for too long, or waits for too long."""
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
    signal.alarm(10 * PATIENCE)


def measure(make: Callable[[Path], list[str]]) -> Measured:
    """Write the files of an item and run its command in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="manylabel-denial-") as made:
        folder = Path(made)
        command = [sys.executable, "-m", "manylabel", *make(folder)]
        if make is locked and os.geteuid() == 0:  # permissions do not hold for the superuser
            command = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *command]
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=folder,
            preexec_fn=limits,
        )
        assert isinstance(process.stderr, io.BufferedReader)
        message = process.stderr.read().decode("utf-8", "replace").strip()
        _, status, usage = os.wait4(process.pid, 0)
        if make is locked:
            (folder / "locked").chmod(0o755)
        seconds = usage.ru_utime + usage.ru_stime
        return Measured(seconds, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status), message.replace("\n", " "))


def main() -> int:
    """Measure every item, or those named; 1 if one is out of bounds."""
    wanted = sys.argv[1:]
    say(f"{'item':<30}{'seconds':>8}{'MB':>7}{'exit':>6}  message")
    failed = 0
    for name, make in ITEMS.items():
        if wanted and not any(word in name for word in wanted):
            continue
        found = measure(make)
        failed += not found.is_bounded
        mark = " " if found.is_bounded else "!"
        say(f"{mark}{name:<29}{found.seconds:>8.1f}{found.megabytes:>7.0f}{found.code:>6}  {found.message[-150:]}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
