"""`make bench QUICK=1` runs every program on small data, and leaves the figures alone."""

import re
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from importlib import reload
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measuring import measure as measuring

ROOT = Path(__file__).parents[2]


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load the module as a program with these arguments would; put it back afterwards."""

    def started(*arguments: str) -> Any:
        monkeypatch.setattr(sys, "argv", ["program", *arguments])
        return reload(measuring)

    yield started
    started()


def test_every_program_of_make_bench_takes_the_option() -> None:
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    listed = re.search(r"^BENCHMARKS := (.+)$", makefile, re.MULTILINE)
    assert listed is not None
    programs = listed[1].split()
    assert len(programs) > 20
    for name in programs:
        text = (ROOT / "benchmarks" / name.replace(".", "/")).with_suffix(".py").read_text()
        assert "parse_args()" not in text, name
        assert re.search(
            r"= options\(parser|^    options\(ArgumentParser|options\(parser\)\.",
            text,
            re.MULTILINE,
        ), name


@pytest.mark.parametrize(
    ("given", "folds", "rows"),
    [([], 10, "all"), (["--quick"], 2, "few"), (["--quick", "--folds", "3"], 3, "few")],
)
def test_quick_replaces_what_is_not_given(
    measure: Callable[..., Any], given: list[str], folds: int, rows: str
) -> None:
    module = measure(*given)
    parser = ArgumentParser()
    parser.add_argument("--folds", type=int, default=10)
    assert module.options(parser, folds=2).folds == folds
    assert module.or_quick("all", "few") == rows


def test_quick_figures_are_kept_apart(measure: Callable[..., Any]) -> None:
    assert measure().RESULTS == ROOT / "benchmarks" / "results"
    assert measure("--quick").RESULTS == ROOT / "build" / "benchmarks" / "results"
