"""Which extra brings a library: every one that a light installation lacks has one."""

import tomllib
from pathlib import Path

from midpoint.extras import EXTRAS, advice, explained

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))


def test_a_library_that_no_extra_brings_is_not_explained() -> None:
    assert advice(ModuleNotFoundError("x", name="nonsense")) is None
    assert "midpoint[analyst]" in str(advice(ModuleNotFoundError("x", name="scipy.sparse")))


def test_the_error_names_what_was_asked_for_and_stays_itself_where_no_extra_helps() -> None:
    missing = ModuleNotFoundError("No module named 'numba'", name="numba")
    said = explained("Analyst", missing)
    assert str(said).startswith("midpoint.Analyst: this needs numba; install it with: pip install")
    assert said.name == "numba"
    other = ModuleNotFoundError("No module named 'nonsense'", name="nonsense")
    assert explained("Analyst", other) is other


def test_the_package_has_every_extra_that_is_advised() -> None:
    assert {*EXTRAS.values()} <= PROJECT["project"]["optional-dependencies"].keys()
