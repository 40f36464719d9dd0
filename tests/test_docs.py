"""The documentation builds without a broken link, and every example in it runs."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any, Literal

import pytest
import typer
from markdown import markdown  # type: ignore[import-untyped]
from playwright.sync_api import sync_playwright

from midpoint.cli.app import app
from tests.support.page.service import FLAGS, chromium

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
LOOKED_AT = (
    "",
    "tutorials/person/",
    "tutorials/operator/",
    "tutorials/researcher/",
    "tutorials/auditor/",
    "explanation/protocol/",
    "results/audits/",
    "notebooks/operator/",
)
VIOLATIONS = """async () => {
    const result = await axe.run(document, { runOnly: ["wcag2a", "wcag2aa"] });
    const line = (rule, node) => `${location.pathname} ${rule.id} ${node.html}`;
    return result.violations.flatMap((rule) => rule.nodes.map((node) => line(rule, node)));
}"""
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("documentation")
    built = _build(ROOT / "mkdocs.yml", directory)
    assert built.returncode == 0, built.stderr
    return directory


def test_the_site_builds_strictly(site: Path) -> None:
    for built_page in site.rglob("*.html"):
        _require_well_formed(built_page)
    page = (site / "explanation" / "protocol" / "index.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert "$" not in re.sub(r"<(script|style|pre|code).*?</\1>", "", page, flags=re.DOTALL)
    shown = (site / "notebooks" / "operator" / "index.html").read_text(encoding="utf-8")
    assert "Of two people, the best attack picks the right one" in shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_site_can_be_read_by_everyone_and_fits_a_phone(
    site: Path, scheme: Literal["light", "dark"]
) -> None:
    """axe finds nothing, no page is wider than a phone, and nothing comes from elsewhere."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed; run npm ci in web/")
    axe, wrong = AXE.read_text(encoding="utf-8"), list[str]()
    with ExitStack() as stack:
        address = stack.enter_context(_served(site))
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 320, "height": 700}, color_scheme=scheme)
        page.on(
            "request", lambda asked: wrong.append(asked.url) if address not in asked.url else None
        )
        for name in LOOKED_AT:
            page.goto(f"{address}/{name}")
            assert page.evaluate("document.documentElement.scrollWidth") <= 320
            page.evaluate(axe)
            wrong += page.evaluate(VIOLATIONS)
        browser.close()
    assert [line for line in wrong if not line.startswith("data:")] == []


@contextmanager
def _served(directory: Path) -> Iterator[str]:
    handler = partial(_Quiet, directory=str(directory))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Say nothing of requests."""


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
