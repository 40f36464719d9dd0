"""A person's directory of files, and the commands on it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from midpoint.cli.app import app
from midpoint.errors import MidpointError
from midpoint.user import Ledger
from midpoint.wire import ONE, Disclosure, Published, Report, Scores, Solicitation
from tests.support.devices import EVERYTHING, SHOWN, published


def command(*words: object) -> Any:
    """Run a command that may fail."""
    return CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "200"})


def scores_of(shown: Disclosure) -> Scores:
    """Score every item, the later the better."""
    n = len(shown.items)
    score = tuple(3 * ONE + 1000 * index for index in range(n))
    return Scores(disclosure=shown.digest, items=shown.items, score=score, deviation=(ONE,) * n)


@dataclass(frozen=True)
class Desk:
    """Files of one person."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def device(self) -> Path:
        return self.home / "device"

    @property
    def report(self) -> Path:
        return self.root / "report.json"

    def publish(self, shown: Published | None = None) -> Path:
        """Receive what is published."""
        return self._write("published.json", (shown or published()).raw)

    def ask(self, number: int = 0, count: int = 10, shown: Disclosure = SHOWN) -> Path:
        """Receive a question about the first items."""
        asked = Solicitation(
            disclosure=shown.digest, round=number, items=shown.items[:count], open=False
        )
        return self._write(f"question-{number}.json", asked.raw)

    def score(self, shown: Disclosure = SHOWN) -> Path:
        """Receive scores."""
        return self._write("scores.json", scores_of(shown).raw)

    def rate(self, ratings: dict[str, int] = EVERYTHING) -> Path:
        """Write down ratings by title."""
        lines = ["title,rating", *(f"{title},{stars}" for title, stars in ratings.items())]
        return self._write("ratings.csv", "\n".join(lines).encode())

    def category(self, name: str = "F") -> Path:
        """Write down a category, for her eyes only."""
        path = self._write("category", f"gender={name}\n".encode())
        path.chmod(0o600)
        return path

    def protect(self, *more: object, out: bool = True) -> Any:
        """Run `midpoint protect` on what was published and rated last."""
        read = (
            "--disclosure",
            self.root / "published.json",
            "--ratings",
            self.root / "ratings.csv",
        )
        hers = ("--home", self.home, "--category-file", self.category())
        return command("protect", *read, *hers, *(("--out", self.report) if out else ()), *more)

    def rank(self, *more: object) -> Any:
        """Run `midpoint rank`."""
        words = ("rank", "--scores", self.root / "scores.json", "--home", self.home)
        return command(*words, "--category-file", self.category(), *more)

    def kept(self) -> dict[str, bytes]:
        """Return all files of the device but the proof, which grows by what is refused as well."""
        files = [path for path in self.device.iterdir() if path.name != "proof"]
        return {path.name: path.read_bytes() for path in files}

    def rounds(self) -> list[Report]:
        """Return the reports that the ledger holds."""
        with Ledger.open(self.device) as ledger:
            return [Report.parse(entry.report.encode()) for entry in ledger.rounds]

    def _write(self, name: str, content: bytes) -> Path:
        path = self.root / name
        path.write_bytes(content)
        return path


def refused(result: Any) -> MidpointError:
    """Return what a person can fix; a traceback of ours is none."""
    assert result.exit_code == 1
    assert isinstance(result.exception, MidpointError), result.exception
    return result.exception
