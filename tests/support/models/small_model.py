"""A small model that the commands on messages share."""

import atexit
import json
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from typer.testing import CliRunner

from midpoint.analyst import Factorizer, ItemProfiles, disclose, train
from midpoint.cli.app import app
from midpoint.data import PRESETS, Ratings, simulate
from midpoint.files import replace_file
from midpoint.wire import Disclosure, Report, to_fixed

SMALL_AUDIT = ("--schemes", "mpr,cmpss", "--attacks", "lse,likelihood", "--folds", 2, "--jobs", 1)
"""Options of `midpoint audit` for an audit of seconds."""


class Model(NamedTuple):
    """A trained model on disk, and what a test needs beside it."""

    directory: Path
    """Its item profiles."""
    profiles: ItemProfiles
    """The same, in memory."""
    disclosure_file: Path
    """The default disclosure."""
    disclosure: Disclosure
    """The same, in memory."""
    ratings: Ratings
    """What it was trained on."""

    def report(self, path: Path, answers: dict[str, float], **changes: Any) -> Path:
        """Write a report with these answers."""
        fixed = to_fixed(list(answers.values())).tolist()
        content: dict[str, Any] = {
            "id": "0" * 32,
            "disclosure": self.disclosure.digest,
            "round": 0,
            "answers": tuple(sorted(zip(answers, fixed, strict=True))),
        }
        replace_file(path, Report(**(content | changes)).raw)
        return path

    def answers(self, count: int) -> dict[str, float]:
        """Return answers of somebody who likes the first items less and less."""
        items = self.profiles.item_ids[:count].tolist()
        return dict(zip(items, np.linspace(5, 1, count).round().tolist(), strict=True))


@cache
def trained() -> Model:
    """Train once for all tests of a run."""
    drawn = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    # Items in another order than that of their names, as numbers without leading zeros are.
    ratings = replace(drawn, item_ids=drawn.item_ids[::-1].copy())
    factorizer = Factorizer(dimension=3, iterations=4, validation=0.0)
    profiles = train(ratings, "gender", factorizer=factorizer, scheme="dmpss")
    directory = Path(tempfile.mkdtemp(prefix="midpoint-test-"))
    atexit.register(shutil.rmtree, directory)
    profiles.save(directory / "model")
    disclosure = disclose(profiles)
    file = directory / "disclosure.json"
    replace_file(file, disclosure.raw)
    return Model(directory / "model", profiles, file, disclosure, ratings)


def run(*arguments: object) -> Any:
    """Run a command; return its JSON if `--json` is among the arguments, else its text."""
    words = [str(argument) for argument in arguments]
    result = CliRunner().invoke(app, words, catch_exceptions=False, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout) if "--json" in words else result.stdout
