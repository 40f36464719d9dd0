"""The data sets known by name, and where they are looked for."""

from pathlib import Path

import pytest

from midpoint.data.simulation.presets import PRESETS
from midpoint.data.sources.catalogue import (
    LAYOUTS,
    SOURCES,
    data_directories,
    find_source,
    own_directory,
)
from midpoint.data.sources.loader import LOADERS, load
from tests.support.tables.small_movielens import small_100k


def test_every_source_has_layouts_and_loaders() -> None:
    assert set(LOADERS) == set(LAYOUTS)
    assert {layout for source in SOURCES.values() for layout in source.layouts} == set(LAYOUTS)
    assert not set(SOURCES) & set(PRESETS)


def test_the_given_directory_is_searched_before_our_own(directories: tuple[Path, Path]) -> None:
    given, own = directories
    assert data_directories() == [given, own]
    assert own_directory() == own
    assert find_source(SOURCES["movielens-100k"]) is None
    small_100k(own / "ml-100k.zip", "5")
    assert load("movielens-100k").value[0] == 5
    small_100k(given / "ml-100k")
    assert load("movielens-100k").value[0] == 3


def test_without_the_variable_only_our_own_is_searched(
    directories: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MIDPOINT_DATA")
    assert data_directories() == [directories[1]]


def test_a_directory_without_the_files_is_passed_over(directories: tuple[Path, Path]) -> None:
    given, own = directories
    (given / "ml-100k").mkdir()
    small_100k(own / "ml-100k")
    assert find_source(SOURCES["movielens-100k"]) == own / "ml-100k"
