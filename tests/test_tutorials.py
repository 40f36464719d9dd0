"""Every tutorial can be followed as it is written: its blocks run in order, in one directory."""

import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from midpoint.analyst.disclose.site import Site
from midpoint.cli.app import app
from tests.support.sites.serving import running, settings_of

pytestmark = pytest.mark.slow

TUTORIALS = Path(__file__).parents[1] / "docs" / "tutorials"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.DOTALL | re.MULTILINE)
HERE = re.compile(r"cat > (\S+) <<'END'\n(.*?)^END$", re.DOTALL | re.MULTILINE)
QUOTED = re.compile(r"^> (.+)$", re.MULTILINE)
"""What a tutorial says that a command prints."""
SERVE = re.compile(r"midpoint serve (\S+) --port (\d+) &")
READERS = ("person", "operator", "researcher", "auditor")


class Shell:
    """Does what a terminal would do with a tutorial's lines; a service runs in this process."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.addresses: dict[str, str] = {}
        self.shown: list[str] = []

    def run(self, block: str) -> None:
        """Run the lines of a block, files that are written down in it first."""
        for path, content in HERE.findall(block):
            Path(path).write_text(content)
        for line in HERE.sub("", block).splitlines():
            if line.strip():
                self.line(line)

    def line(self, line: str) -> None:
        """Run a line."""
        if served := SERVE.fullmatch(line):
            site, port = served.groups()
            client = self.stack.enter_context(running(settings_of(Site(Path(site)))))
            self.addresses[f"http://127.0.0.1:{port}"] = str(client.base_url).rstrip("/")
            return
        program, *words = shlex.split(line, comments=True)
        if program == "chmod":
            Path(words[1]).chmod(int(words[0], 8))
            return
        assert program == "midpoint", f"a tutorial's line that the test does not know: {line}"
        words = [self.addresses.get(word, word) for word in words]
        result = CliRunner().invoke(app, words, catch_exceptions=False)
        assert result.exit_code == 0, f"{line}\n{result.output}"
        self.shown.append(result.output)


def follow(text: str, name: str) -> Iterator[str]:
    """Run a tutorial's blocks in order; yield what its commands showed."""
    names: dict[str, object] = {"__name__": name}
    with ExitStack() as stack:
        shell = Shell(stack)
        for language, block in BLOCK.findall(text):
            if language == "sh":
                shell.run(block)
            else:
                with redirect_stdout(StringIO()) as printed:
                    exec(compile(block, name, "exec"), names)  # noqa: S102 - our own examples
                shell.shown.append(printed.getvalue())
        yield from shell.shown


@pytest.mark.parametrize("reader", READERS)
def test_a_tutorial_can_be_followed(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    text = (TUTORIALS / f"{reader}.md").read_text(encoding="utf-8")
    shown = "\n".join(follow(text, reader))
    wanted = {
        "person": "Nothing was sent; add --yes to send it.",
        "operator": "leak (AUC)",
        "researcher": "Of two people, the best attack picks the right one",
        "auditor": "Of two people, the best attack picks the right one",
    }
    assert wanted[reader] in shown
    assert all(quoted in shown for quoted in QUOTED.findall(text))


def test_there_is_one_for_every_reader() -> None:
    assert {path.stem for path in TUTORIALS.glob("*.md")} == set(READERS)


def test_a_step_that_fails_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong in ("midpoint train", "rm -rf everything"):
        with pytest.raises(AssertionError):
            list(follow(f"```sh\n{wrong}\n```\n", "wrong"))
