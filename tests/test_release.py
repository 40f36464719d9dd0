"""What `make release` tries is what there is: every Python, every extra, every command."""

import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
import yaml  # type: ignore[import-untyped]

from midpoint import __version__
from midpoint.cli.app import app

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
FOR_DEVELOPERS = {"bench", "dev", "docs"}


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return import_module("release")


@pytest.fixture
def smoke(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return import_module("smoke")


def workflow(name: str) -> Any:
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8"))


def test_every_extra_is_tried_alone(release: ModuleType, smoke: ModuleType) -> None:
    extras = set(PROJECT["optional-dependencies"]) - FOR_DEVELOPERS
    assert {"", *extras} <= set(release.EXTRAS)
    assert {"", *extras} == set(smoke.HOLDS)


def test_every_python_is_tried_on_every_system(release: ModuleType) -> None:
    matrix = workflow("release")["jobs"]["try"]["strategy"]["matrix"]
    assert release.supported() == matrix["python"]
    assert matrix["python"] == workflow("test")["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert {system.split("-")[0] for system in matrix["system"]} == {"ubuntu", "macos", "windows"}


def test_every_command_is_tried(smoke: ModuleType) -> None:
    root: Any = typer.main.get_command(app)
    assert set(root.commands) == set(smoke.COMMANDS)
    steps = (*smoke.ALONE, *smoke.SERVED, *smoke.CLUSTER)
    run = {step.line.split()[0] for step in steps} | {"serve", "witness", "demo"}
    assert run == set(root.commands)


def test_a_tag_is_the_versions(
    release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = tmp_path / "CHANGELOG.md"
    monkeypatch.setattr(release, "CHANGES", changes)
    changes.write_text(f"# Changes\n\n## {__version__} (2026-11-16)\n")
    release.require_tag(f"v{__version__}")
    with pytest.raises(SystemExit, match="the tag is v99"):
        release.require_tag("v99.0.0")
    changes.write_text("# Changes\n\n## Unreleased\n")
    with pytest.raises(SystemExit, match="has no section"):
        release.require_tag(f"v{__version__}")


def test_change_log_and_citation_name_this_version_and_its_day(release: ModuleType) -> None:
    release.require_tag(f"v{__version__}")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    heading = f"## {cited['version']} ({cited['date-released']})"
    assert cited["version"] == __version__
    assert heading in (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
