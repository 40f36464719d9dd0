"""The documentation builds without a broken link, and every example in it runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
WITH_EXAMPLES = [page for page in PAGES if EXAMPLE.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_one_after_the_other(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    for example in EXAMPLE.findall(page.read_text(encoding="utf-8")):
        exec(compile(example, str(page), "exec"), names)  # noqa: S102 - our own examples


@pytest.mark.slow
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    built = _build(ROOT / "mkdocs.yml", tmp_path / "site")
    assert built.returncode == 0, built.stderr
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


def _build(settings: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(settings)]
    quiet = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    environment = {**os.environ, **quiet}
    return subprocess.run(
        [*command, "-d", str(out)], check=False, capture_output=True, text=True, env=environment
    )
