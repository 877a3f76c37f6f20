"""The pages of the reference that list few facts: exit codes, environment variables, and the start of the reference."""

from docs.build import table
from docs.generate.prose import code

VARIABLES = {
    "MANYLABEL_DATA": "A folder with research data. Data sets known by name are looked for there before the cache.",
    "MANYLABEL_HOME": "The cache of `manylabel fetch` and `manylabel reproduce`; by default `manylabel` in "
    "`$XDG_CACHE_HOME` or in `~/.cache`.",
    "XDG_CACHE_HOME": "The folder of all caches, where `MANYLABEL_HOME` is not set.",
    "MANYLABEL_THREADS": "How many threads to use where no option says so; by default one for each core.",
    "MANYLABEL_VECTOR_CACHE": "How many MB the cache of encoders' vectors may take; by default 1024. `0`: keep none.",
    "MANYLABEL_PLAIN": "`1`: use the plain twins instead of the compiled kernels. Slower, the same results.",
    "NOTIFY_SOCKET": "Set by systemd for units of `Type=notify`: where `manylabel serve` reports that it is ready.",
}
"""What the package reads."""
BUILD_VARIABLES = {
    "MANYLABEL_NO_KERNELS": "`1` while installing: compile nothing. manylabel then runs in plain Python.",
    "MANYLABEL_SANITIZE": "`1` while installing: kernels that check every access to memory (`make sanitize`).",
}
"""What setup.py reads."""
TERMINAL_VARIABLES = {
    "NO_COLOR": "Any value: print without colours.",
    "FORCE_COLOR": "Any value: print colours even if the output is not a terminal.",
    "COLUMNS": "The width of tables, where it is not known.",
}
"""What Rich, which prints our tables, reads."""
EXIT_CODES = {
    "0": "Done. Also `manylabel serve` that was stopped by SIGTERM or Ctrl+C, when requests in flight are answered.",
    "1": "An error inside manylabel. `--debug` shows where; please report it.",
    "2": "Wrong input: a file, an option or a value. The message says what was found and what to do.",
    "130": "Interrupted (Ctrl+C), but for `manylabel serve`. Unfinished files were not written.",
    "143": "Terminated (SIGTERM, SIGHUP), but for `manylabel serve`. Unfinished files were not written.",
}
INDEX = """\
# Reference

These pages list everything that manylabel offers, to look things up. They are made from the program when the site is
built. To learn how to use it, begin with [Start](../start/what-it-is.md) and the guides.

| page | what it lists |
| --- | --- |
| [Python](api/index.md) | every public class and function |
| [Command line](commands/index.md) | every command with its options |
| [REST API](rest/index.md) | every address of `manylabel serve` |
| [Recipes](recipes.md) | every setting of every part of a pipeline |
| [Formats](../formats.md) | files that are read and written, and options for reading them |
| [Model files](../model-files.md) | what a model file holds |
| [Exit codes](exit-codes.md) | how a command ended |
| [Environment variables](environment.md) | what can be set outside a command |
| [Limits](../limits.md) | what a file may hold |
"""


def pages() -> dict[str, str]:
    """The start of the reference, exit codes and environment variables."""
    return {
        "reference/index.md": INDEX,
        "reference/exit-codes.md": _exit_codes(),
        "reference/environment.md": _variables(),
    }


def _exit_codes() -> str:
    rows = [[code(number), text] for number, text in EXIT_CODES.items()]
    intro = "# Exit codes\n\nThe number that a command returns to the shell or to the program that called it:\n\n"
    outro = "\nMessages go to standard error, results to standard output. Files are written whole or not at all.\n"
    return intro + table(["code", "what happened"], rows) + outro


def _variables() -> str:
    parts = [
        "# Environment variables\n",
        "All of them are optional. They change where manylabel looks for files and how it runs.\n",
    ]
    for title, variables in {
        "When manylabel runs": VARIABLES,
        "When it is installed": BUILD_VARIABLES,
        "For the terminal": TERMINAL_VARIABLES,
    }.items():
        parts += [
            f"## {title}\n",
            table(["variable", "what it does"], [[code(one), text] for one, text in variables.items()]),
        ]
    return "\n".join(parts)
