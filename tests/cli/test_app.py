import ast
import inspect
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from typer.models import OptionInfo
from typer.testing import CliRunner

from midpoint import __version__
from midpoint.cli import app as root
from midpoint.cli import main
from midpoint.errors import MidpointError


def test_the_version_is_printed() -> None:
    result = CliRunner().invoke(root.app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"{__version__}\n"


def test_without_a_command_help_is_shown() -> None:
    assert "train" in CliRunner().invoke(root.app, []).stdout


@pytest.mark.parametrize("width", [80, 100])
def test_help_groups_commands_by_who_uses_them(width: int) -> None:
    shown = CliRunner().invoke(root.app, ["--help"], env={"COLUMNS": str(width)})
    assert shown.exit_code == 0
    parts = re.split(r"╭─ (\w+)", shown.stdout)
    listed = {
        who: re.findall(r"^│ (\w+)  ", part, re.MULTILINE)
        for who, part in zip(parts[1::2], parts[2::2], strict=True)
    }
    del listed["Options"]
    assert listed == {
        "Start": ["demo"],
        "Operator": [
            *("train", "disclose", "publish", "learn", "serve", "doctor", "solicit", "estimate"),
            *("recommend", "data", "batch"),
        ],
        "Person": ["answer", "protect", "rank", "panel", "device"],
        "Witness": ["witness"],
        "Auditor": ["audit", "compare", "certify"],
        "Researcher": ["obfuscate"],
    }
    assert max(map(len, shown.stdout.splitlines())) <= width


def commands() -> Iterator[tuple[str, Callable[..., None]]]:
    """Yield every command, and the function that Typer sees."""
    for part in (root.app, *(group.typer_instance for group in root.app.registered_groups)):
        assert part is not None
        for command in part.registered_commands:
            assert command.callback is not None
            yield str(command.name), command.callback


def test_no_command_has_more_than_a_dozen_parameters() -> None:
    counts = {name: _parameters(inspect.unwrap(function)) for name, function in commands()}
    assert {"train", "audit", "answer", "serve", "describe", "score"} <= counts.keys()
    assert {name: count for name, count in counts.items() if count > 12} == {}


def test_no_heading_of_a_help_has_more_than_fifteen_options() -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for name, command in commands():
        for parameter in inspect.signature(command).parameters.values():
            for note in getattr(parameter.annotation, "__metadata__", ()):
                if isinstance(note, OptionInfo):
                    counts[name, note.rich_help_panel or "Options"] += 1
    assert counts["audit", "Who attacks"] > 5  # the control: headings are seen
    assert {heading: count for heading, count in counts.items() if count > 15} == {}


def _parameters(function: Callable[..., None]) -> int:
    return function.__code__.co_argcount + function.__code__.co_kwonlyargcount


def test_help_imports_nothing_that_only_a_command_needs() -> None:
    script = "import sys, midpoint.cli; print(sorted({n.split('.')[0] for n in sys.modules}))"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(ast.literal_eval(found.stdout))
    assert {"typer", "rich", "midpoint"} <= loaded
    assert not loaded & {"cryptography", "httpx", "numba", "numpy", "polars", "pydantic", "scipy"}


@pytest.mark.parametrize(
    "words", [("-c", "from midpoint.cli import main; main()"), ("-m", "midpoint")]
)
def test_the_command_runs_as_installed_and_as_a_module(words: tuple[str, str]) -> None:
    found = subprocess.run(
        [sys.executable, *words, "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == f"{__version__}\n"


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(root, "app", fail)


def test_what_a_person_can_fix_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(monkeypatch, MidpointError("line 3 of [bold]x[/bold].csv is " + "long " * 60))
    with pytest.raises(SystemExit) as found:
        main()
    assert found.value.code == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: line 3 of [bold]x[/bold].csv")
    assert err.count("\n") == 1


def test_a_missing_library_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(monkeypatch, ModuleNotFoundError("no", name="polars.io"))
    with pytest.raises(SystemExit):
        main()
    assert "pip install 'midpoint[analyst]'" in capsys.readouterr().err
    failing(monkeypatch, ModuleNotFoundError("no", name="something_else"))
    with pytest.raises(ModuleNotFoundError):
        main()


def test_a_file_that_cannot_be_written_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    blocked = str(tmp_path / "file" / "model")
    monkeypatch.setattr(sys, "argv", ["midpoint", "train", "simulated-tiny", "--out", blocked])
    with pytest.raises(SystemExit) as found:
        main()
    assert found.value.code == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "error:" in line]
    assert str(tmp_path / "file") in line
    assert "check the path" in line
    failing(monkeypatch, OSError("no file is to blame"))
    with pytest.raises(OSError, match="no file"):
        main()


def test_our_own_mistakes_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, ZeroDivisionError("oops"))
    with pytest.raises(ZeroDivisionError):
        main()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["train", "nowhere.csv"], "nowhere.csv"),
        (["train", "simulated-tiny", "--feature", "height"], "'height'"),
        (["train", "simulated-tiny", "--regularization", "some"], "--regularization some"),
    ],
)
def test_a_real_mistake_is_one_line_on_standard_error(
    arguments: list[str],
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["midpoint", *arguments, "--out", "model"])
    with pytest.raises(SystemExit) as found:
        main()
    assert found.value.code == 1
    out, err = capsys.readouterr()
    assert err.startswith("error: ")
    assert named in err
    assert err.count("\n") == 1
    assert "Traceback" not in out + err
    assert list(tmp_path.iterdir()) == []


def test_what_a_pipe_cannot_write_is_a_question_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, whose pipes have 256 characters."""
    pipe = TextIOWrapper(BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", pipe)
    monkeypatch.setattr(root, "app", lambda: sys.stdout.write("5 ★ Amélie\n"))
    with pytest.raises(UnicodeEncodeError):  # the control
        sys.stdout.write("5 ★")
    main()
    pipe.flush()
    assert pipe.buffer.getvalue().decode("cp1252") == f"5 ? Amélie{os.linesep}"
