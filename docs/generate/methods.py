"""One page for each method of the catalogue: its idea, settings, decision rule, cost, evidence and an example."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docs.build import methods as catalogue
from docs.build import table
from docs.generate.api import linker
from docs.generate.prose import as_markdown, code, first_line, inline, slug
from manylabel.catalog import DEFAULT_METHOD, METHODS, OWN_RULE, Method, find_class
from manylabel.decisions.table import find_rule
from manylabel.features import TermSelector, Vectorizer, Weighting
from manylabel.recipe import SECTIONS, Recipe
from manylabel.setting_values import toml_value

DOCS = Path(__file__).parents[1]
FOLDER = "catalogue/"
GUIDE = "guides/which-method.md"
ADDRESS = linker("../")
FAMILIES = {
    "svm": "svm svm-zero svm-zero-tfidf svm-hf svm-hf-tfidf band-svm band-svm-tfidf confmat confmat-tfidf svm-tuned "
    "svm-tuned-tfidf logistic",
    "multinomial-nb": "nb nb-app nb-binary nb-unilabel nb-powerset",
    "naive-bayes-relatives": "nb-bernoulli nb-bernoulli-unilabel nb-complement nb-tfidf nb-presence nb-weighted-ig "
    "nb-weighted-kl",
    "unlabelled-documents": "nb-em",
    "value-weighted-nb": "mnb-vw mnb-vw-reference mnb-vw-unilabel",
    "chains": "mnb-vw-br mnb-vw-cc mnb-vw-ecc",
    "co-training": "mnb-vwco mnb-vwco-reference",
    "parametric-mixtures": "pmm pmm1 pmm2",
    "rocchio": "rocchio rocchio-zoned",
    "neighbours": "knn knn-majority ml-knn",
    "neural-network": "neural",
    "trees": "trees forest",
    "imbalance": "svm-balanced svm-undersampled svm-cluster svm-smote",
    "hierarchies": "svm-closed svm-top-down svm-propagated",
    "one-vs-one": "one-vs-one",
    "label-tree": "label-tree",
    "ensembles": "auto ensemble ensemble-votes ensemble-stacked",
    "keyword-rules": "rules",
}
"""The methods that each page of docs/methods describes."""
SIZES = (("1,000 documents, 20 labels", 1_000, 20), ("10,000 documents, 100 labels", 10_000, 100),
         ("100,000 documents, 1,000 labels", 100_000, 1_000))  # fmt: skip
TERMS = 60
"""Distinct terms per document, as in Reuters-21578."""
ALLOWED = {
    "decision.rule": "a [decision rule](../decision-rules.md), or 'own'",
    "decision.probabilities": "one of 'auto', 'logistic', 'isotonic', 'none'",
    "model.base": "a [method](../methods.md) of one model",
    "model.members": "a list of [methods](../methods.md)",
}
"""Values of settings that no class declares."""
NEEDS = {
    "hierarchy": "labels with a hierarchy, such as names with a slash",
    "unlabelled": "documents without a label beside the labelled ones",
}
EXAMPLE = """\
```python
from manylabel import TextClassifier

texts = ["the bus was late", "a hole in the road", "the late bus fell into a hole in the road", "a bench in the park"]
labels = [["transport/buses"], ["transport/roads"], ["transport/buses", "transport/roads"], ["parks/benches"]]
{parents}
model = TextClassifier("{name}").fit(texts * 5, labels * 5{fit})
print(model.predict(["The road has a hole again."]))
```

On data of your own, or on the letters that come with manylabel:

<!-- not run: the same for all methods; the example above is run for each -->
```sh
manylabel evaluate townhall --method {name}
manylabel train townhall --method {name}
```
"""
PARENTS = 'parents = {"transport/buses": "transport", "transport/roads": "transport", "parks/benches": "parks"}\n'


def family(name: str) -> str:
    """The page of docs/methods that describes a method."""
    return next(page for page, names in FAMILIES.items() if name in names.split())


def pages() -> dict[str, str]:
    """The catalogue with links, and one page for each method."""
    found = {"methods.md": catalogue({name: f"{FOLDER}{name}.md" for name in METHODS})}
    for page, names in FAMILIES.items():
        links = ", ".join(f"[`{name}`](../{FOLDER}{name}.md)" for name in names.split())
        title, _, text = _read(f"methods/{page}.md").partition("\n")
        found[f"methods/{page}.md"] = f"{title}\n\nThe methods, with their settings and examples: {links}.\n{text}"
        for name in names.split():
            found[f"{FOLDER}{name}.md"] = page_of(METHODS[name])
    return found


def _read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def page_of(row: Method) -> str:
    """The page of a method."""
    recipe, page = Recipe.of(row.name), family(row.name)
    default = " (the default method)" if row.name == DEFAULT_METHOD else ""
    parts = [
        f"# {row.name}\n",
        f"{inline(row.title, ADDRESS)}{default}.\n",
        picture(recipe, row),
        _facts(row, page),
        "## Example\n",
        _example(row),
        "## Idea and formula\n",
        *_ideas(row, page),
        "## When to use it\n",
        _cases(row),
        "## Decision\n",
        _decision(row) + "\n",
        "## Settings\n",
        _settings(recipe, row),
        "## Cost\n",
        _cost(row),
        "## Evidence\n",
        _evidence(row, page),
    ]
    return "\n".join(parts)


def picture(recipe: Recipe, row: Method) -> str:
    """The way from text to labels through the classes of the method, as boxes."""
    steps = [("Text", "")]
    steps.append(("Terms", _changed(recipe.features) or "words and their counts"))
    if recipe.selection:
        steps.append(("Selection", _changed(recipe.selection)))
    if recipe.weighting:
        steps.append(("Weights", _changed(recipe.weighting)))
    inside = f" over {_class_name(row.inner)}" if row.inner else ""
    members = ", ".join(row.members)
    steps.append((_class_name(row.model) + inside, f"members: {members}" if members else _changed(row.settings)))
    steps.append(("Rule: " + row.decision, _changed(row.decision_settings)))
    steps.append(("Labels", ""))
    boxes = "".join(f"<li><b>{escape(title)}</b><span>{escape(text)}</span></li>" for title, text in steps)
    return f'<ol class="flow" aria-label="From text to labels">{boxes}</ol>\n'


def _changed(settings: Any) -> str:
    return ", ".join(f"{key} = {toml_value(value)}".replace('"', "") for key, value in settings.items())


def _class_name(path: str | None) -> str:
    return (path or "").partition(":")[2]


def _facts(row: Method, page: str) -> str:
    heading = _read(f"methods/{page}.md").partition("\n")[0].removeprefix("# ")
    classes = " over ".join(inline(code(_class_name(path)), ADDRESS) for path in (row.model, row.inner) if path)
    rows = [["family", f"[{heading}](../methods/{page}.md)"], ["source", row.source], ["class", classes]]
    if row.members:
        rows.append(["members", ", ".join(f"[`{name}`]({name}.md)" for name in row.members)])
    rows += [["needs", NEEDS[one]] for one in row.requires]
    return table(["", ""], rows)


def _example(row: Method) -> str:
    has_parents = "hierarchy" in row.requires
    return EXAMPLE.format(
        name=row.name, parents=PARENTS if has_parents else "", fit=", hierarchy=parents" if has_parents else ""
    )


def _ideas(row: Method, page: str) -> Iterator[str]:
    for path in (row.model, row.inner):
        if path:
            owner = find_class(path)
            text = re.split(r"\n\s*>>> ", owner.__doc__ or "")[0]
            yield f"### {owner.__name__}\n\n{as_markdown(text, ADDRESS)}\n"
    yield f"[The page of the family](../methods/{page}.md) explains the idea with a picture, and compares relatives.\n"


def _cases(row: Method) -> str:
    """The rows of the guide's decision table that name the method."""
    rows = [line.strip("| ").split(" | ") for line in _read(GUIDE).splitlines() if line.startswith("| ")]
    cases = [cells for cells in rows if len(cells) == 3 and re.search(rf"`{row.name}[` ]", cells[1])]
    lines = [f"- {_capital(case)}: {_from_here(what)}. {_capital(_from_here(why))}\n" for case, what, why in cases]
    more = "[Which method for what?](../guides/which-method.md) compares the methods by case, cost and quality.\n"
    published = "" if row.source == "manylabel" else "It follows its paper and is here for comparison.\n\n"
    return "".join(lines) + ("\n" if lines else published) + more


def _capital(text: str) -> str:
    """Text that begins with a capital letter; unlike `str.capitalize`, all other letters stay.

    >>> _capital("micro F1"), _capital("[guarantees](a.md)")
    ('Micro F1', '[guarantees](a.md)')
    """
    return text[:1].upper() + text[1:]


def _from_here(text: str) -> str:
    """Text of a guide, with links as a page of the catalogue needs them."""
    return re.sub(r"\]\((?!\.\./|[a-z]+:)", "](../guides/", text)


def _decision(row: Method) -> str:
    if row.decision == OWN_RULE:
        return "The method decides by itself which labels are predicted; `--set decision.rule=NAME` sets another rule."
    rule = find_rule(row.decision)
    text = inline(first_line(rule.__doc__), ADDRESS)
    name = inline(code(rule.__name__), ADDRESS)
    return f"The rule `{row.decision}`, {name}. {text} See [decision rules](../decision-rules.md)."


def _settings(recipe: Recipe, row: Method) -> str:
    """The settings that the method makes itself or that `tune` searches, and all settings of its model and rule."""
    defaults = recipe.defaults()
    rows = []
    for section in SECTIONS:
        own: dict[str, Any] = getattr(recipe, section)
        for key, default in defaults[section].items():
            name = f"{section}.{key}"
            is_inner = key.startswith("inner.") and key not in own
            if not is_inner and (section in ("model", "decision") or key in own or name in row.search):
                value = own.get(key, "auto" if name == "decision.probabilities" else default)
                rows.append(
                    [code(name), code(toml_value(value)), _allowed(section, key, row), str(row.search.get(name, ""))]
                )
    intro = (
        f"`--set section.key=value`, or `TextClassifier({row.name!r}, section={{...}})` in Python. The last column is "
        "what `manylabel tune` searches. [Recipes](../reference/recipes.md) lists all settings.\n\n"
    ).replace("'", '"')
    return intro + table(["setting", "value", "allowed", "tuned over"], rows)


def _allowed(section: str, key: str, row: Method) -> str:
    owners: dict[str, list[Any]] = {
        "features": [Vectorizer],
        "selection": [TermSelector],
        "weighting": [Weighting],
        "model": [find_class(path) for path in (row.model, row.inner) if path],
        "decision": [] if row.decision == OWN_RULE else [find_rule(row.decision)],
    }
    found = [one.parameter_constraints[key] for one in owners[section] if key in one.parameter_constraints]
    return inline(str(found[0]), ADDRESS) if found else ALLOWED.get(f"{section}.{key}", "")


def _cost(row: Method) -> str:
    rows = [
        [size, _duration(row.cost.seconds(documents, documents * TERMS, labels))] for size, documents, labels in SIZES
    ]
    intro = (
        f"Estimated time of one trial on one thread, at {TERMS} distinct terms per document: three inner folds, one "
        "fit on all documents, a few decision rules, and predictions. [`compare`](../comparing-methods.md) plans with "
        "these estimates; they are right within a factor of two or three.\n\n"
    )
    return intro + table(["data", "time"], rows)


def _duration(seconds: float) -> str:
    """A rough time in the largest unit of which it has at least two.

    >>> _duration(0.31), _duration(43.2), _duration(593.4), _duration(19_000)
    ('0.3 s', '43 s', '10 minutes', '5 hours')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.0f} hours"


def _evidence(row: Method, page: str) -> str:
    """Where figures of the method stand: the page of its family, and what we reproduce of its paper."""
    lines = [f"- [The page of the family](../methods/{page}.md): what to expect, with the commands that measure it\n"]
    author = re.match(r"[^,'(]*(?:, [^,'(]*)*? \d{4}", row.source)
    for line in _read("papers.md").splitlines():
        if line.startswith("## ") and author and author[0] in line:
            title = line.removeprefix("## ")
            lines.append(f"- [{title}](../papers.md#{slug(title)}): what the paper reports, and what we get\n")
    return "".join(lines)
