"""The start of the reference, which lists its pages; it takes the place of the one in the repository."""

INDEX = """\
# Reference

These pages list everything that manylabel offers, to look things up. Most are made from the program when the site is
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
    """The start of the reference."""
    return {"reference/index.md": INDEX}
