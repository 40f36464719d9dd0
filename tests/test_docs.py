"""The documentation builds without a broken link, and every example in it runs."""

import os
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from markdown import markdown  # type: ignore[import-untyped]

from midpoint.cli.app import app

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^```[a-z]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
DOTTED = re.compile(r"`(midpoint(?:\.\w+)+)`")
COMMAND = re.compile(r"^midpoint (.+)$", re.MULTILINE)
WITH_EXAMPLES = [page for page in PAGES if EXAMPLE.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_one_after_the_other(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    for example in EXAMPLE.findall(page.read_text(encoding="utf-8")):
        exec(compile(example, str(page), "exec"), names)  # noqa: S102 - our own examples


def commands() -> list[str]:
    """Return every line of an example that runs `midpoint`, without the name and the comment."""
    pages = [page.read_text(encoding="utf-8") for page in PAGES]
    blocks = [block for text in pages for block in FENCED.findall(text)]
    return sorted({line for block in blocks for line in COMMAND.findall(block)})


def _understood(line: str) -> None:
    words = [word for word in shlex.split(line, comments=True) if word != "&"]
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    if "--help" not in words:
        command.make_context(command.name, words)


@pytest.mark.parametrize("line", commands())
def test_a_command_in_the_documentation_is_one_that_there_is(line: str) -> None:
    _understood(line)
    # The control: an option that there is not is noticed.
    with pytest.raises(Exception, match=r"[Nn]o such option: --nonsense"):
        _understood(f"{line.partition('#')[0].replace('--help', '')} --nonsense")


def _resolved(name: str) -> object:
    """Import what a dotted name stands for: a module, or a name in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        with suppress(ModuleNotFoundError):
            return attrgetter(".".join(["x", *parts[length:]]))(
                SimpleNamespace(x=import_module(".".join(parts[:length])))
            )
    raise ModuleNotFoundError(name)


def names() -> list[str]:
    """Return every dotted name of ours in the documentation; a file's ending is none."""
    pages = [page.read_text(encoding="utf-8") for page in PAGES]
    return sorted({name for text in pages for name in DOTTED.findall(text)} - {"midpoint.sqlite"})


@pytest.mark.parametrize("name", names())
def test_a_name_in_the_documentation_is_one_that_there_is(name: str) -> None:
    assert _resolved(name) is not None
    with pytest.raises((AttributeError, ModuleNotFoundError)):
        _resolved(f"{name}.nonsense")


def test_a_formula_stays_in_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    hook = import_module("mathml").on_page_markdown
    assert re.fullmatch(
        r"<p><span><math .*</math></span> is one of <span><math .*</math></span>.</p>",
        markdown(hook(r"$z$ is one of $\mathbb E$.")),
    )
    assert hook("`$PATH$`") == "`$PATH$`"
    with pytest.raises(ValueError, match="no MathML for all of"):
        hook(r"$\Big\|x\Big\|$")


@pytest.mark.slow
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    built = _build(ROOT / "mkdocs.yml", tmp_path / "site")
    assert built.returncode == 0, built.stderr
    for built_page in (tmp_path / "site").rglob("*.html"):
        _require_well_formed(built_page)
    page = (tmp_path / "site" / "protocol" / "index.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert "$" not in re.sub(r"<(script|style|pre|code).*?</\1>", "", page, flags=re.DOTALL)


@pytest.mark.slow
def test_a_broken_link_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[gone](nowhere.md)")
    settings = tmp_path / "mkdocs.yml"
    settings.write_text("site_name: x\nvalidation: {links: {not_found: warn}}\n")
    built = _build(settings, tmp_path / "site")
    assert built.returncode != 0
    assert "nowhere.md" in built.stderr


def _require_well_formed(path: Path) -> None:
    """Find what Markdown took for something else, which is no error to it."""
    page = re.sub(r"<(script|style|pre)\b.*?</\1>", "", path.read_text("utf-8"), flags=re.DOTALL)
    for paragraph in re.findall(r"<p>(.*?)</p>", page, flags=re.DOTALL):
        assert not re.search(r"^(- |\* |\d+\. |\|)", paragraph, re.MULTILINE), (
            f"{path} has a list or table that is none: put an empty line before it: {paragraph}"
        )
    assert not re.search(r"</p>\s*<math", page), f"{path} has a formula outside of its sentence"
    assert not re.search(r"<th></th>\s*<th></th>", page), f"{path} has a table without a head"


def _build(settings: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(settings)]
    quiet = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    environment = {**os.environ, **quiet}
    return subprocess.run(
        [*command, "-d", str(out)], check=False, capture_output=True, text=True, env=environment
    )
