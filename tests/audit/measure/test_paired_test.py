"""Two audits of the same people: what changed is judged person by person."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.audit.attackers.auc import Area, area
from midpoint.audit.measure.findings import Cost, Row
from midpoint.audit.measure.paired_test import Key, Pairing, pair
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.measure.statistics import mean_interval, paired_cost, paired_loss, root_mean
from midpoint.audit.report.comparison import Change, changes
from midpoint.audit.run.store import Store
from tests.support.audits.made_up_results import made_up

Float = NDArray[np.float64]
FOLDS, PEOPLE = 2, 400
FOLD = np.repeat(np.arange(FOLDS), PEOPLE // FOLDS)
GENDER = np.arange(PEOPLE) % 2
PARTY = np.arange(PEOPLE) % 3
HIDDEN = np.full(PEOPLE, 10)
NOISE = np.random.default_rng(0).normal(size=PEOPLE)
BANDS = ("[0, 18)", "[18, 25)", "25 and over")
READ: Key = ("no", "auc", "lr")


def audited(
    directory: Path,
    scores: Float,
    *,
    squares: Float | None = None,
    kept: Float | None = None,
    names: str = "u",
    others: list[Float] | None = None,
) -> AuditResults:
    """Write down what an audit would keep of these people, and what it would find.

    `others` are scores of further attackers.
    """
    beside = {f"other{k}": one[:, None] for k, one in enumerate(others or [])}
    several = scores.ndim == 2
    category = PARTY if several else GENDER
    table = scores if several else scores[:, None]
    squares = np.full(PEOPLE, 9.0) if squares is None else squares
    kept = np.full(PEOPLE, 20.0) if kept is None else kept
    sums = {"inferred": squares, "blind": squares, "local": squares, "hidden": HIDDEN}
    sums |= {"given": np.full(PEOPLE, 20.0), "kept": kept}
    ids, store = np.array([f"{names}{i}" for i in range(PEOPLE)]), Store(directory)
    for fold in range(FOLDS):
        some = fold == FOLD
        store.save({"category": category[some], "user_ids": ids[some]}, fold, "learn")
        for name, read in ({"lr": table} | beside).items():
            store.save({"scores": read[some]}, fold, "no", "attack", name)
        for scheme, by in (("no", 1.0), ("dmp", 1.02)):
            scaled = {name: by * one if one is squares else one for name, one in sums.items()}
            store.save({name: one[some] for name, one in scaled.items()}, fold, scheme, "accuracy")
    wanted = range(3) if several else [1]
    areas = [area(table[:, c], category == k, FOLD) for c, k in enumerate(wanted)]
    found = [("lr", Area.mean(areas))]
    found += [(f"lr[{BANDS[k]}]", one) for k, one in enumerate(areas) if several]
    found += [(name, area(one[:, 0], category == 1, FOLD)) for name, one in beside.items()]
    rows = [row("auc", attack, one.value, *one.interval()) for attack, one in found]
    rows.append(row("rmse_local", "", *root_mean(squares, HIDDEN)))
    share = 1 - kept / 20
    half = 1.96 * float(share.std()) / PEOPLE**0.5
    rows.append(row("withheld", "", float(share.mean()), share.mean() - half, share.mean() + half))
    rows.append(row("disclosed_bits", "", 19.0, 19.0, 19.0))
    return replace(
        made_up({"no": {"lr": 0.6}}),
        rows=tuple(rows),
        folds=FOLDS,
        categories=BANDS if several else ("F", "M"),
        costs={"dmp": Cost(*paired_cost(1.02 * squares, squares))},
    )


def row(metric: str, attack: str, value: float, low: float, high: float) -> Row:
    return Row("invented", "gender", "no", metric, attack, value, low, high, FOLDS, 0)


def compared(tmp_path: Path, *audits: dict[str, Any]) -> tuple[dict[Key, Change], Pairing]:
    """Compare two audits person by person."""
    directories = [tmp_path / name for name in "ab"]
    a, b = (audited(directory, **made) for directory, made in zip(directories, audits, strict=True))
    together = pair(directories[0], directories[1], a, b)
    assert isinstance(together, Pairing)
    return {change[:3]: change for change in changes(a, b, together)}, together


def test_a_small_change_is_found_among_the_same_people_and_missed_among_others(
    tmp_path: Path,
) -> None:
    before, after = 0.4 * GENDER + NOISE, 0.6 * GENDER + NOISE
    found, together = compared(tmp_path, {"scores": before}, {"scores": after})
    assert together.n_people == PEOPLE
    assert found[READ].paired
    assert found[READ].beyond_chance
    a, b = (audited(tmp_path / name, one) for name, one in (("a", before), ("b", after)))
    (alone,) = [change for change in changes(a, b) if change[:3] == READ]
    assert not alone.paired
    assert not alone.beyond_chance


def test_lists_of_the_same_people_are_compared_person_by_person(tmp_path: Path) -> None:
    ndcg = np.random.default_rng(3).random(PEOPLE)
    ndcg[::7] = np.nan
    key: Key = ("dmp", "ndcg_at_10", "")
    made = []
    for name, loss in (("a", 0.02), ("b", 0.05)):
        results, store = audited(tmp_path / name, NOISE), Store(tmp_path / name)
        shown = {"no": ndcg, "dmp": (1 - loss) * ndcg}
        for fold in range(FOLDS):
            for scheme, each in shown.items():
                kept = dict(store.load(fold, scheme, "accuracy"))
                store.save({**kept, "ndcg": each[fold == FOLD]}, fold, scheme, "accuracy")
        cost = Cost(*paired_loss(shown["dmp"], ndcg))
        assert cost.value == pytest.approx(loss)
        mean = row("ndcg_at_10", "", *mean_interval(shown["dmp"]))._replace(scheme="dmp")
        made.append(replace(results, rows=(*results.rows, mean), ndcg_costs={"dmp": cost}))
    together = pair(tmp_path / "a", tmp_path / "b", *made)
    assert isinstance(together, Pairing)
    a, b = made
    alone, paired = ({c[:3]: c for c in changes(a, b, how)} for how in (None, together))
    assert not alone[key].beyond_chance
    assert paired[key].paired
    assert paired[key].beyond_chance
    lost = paired["dmp", "ndcg_cost", ""]
    assert lost.paired
    assert lost.beyond_chance


@pytest.mark.slow
def test_no_change_is_found_between_two_that_are_equal(tmp_path: Path) -> None:
    """The control: what each person is taken for differs by chance, in half of its variance."""
    rng = np.random.default_rng(4)
    people = [0.5 * GENDER + rng.normal(size=PEOPLE) for _ in range(40)]
    both = [[one + rng.normal(size=PEOPLE) for one in people] for _ in range(2)]
    found, _ = compared(tmp_path, *({"scores": NOISE, "others": some} for some in both))
    assert not found[READ].beyond_chance
    areas = [change for (_, metric, _), change in found.items() if metric == "auc"]
    assert len(areas) == 41
    assert all(change.paired for change in areas)
    assert sum(change.beyond_chance for change in areas) <= 7  # 2 expected; 8 once in a thousand


@pytest.mark.slow
def test_errors_of_differences_are_what_other_people_would_make_of_them(tmp_path: Path) -> None:
    """Against people drawn again: the linear parts hold for every metric."""
    rng = np.random.default_rng(2)
    one: dict[str, Float] = {
        "scores": 0.6 * GENDER + NOISE,
        "squares": 9 + 3 * rng.random(PEOPLE),
        "kept": rng.integers(10, 20, PEOPLE).astype(float),
    }
    other: dict[str, Float] = {
        "scores": 0.5 * GENDER + NOISE + 0.5 * rng.normal(size=PEOPLE),
        "squares": one["squares"] + rng.random(PEOPLE),
        "kept": one["kept"] + rng.integers(0, 2, PEOPLE),
    }
    found, together = compared(tmp_path, one, other)

    def numbers(made: dict[str, Float], some: NDArray[np.intp]) -> dict[str, float]:
        return {
            "auc": area(made["scores"][some], GENDER[some], FOLD[some]).value,
            "rmse_local": root_mean(made["squares"][some], HIDDEN[some])[0],
            "withheld": float((1 - made["kept"][some] / 20).mean()),
        }

    drawn = [rng.integers(0, PEOPLE, PEOPLE) for _ in range(200)]
    both = [(numbers(one, some), numbers(other, some)) for some in drawn]
    for scheme, metric, attack in ((*READ,), ("no", "rmse_local", ""), ("no", "withheld", "")):
        spread = float(np.std([y[metric] - x[metric] for x, y in both]))
        change = found[scheme, metric, attack]
        assert change.before is not None
        assert change.after is not None
        deviation = together.deviation(change[:3], change.before, change.after)
        assert deviation == pytest.approx(spread, rel=0.2)
    assert not found["no", "disclosed_bits", ""].paired  # which is not made of people
    assert found["dmp", "cost", ""].paired
    assert not found["dmp", "cost", ""].beyond_chance  # 2 % either way, on whatever raw ratings


def test_each_of_several_categories_is_compared(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    own = np.eye(3)[PARTY]
    scores = rng.normal(size=(PEOPLE, 3)) + 0.3 * own
    other = scores + np.array([0.3, 0.0, 0.0]) * own
    found, _ = compared(tmp_path, {"scores": scores}, {"scores": other})
    seen = {attack: change for (_, metric, attack), change in found.items() if metric == "auc"}
    assert {name for name, change in seen.items() if change.paired} == set(seen)
    assert {name for name, change in seen.items() if change.apart} == {"lr", "lr[[0, 18)]"}


def test_what_does_not_belong_together_is_not_compared_person_by_person(tmp_path: Path) -> None:
    here = audited(tmp_path / "a", NOISE)
    others = audited(tmp_path / "b", NOISE, names="v")
    assert pair(tmp_path / "a", tmp_path / "b", here, others) == "their folds hold other people"
    later = replace(here, seed=3)
    assert pair(tmp_path / "a", tmp_path / "a", here, later) == "they differ in seed"
    empty = pair(tmp_path / "a", tmp_path / "none", here, here)
    assert isinstance(empty, str)
    assert "no scores of single people" in empty


def test_numbers_that_the_people_do_not_give_are_not_taken_from_them(tmp_path: Path) -> None:
    """Results from elsewhere, beside the scores of another run."""
    here = audited(tmp_path / "a", NOISE)
    other = replace(here, rows=tuple(r._replace(value=r.value + 0.01) for r in here.rows))
    together = pair(tmp_path / "a", tmp_path / "a", here, other)
    assert isinstance(together, Pairing)
    assert not any(change.paired for change in changes(here, other, together) if change[1] == "auc")
