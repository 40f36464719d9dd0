import inspect
from dataclasses import fields

import pytest

from midpoint.cli.audit import audit_command
from midpoint.cli.certify import certify_command
from midpoint.cli.data import describe_command
from midpoint.cli.obfuscate import obfuscate_command
from midpoint.cli.options.source import ColumnOptions, DataOptions, parse_scale
from midpoint.cli.train import train_command
from midpoint.data import Scale
from midpoint.errors import MidpointError


@pytest.mark.parametrize(
    "command",
    [audit_command, certify_command, describe_command, obfuscate_command, train_command],
)
def test_every_command_describes_a_table_by_the_same_options(command: object) -> None:
    assert callable(command)
    options = inspect.signature(command).parameters
    assert {field.name for field in fields(DataOptions)} <= options.keys()
    assert "data" not in options


def test_a_source_is_loaded_and_prepared() -> None:
    whole = DataOptions(source="simulated-tiny").load(seed=1)
    assert whole.value.tolist() == DataOptions(source="simulated-tiny").load(seed=1).value.tolist()
    assert whole.value.tolist() != DataOptions(source="simulated-tiny").load(seed=2).value.tolist()
    few = DataOptions(source="simulated-tiny", levels=3, at_least=15).load(seed=1)
    assert few.scale.levels is not None
    assert len(few.scale.levels) == 3
    assert 0 < few.n_users < whole.n_users


def test_scales_are_written_as_bounds_and_a_step() -> None:
    assert parse_scale("1:5") == Scale.stars(1, 5)
    assert parse_scale("0.5:5:0.5") == Scale.stars(0.5, 5, 0.5)
    assert parse_scale("-10:10:0") == Scale.continuous(-10, 10)
    for wrong, message in (
        ("five", "write LOW:HIGH"),
        ("1", "write LOW:HIGH"),
        ("1:5:1:1", "write LOW:HIGH"),
        ("1:inf", "write LOW:HIGH"),
        ("5:1", "5 must be below 1"),
        ("1:5:-1", "steps of -1 do not lead"),
        ("1:5:3", "steps of 3 do not lead"),
        ("1:5:0.00001", "steps of 1e-05 do not lead"),
    ):
        with pytest.raises(MidpointError, match=message):
            parse_scale(wrong)


def test_counts_are_named_for_whole_populations_too_and_not_for_copies() -> None:
    assert ColumnOptions(count_column="plays").columns().count == "plays"
    assert DataOptions(source="plays.csv", count_column="plays").columns().count == "plays"
    copies = DataOptions(source="plays.csv", count_column="plays").table_columns()
    assert copies.count is None  # what a tool wrote has no counts
