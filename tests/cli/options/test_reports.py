"""`midpoint train --reports`: from a table, from a site's database, and what is refused."""

import secrets
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from midpoint.analyst import ItemProfiles
from midpoint.cli.app import app
from midpoint.cli.options.reports import ReportOptions
from midpoint.errors import MidpointError
from midpoint.files import replace_file
from tests.support.sites.serving import Person, published, running, settings_of
from tests.support.tables.two_kinds import two_kinds, write_panel


def panel_tables(directory: Path) -> list[str]:
    """Write the panel as tables; return the arguments that name them."""
    return [
        *("train", *write_panel(two_kinds().panel, directory)),
        *("--feature", "gender", "--counterparts", "none", "--dimension", "3", "--iterations", "3"),
    ]


def test_a_table_of_reports_teaches_and_what_does_not_is_said(tmp_path: Path) -> None:
    world = two_kinds()
    replace_file(tmp_path / "disclosure.json", world.disclosure.raw)
    strange = world.made_up("eve", {world.disclosure.items[0]: 5.0}, disclosure="0" * 64)
    world.reports(strange).answers.rename({"person": "pseudonym"}).write_csv(tmp_path / "sent.csv")
    arguments = [*panel_tables(tmp_path), "--reports", str(tmp_path / "sent.csv")]
    out = ["--out", str(tmp_path / "model")]
    runner = CliRunner(env={"COLUMNS": "200"})
    forgotten = runner.invoke(app, [*arguments, *out])
    assert isinstance(forgotten.exception, MidpointError)
    assert "--reported-under SITE" in str(forgotten.exception)
    under = ["--reported-under", str(tmp_path / "disclosure.json")]
    shown = runner.invoke(app, [*arguments, *under, *out], catch_exceptions=False).output
    assert "items are learned from" in shown
    assert "left out: 1 under a disclosure that was never published" in shown
    kept = ItemProfiles.load(tmp_path / "model").provenance.configuration["reports"]
    assert kept["left_out"]["unpublished"] == 1
    assert kept["people"] == world.answers["person"].n_unique()


@pytest.mark.slow
def test_a_site_teaches_from_its_own_database(tmp_path: Path) -> None:
    world = two_kinds()
    site = published(tmp_path / "site", world.first)
    with running(settings_of(site)) as client:
        for stars in (2, 5):
            ann = Person(client, token=secrets.token_hex(32))
            assert ann.send(ann.answer(stars)).status_code in (200, 201)
        collected = ReportOptions(reports=str(site.root)).collect()  # while it serves
    assert collected is not None
    assert collected.answers["person"].n_unique() == 2
    assert set(collected.answers["disclosure"]) == {world.disclosure.digest}
    arguments = [*panel_tables(tmp_path), "--reports", str(site.root)]
    runner = CliRunner(env={"COLUMNS": "200"})
    model = tmp_path / "model"
    shown = runner.invoke(app, [*arguments, "--out", str(model)], catch_exceptions=False).output
    assert f"{len(collected)} answers of 2 people" in shown


def test_reports_are_named_with_what_they_answer() -> None:
    assert ReportOptions().collect() is None
    with pytest.raises(MidpointError, match="--reported-under goes with --reports"):
        ReportOptions(reported_under=[Path("site")]).collect()
    with pytest.raises(MidpointError, match="say which disclosures were answered"):
        ReportOptions(reports="sent.csv").collect()


def test_a_table_of_reports_teaches_beside_a_panel_on_disk(tmp_path: Path) -> None:
    world = two_kinds()
    replace_file(tmp_path / "disclosure.json", world.disclosure.raw)
    world.answers.rename({"person": "pseudonym"}).write_parquet(tmp_path / "sent.parquet")
    command, panel, *rest = panel_tables(tmp_path)
    words = {"user": pl.String, "item": pl.String}
    pl.read_csv(panel, schema_overrides=words).write_parquet(tmp_path / "panel.parquet")
    reports = ["--reports", str(tmp_path / "sent.parquet")]
    under = ["--reported-under", str(tmp_path / "disclosure.json")]
    model = ["--engine", "stream", "--out", str(tmp_path / "model")]
    arguments = [command, str(tmp_path / "panel.parquet"), *rest, *reports, *under, *model]
    shown = CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments, catch_exceptions=False).output
    assert "items are learned from" in shown
    kept = ItemProfiles.load(tmp_path / "model").provenance.configuration
    assert kept["engine"] == "stream"
    assert kept["reports"]["people"] == world.answers["person"].n_unique()
