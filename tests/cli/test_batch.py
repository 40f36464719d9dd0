"""`midpoint batch`: whole populations on Spark."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from midpoint.analyst import ItemProfiles, disclose, report_weights
from midpoint.analyst.engines.spark.scores import Plan
from midpoint.analyst.service.state.model import Model
from midpoint.errors import MidpointError
from midpoint.wire import correction, from_fixed, to_fixed
from tests.support.models.estimates import estimate
from tests.support.models.small_model import run
from tests.support.tables.small_tables import train_tables


@pytest.fixture(scope="module")
def model(parquet_tables: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("scored") / "model"
    train_tables(parquet_tables, out)
    return out


def plan_of(model: Path, monkeypatch: pytest.MonkeyPatch, *more: object) -> Plan:
    """Return what `midpoint batch score` would score by, without Spark."""
    given: list[Plan] = []

    def take(_reports: object, plan: Plan) -> None:
        given.append(plan)
        raise MidpointError("enough")

    monkeypatch.setattr("midpoint.cli.batch.spark", nullcontext)
    monkeypatch.setattr("midpoint.analyst.engines.spark.open_parquet", lambda *_: None)
    monkeypatch.setattr("midpoint.analyst.engines.spark.require_new_address", lambda *_: None)
    monkeypatch.setattr("midpoint.analyst.engines.spark.scores.score_people", take)
    with pytest.raises(MidpointError, match="enough"):
        run("batch", "score", model, "reports", "--out", "nowhere", *more)
    return given[0]


@pytest.mark.slow
def test_batches_are_scored_by_what_was_disclosed(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles = ItemProfiles.load(model)
    disclosure = disclose(profiles)
    plan = plan_of(model, monkeypatch)
    assert plan.scorer.weights is not None
    np.testing.assert_array_equal(plan.scorer.weights, report_weights(profiles, disclosure))
    assert plan.scorer.weights.max() < 1
    rounded = disclose(profiles, "mpr")
    (tmp_path / "disclosure.json").write_bytes(rounded.raw)
    other = plan_of(model, monkeypatch, "--disclosure", tmp_path / "disclosure.json")
    np.testing.assert_array_equal(other.scorer.weights, 1.0)
    offsets = from_fixed(other.scorer.corrections)[profiles.message_index]
    np.testing.assert_array_equal(offsets, from_fixed(correction(rounded))[profiles.message_index])
    assert not np.array_equal(other.scorer.corrections, plan.scorer.corrections)
    half = plan_of(model, monkeypatch, "--alpha", 0.5)
    np.testing.assert_array_equal(
        half.scorer.weights, report_weights(profiles, disclosure, alpha=0.5)
    )
    assert plan_of(model, monkeypatch, "--estimator", "least-squares").scorer.weights is None


@pytest.mark.slow
@pytest.mark.spark
def test_train_obfuscate_and_score_on_spark(
    spark: Any, parquet_tables: tuple[Path, Path], tmp_path: Path
) -> None:
    ratings, users = parquet_tables
    model = tmp_path / "model"
    profiles = train_tables(parquet_tables, model, "--engine", "spark", "--master", "local[2]")
    assert profiles.provenance.configuration["engine"] == "spark"
    (tmp_path / "disclosure.json").write_bytes(disclose(profiles).raw)
    copy, scores = tmp_path / "copy", tmp_path / "scores"
    said = run(
        "batch", "obfuscate", ratings, "--users", users, "--seed", 1,
        "--disclosure", tmp_path / "disclosure.json", "--out", copy, "--master", "local[2]",
    )  # fmt: skip
    revealed = pl.read_parquet(copy / "*.parquet")
    assert 0 < revealed.height < pl.read_parquet(ratings).height
    assert f"{revealed.height:,} of" in said
    run("batch", "score", model, copy, "--disclosure", tmp_path / "disclosure.json", "--top", 2,
        "--margin", 3, "--out", scores, "--master", "local[2]")  # fmt: skip
    found = pl.read_parquet(scores / "*.parquet")
    assert found.height == revealed["user"].n_unique()
    assert set(found["items"].list.len().unique()) == {2 * (2 + 3)}
    hers = revealed.filter(pl.col("user") == found["user"][0])
    answers = dict(zip(hers["item"], to_fixed(hers["rating"].to_numpy()).tolist(), strict=True))
    estimated = estimate(Model(profiles, disclose(profiles)), answers)
    np.testing.assert_allclose(found["profile"][0].to_numpy(), estimated.mean, atol=1e-4)
    # What must not be there yet, and what must be there, is named; the session goes on.
    with pytest.raises(MidpointError, match="is there already; name a new directory"):
        run("batch", "score", model, copy, "--out", scores)
    with pytest.raises(MidpointError, match="nowhere cannot be read as Parquet"):
        run("batch", "score", model, tmp_path / "nowhere", "--out", tmp_path / "more")
    with pytest.raises(MidpointError, match="the reports have no column item, rating"):
        run("batch", "score", model, users, "--out", tmp_path / "more")
    assert spark.range(3).count() == 3
