"""The site is complete: every page has a place, every link leads somewhere, and the reference names everything."""

import doctest
import inspect
import io
import json
import os
import posixpath
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from docs.assemble import navigation, pages, settings, write
from docs.generate import api, commands, methods, prose, rest
from docs.generate.prose import as_markdown, slug

from architecture.test_public_names import NAMES
from browsing import Visit
from manylabel.catalog import METHODS
from manylabel.cli.run import INTERRUPTED, TERMINATED, run
from manylabel.estimator import Estimator

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"^( *)(`{3,})[^\n]*\n.*?^\1\2$|^ {4}[^\n]*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    return pages()


def anchors(text: str) -> set[str]:
    """The anchors of a page: those that headings give themselves, or that are made from their words."""
    prose = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+?)(?: \{ #([^\s}]+)[^}]*\})?$", prose, re.MULTILINE)
    return {given or slug(heading) for heading, given in headings}


def test_every_link_leads_to_a_page_and_to_a_heading_on_it(site: dict[str, str]) -> None:
    headings = {name: anchors(text) for name, text in site.items()}
    dead = []
    for name, text in site.items():
        for target in LINK.findall(CODE.sub("code", text)):
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            page = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            is_file = page == "reference/openapi.json" or (
                page.startswith("images/") and (ROOT / "docs" / page).exists()
            )
            if not is_file and (page not in site or (anchor and anchor not in headings[page])):
                dead.append(f"{name}: {target}")
    assert not dead, "\n".join(dead)


def test_every_link_of_a_page_leads_to_a_file_of_the_repository() -> None:
    """Pages are read in the folder and on the web too, where the generated ones do not exist."""
    dead = []
    for page in (ROOT / "docs").rglob("*.md"):
        for target in LINK.findall(CODE.sub("code", page.read_text(encoding="utf-8"))):
            path = target.partition("#")[0]
            if path and not re.match(r"[a-z]+:", target) and not (page.parent / path).exists():
                dead.append(f"{page.relative_to(ROOT)}: {target}")
    assert not dead, "\n".join(dead)


def test_every_page_has_one_place_in_the_navigation(site: dict[str, str]) -> None:
    listed = re.findall(r'"([\w./-]+\.md)"', json.dumps(navigation(site)))
    assert sorted(set(listed)) == sorted(listed)
    assert {name for name in site if not name.startswith("repository/")} == {
        name for name in listed if not name.startswith("repository/")
    }
    assert set(listed) <= set(site)


def test_every_public_name_is_described(site: dict[str, str]) -> None:
    assert set(api.NAMESPACES) == set(NAMES)
    for namespace, names in NAMES.items():
        text = site[f"reference/api/{namespace}.md"]
        for name in names - {"__version__"}:
            section = text.partition(f" {{ #{namespace}.{name} }}\n")[2].partition("\n### ")[0]
            assert section.strip(), f"{namespace}.{name}"
            value = getattr(import_module(namespace), name)
            if inspect.isfunction(value):
                assert all(argument in section for argument in inspect.signature(value).parameters), name


def test_every_parameter_of_an_estimator_is_described() -> None:
    undescribed = []
    for namespace, names in NAMES.items():
        for name in names:
            value = getattr(import_module(namespace), name)
            if inspect.isclass(value) and issubclass(value, Estimator):
                text = " ".join(base.__doc__ or "" for base in value.__mro__)
                known = {*api.parameter_texts(value), *re.findall(r"\w+", text)}
                undescribed += [f"{name}.{one}" for one in value.parameter_names() if one not in known]
    assert not sorted(set(undescribed))


def test_every_command_and_option_is_described(site: dict[str, str]) -> None:
    for name, command in commands.program().commands.items():
        text = site[f"reference/commands/{name}.md"]
        for inside in command.commands.values() if commands.is_group(command) else [command]:
            for one in inside.params:
                assert all(option in text for option in one.opts if option.startswith("-")), (name, one.name)


def test_every_address_of_the_server_is_described(site: dict[str, str]) -> None:
    texts = "\n".join(text for name, text in site.items() if name.startswith("reference/rest/"))
    for path, operations in rest.document()["paths"].items():
        for method in operations:
            assert texts.count(f"{method.upper()} {path}\n") == 1, (method, path)


def first_cells(page: str) -> list[str]:
    """What the rows of a page's tables begin with."""
    return re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)


def test_every_environment_variable_that_is_read_is_listed() -> None:
    read = set()
    for path in [*(ROOT / "src").rglob("*.py"), ROOT / "setup.py"]:
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"environ(?:\.get)?[(\[]\s*([\w\"]+)", text):
            constant = re.search(rf'^{name} = ("\w+")', text, re.MULTILINE)
            read.add((constant[1] if constant else name).strip('"'))
    of_program, of_terminal = (ROOT / "docs/reference/environment.md").read_text(encoding="utf-8").split("## For the t")
    assert read == set(first_cells(of_program))
    assert first_cells(of_terminal) == ["NO_COLOR", "FORCE_COLOR", "COLUMNS"]


def test_the_exit_codes_are_those_of_the_program() -> None:
    page = (ROOT / "docs/reference/exit-codes.md").read_text(encoding="utf-8")
    assert first_cells(page) == ["0", "1", "2", str(INTERRUPTED), str(TERMINATED)]


def test_every_method_belongs_to_one_family_whose_page_exists() -> None:
    listed = [name for names in methods.FAMILIES.values() for name in names.split()]
    assert sorted(listed) == sorted(METHODS)
    assert {path.stem for path in (ROOT / "docs" / "methods").glob("*.md")} == set(methods.FAMILIES)


@pytest.mark.parametrize("name", METHODS)
def test_the_example_of_a_method_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = methods.page_of(METHODS[name])
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    exec(compile(code, name, "exec"), {})
    assert "transport/roads" in capsys.readouterr().out


def test_examples_of_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in commands.EXAMPLES.items():
        for line in lines:
            before, _, last = line.rpartition(" | ")
            words = shlex.split(last.partition(" > ")[0])
            if name in commands.EXAMPLES_NOT_RUN:
                words.append("--help")
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(before.encode())))
            capsys.readouterr()
            assert run(words[1:]) == 0, f"{line}\n{capsys.readouterr().err}"
            if target := line.partition(" > ")[2]:
                Path(target).write_text(capsys.readouterr().out, encoding="utf-8")


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("Scores of `LinearSVM`.", "Scores of [`LinearSVM`](LinearSVM)."),
        ("x_i and t*_k, t*_k; [0, 1] < 2", r"x\_i and t\*\_k, t\*\_k; \[0, 1\] &lt; 2"),
        ("A sum.\n\ns = Σ_w x_w", 'A sum.\n\n<pre class="formula">s = Σ_w x_w</pre>'),
        ("Text.\n\n>>> 1 + 1\n2", "Text.\n\n```pycon\n>>> 1 + 1\n2\n```"),
        ("Text.\n\nKeys:\n    a  first\n    b  second", "Text.\n\nKeys:\n\n```text\na  first\nb  second\n```"),
        ("An *apt* word.", "An *apt* word."),
    ],
)
def test_docstrings_become_markdown(docstring: str, expected: str) -> None:
    assert as_markdown(docstring, lambda name: name if name == "LinearSVM" else None) == expected


def test_the_examples_in_the_generator_are_right() -> None:
    for module in (commands, prose):
        found = doctest.testmod(module)
        assert found.attempted
        assert not found.failed


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site."""
    if find_spec("mkdocs") is None:
        pytest.skip("MkDocs is not installed; `make docs` installs it")
    folder = tmp_path_factory.mktemp("site")
    write(folder / "source", folder / "site")
    options = ["--strict", "--config-file", str(folder / "source" / "mkdocs.yml")]
    command = [sys.executable, "-m", "mkdocs", "build", *options]
    variables = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder / "site"


def test_the_site_is_built_where_it_is_asked_for(tmp_path: Path) -> None:
    made = settings(tmp_path / "source", tmp_path / "site", {"index.md": "# Start"})
    assert (tmp_path / "source" / made["site_dir"]).resolve() == tmp_path / "site"
    assert (tmp_path / "source" / made["INHERIT"]).resolve() == ROOT / "mkdocs.yml"


def test_the_site_loads_nothing_from_elsewhere(built: Path) -> None:
    for path in built.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe|source)[^>]* src="?(https?:[^">\s]+)', text)
        loaded += re.findall(r'<link [^>]*href="?(https?:[^">\s]+)', text)
        assert not loaded, path


def test_the_search_works_from_the_file_system(built: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    if (chromium := shutil.which("chromium-headless-shell") or shutil.which("chromium")) is None:
        pytest.skip("Chromium is not installed; `make browser` installs it")
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        visit = Visit(browser.new_page(viewport={"width": 1280, "height": 900}))
        visit.page.goto((built / "index.html").as_uri())
        visit.page.locator(".md-search__input").click()
        visit.page.keyboard.type("accumulated posterior")
        visit.page.locator(".md-search-result__link").first.wait_for(timeout=20_000)
        browser.close()
    assert not visit.complaints
    assert all(address.startswith(("file:", "data:", "about:")) for address in visit.requests)
