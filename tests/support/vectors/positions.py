"""The vectors of the schemes with counterparts: positions, and what becomes of ratings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from midpoint.protocol.positions import adjust_population
from midpoint.user import Parameters, PrivateCategory, correct, obfuscate
from midpoint.user.core.coins import PURPOSES
from midpoint.user.core.counterparts import adjustment_of, counterparts
from midpoint.wire import (
    GRAIN,
    ONE,
    SCHEMES,
    Disclosure,
    RatingScale,
    Refusal,
    Scores,
    as_rows,
)
from tests.support.people.made_up import AGE, as_sets, disclosure, entries, sealed
from tests.support.people.made_up_positions import counterparts_disclosure, real_size
from tests.support.vectors.parts import (
    FEATURES,
    HALVES,
    UNEVEN,
    Case,
    Listed,
    own_category,
    pinned,
    text,
)

Moved = tuple[str, Disclosure, tuple[int, ...]]


def with_counterparts() -> dict[str, Disclosure]:
    """The same for the schemes with counterparts."""
    make, made = counterparts_disclosure, dict[str, Disclosure]()
    shapes = {"2": (2, 3), "3": (3, 2), "2x3": (2, 2)}
    for scheme in (name for name, scheme in SCHEMES.items() if scheme.counterparts):
        for seed, (size, (d, r)) in enumerate(shapes.items()):
            features = FEATURES[size]
            made[f"{scheme} {size}"] = make(
                scheme, features, seed=seed, selection_factors=d, taste_factors=r
            )
    made["cmpss uneven"] = make(features=(AGE,), points=UNEVEN, seed=3, selection_factors=4)
    made["cmp half stars"] = make("cmp", points=HALVES, seed=4)
    made["cmpss strong"] = make(seed=5, selection_factors=3, taste_factors=3, reach=8.0)
    made["cmpss, tastes choose"] = make(seed=6, selection_factors=2, taste_factors=3, choose=True)
    made["cmpss, two strata"] = make(
        features=(AGE,), seed=7, selection_factors=2, taste_factors=2, strata=2
    )
    plain = make(seed=8, selection_factors=2, taste_factors=2)
    keep = tuple(ONE * (j % 4) // 3 for j in range(len(plain.items)))
    made["cmpss with a leak budget"] = plain.model_copy(update={"keep": keep, "leak": ONE // 5 * 3})
    made["cmp, log spreads"] = make("cmp", seed=8, spread=True)
    made["cmpss, log spreads, two strata"] = make(
        features=(AGE,), points=HALVES, seed=9, strata=2, spread=True
    )
    fewer = RatingScale(low=HALVES[0], high=HALVES[-1], levels=HALVES, reported=HALVES[::3])
    made["cmpss, log spreads, four of ten levels"] = make(
        points=HALVES, seed=10, spread=True, scale=fewer
    )
    made["cmpss of sets"] = as_sets(
        make(features=(AGE,), seed=11, selection_factors=4, taste_factors=0, strata=2)
    )
    made["cmpss of sets, her own probabilities"] = with_weight(
        make(seed=12, selection_factors=3, taste_factors=0), ONE // 3
    )
    return made


def with_weight(shown: Disclosure, weight: int) -> Disclosure:
    """Make it one of sets, whose devices add their own probabilities to scores."""
    sets = as_sets(shown)
    assert sets.prior is not None
    return sets.model_copy(update={"prior": sets.prior.model_copy(update={"weight": weight})})


def moved_obfuscations() -> Iterator[Case]:
    """The same for schemes with counterparts: four people, and what becomes of their ratings."""
    for turn, (name, shown) in enumerate(with_counterparts().items()):
        rng, parameters = np.random.default_rng(200 + turn), Parameters.of(shown)
        starts, points = np.arange(0, 25, 6), np.asarray(shown.scale.levels)
        item = np.concatenate([rng.permutation(len(shown.items))[:6] for _ in range(4)])
        value = points[rng.integers(0, len(points), 24)]
        person = rng.integers(0, shown.n_cells, 4)
        bits = rng.integers(0, 2**53, (24, len(PURPOSES)))
        bits[0], bits[1], bits[2] = 0, 2**53 - 1, 2**52
        adjustment = adjust_population(parameters, starts, item, value, person)
        category = person.repeat(6)
        for alpha in (1.0, 0.5, 0.0) if turn == 0 else (1.0, 0.5):
            done = obfuscate(item, value, category, parameters, bits / 2**53, adjustment, alpha)
            yield {
                "name": f"{name}, alpha {alpha}",
                "disclosure": text(shown),
                "alpha": alpha,
                "item": item.tolist(),
                "value": value.tolist(),
                "category": category.tolist(),
                "coins": bits.tolist(),
                "reveal": adjustment.reveal.tolist(),
                "shift": adjustment.shift.tolist(),
                "keep": done.keep.tolist(),
                "reported": done.value.tolist(),
            }


def moved_corrections() -> Iterator[Case]:
    """What was moved is taken off again; in the last cases doubles would lose units on the way."""
    for turn, (name, shown, move) in enumerate((*some_moves(), *wide_moves())):
        rng, n = np.random.default_rng(300 + turn), len(shown.items)
        scores = Scores(
            disclosure=shown.digest,
            items=shown.items,
            score=tuple(rng.integers(-ONE, 7 * ONE, n).tolist()),
            deviation=tuple(rng.integers(0, ONE, n).tolist()),
        )
        names, rated = own_category(shown, turn), shown.items[1::4]
        ranked = correct(scores, shown, PrivateCategory.of(shown, names), rated, move)
        yield {
            "name": f"{name}, moved",
            "disclosure": text(shown),
            "scores": text(scores),
            "category": names,
            "rated": list(rated),
            "move": list(move),
            "ranked": [row._asdict() for row in ranked],
        }


def some_moves() -> Iterator[Moved]:
    for turn, (name, shown) in enumerate(with_counterparts().items()):
        model = Parameters.of(shown).positions
        assert model is not None
        move = np.random.default_rng(turn).integers(-2 * GRAIN, 2 * GRAIN, model.moved)
        yield name, shown, tuple(move.tolist())


def wide_moves() -> Iterator[Moved]:
    """Moves far beyond 3/4 of the scale either way, and products that cancel but for a unit."""
    yield "cmp far", counterparts_disclosure("cmp", seed=6), (2**14, -(2**14), 2**14)
    points, most = (-(2**31), 0, 2**31), 2**25
    row = (most - 1, most - 3, most - 7, 5 - most, 8 - most, -most)
    wide = counterparts_disclosure(
        "cmp", n_items=2, points=points, taste_factors=6, taste=(row, row)
    )
    yield "cmp wide", wide, (2**15, 2**15 - 1, -(2**15)) * 2


def changes_of_counterparts() -> Iterator[Listed]:
    """The first use of a scheme with counterparts, new numbers of it, and a change to another."""
    shown, later, plain = (
        counterparts_disclosure(),
        counterparts_disclosure(seed=2),
        disclosure(n_items=12),
    )
    first, second = entries([shown, later])
    pin, code = pinned(first, shown), Refusal.SCHEME_CHANGED
    yield "counterparts", shown, sealed([first]), None, None, pin
    newer = sealed([first, second])
    yield "counterparts, a new prior", later, newer, pin, None, pinned(second, later)
    weaker = sealed(entries([shown, plain]))
    yield "no counterparts later", plain, weaker, pin, None, code
    farthest = at_the_limits()
    (last,) = entries([farthest])
    yield "positions at the limits", farthest, sealed([last]), None, None, pinned(last, farthest)


def at_the_limits() -> Disclosure:
    """The last numbers that devices take: beyond each is a case of `bad_positions`."""
    shown = counterparts_disclosure(n_items=1, selection_factors=2, taste_factors=2)
    unit = [[ONE * (i == j) for j in range(4)] for i in range(4)]
    far = [[64 * ONE * (-1) ** (i + j) for j in range(4)] for i in range(4)]
    stretched = [[4 * ONE * (i == j) for j in range(4)] for i in range(4)]
    thin = [[(ONE // 64 + 1) * (i == j) for j in range(4)] for i in range(4)]
    great = [[2**14 * value for value in row] for row in unit]
    prior = {
        "least": [[0, 0], [2**39, 2**40]],
        "mean": [[far[0], far[1]]] * 2,
        "precision": [[thin, great]] * 2,
        "map": [[[unit, stretched], [stretched, unit]]] * 2,
    }
    return shown.model_copy(
        update={
            "rate": ((32 * GRAIN, -32 * GRAIN),),
            "selection": ((-32 * GRAIN, 32 * GRAIN),),
            "taste": ((-8 * GRAIN, 8 * GRAIN),),
            "base": ((-3 * GRAIN, 9 * GRAIN),),
            "prior": shown.prior and shown.prior.model_copy(update=_rows(prior)),
        }
    )


def bad_positions() -> Iterator[Case]:
    """Priors of positions that are none, and numbers beyond all measure; each beside a fine one."""
    shown = counterparts_disclosure(n_items=5, selection_factors=2, taste_factors=2, strata=2)
    disclosed_prior = shown.prior
    assert disclosed_prior is not None
    unit = [[ONE * (i == j) for j in range(4)] for i in range(4)]
    (one, two), light = disclosed_prior.precision[0], disclosed_prior.precision[1]
    (there, back), span = disclosed_prior.map[0], 4 * GRAIN
    other, heavy, mean = there[1], disclosed_prior.map[1], disclosed_prior.mean
    skewed = _with(two, 1, 0, two[0][1] + 1)
    tilted = _with(_with(unit, 0, 1, ONE), 1, 0, ONE)
    thin = _with(unit, 3, 3, ONE // 64)
    great = _with(unit, 2, 2, 2**14 * ONE + 1)
    far = (unit, _with(unit, 0, 0, 4 * ONE + 1))
    short, mirror = ((unit, _with(unit, 3, 3, entry)) for entry in (ONE // 8, -ONE))
    turn = (unit, _with(_with(unit, 0, 1, -4 * ONE), 1, 0, ONE))
    rows: list[tuple[str, Mapping[str, Any]]] = [
        ("a precision that is not symmetric", {"precision": ((one, skewed), light)}),
        ("a precision that is not definite", {"precision": ((tilted, one), light)}),
        ("a negative precision", {"precision": ((one, _with(unit, 2, 2, -ONE)), light)}),
        ("a precision at the least", {"precision": ((thin, one), light)}),
        ("a precision at the least, of the last stratum", {"precision": (light, (thin, one))}),
        ("no precision", {"precision": ((one, _with(unit, 0, 0, 0)), light)}),
        ("a map to itself", {"map": (((_with(unit, 0, 1, 1), other), back), heavy)}),
        ("a map to itself, of another", {"map": ((there, (other, other)), heavy)}),
        ("a map to itself, of the last stratum", {"map": (heavy, (there, (other, other)))}),
        ("a far map", {"map": ((far, back), heavy)}),
        ("a map that shrinks too much", {"map": ((short, back), heavy)}),
        ("a map that reverses a direction", {"map": ((mirror, back), heavy)}),
        ("a map that turns", {"map": ((turn, back), heavy)}),
        ("a far mean", {"mean": ((mean[0][0], (0, 0, 0, -64 * ONE - 1)), mean[1])}),
        ("a great precision", {"precision": ((one, great), light)}),
        ("little noise", {"noise": ONE // 256 - 1}),
        ("no noise", {"noise": 0}),
        ("noise below none", {"noise": -ONE}),
        ("a first stratum that not all reach", {"least": ((0, 1), (9, 9))}),
        ("strata that descend", {"least": ((0, 0), (9, -1))}),
        ("a stratum beyond all measure", {"least": ((0, 0), (9, 2**40 + 1))}),
        ("a log spread that does not vary", {"spread": usual_spread((0, ONE // 64 - 1))}),
        ("a log spread that varies too much", {"spread": usual_spread((0, 2 * ONE + 1))}),
        ("a log spread beyond all measure", {"spread": usual_spread((4 * ONE + 1, ONE))}),
        ("a weight of probabilities on a scale with values", {"weight": ONE}),
    ]
    broken_priors = [
        (name, {"prior": disclosed_prior.model_copy(update=_rows(changes))})
        for name, changes in rows
    ]
    items: list[tuple[str, dict[str, Any]]] = [
        (f"{column}: {row}", {column: (*getattr(shown, column)[:4], row)})
        for column, row in (
            ("rate", (0, 32 * GRAIN + 1)),
            ("rate", (-32 * GRAIN - 1, 0)),
            ("selection", (32 * GRAIN + 1, 0)),
            ("taste", (0, -2 * span - 1)),
            ("taste", (2**53 - 1, 0)),
            ("base", (9 * GRAIN + 1, GRAIN)),
            ("base", (GRAIN, -3 * GRAIN - 1)),
            ("base", (2**53 - 1, GRAIN)),
        )
    ]
    far_apart: list[tuple[str, dict[str, Any]]] = [
        *(
            (f"strata apart: {least}", {"least": least})
            for least in (((0, 0), (100, 201)), ((0, 0), (0, 9)), ((0, 0), (2**40, 256)))
        ),
        ("log spreads over a quarter apart", _rows({"spread": usual_spread((ONE // 4 + 1, ONE))})),
    ]
    telling = [
        (name, {"prior": disclosed_prior.model_copy(update=changes)}, Refusal.TOO_TELLING)
        for name, changes in far_apart
    ]
    later = disclosed_prior.model_copy(update={"least": ((0, 0), (300, 200))})
    lying: dict[str, Any] = {"rate": ((3 * GRAIN, -3 * GRAIN),) * 5, "prior": later}
    many = counterparts_disclosure(n_items=60, selection_factors=2, taste_factors=2)
    columns = ("items", "selection", "base", "taste", "levels")
    large = {name: getattr(many, name) for name in columns} | {
        "rate": ((4 * GRAIN, -9 * GRAIN),) * 60
    }
    level = disclosed_prior.model_copy(update={"least": ((0, 0), (0, 0))})
    telling.append(("rates that part the strata", lying, Refusal.TOO_TELLING))
    telling.append(("one rates far more", large | {"prior": level}, Refusal.TOO_TELLING))
    bad_cases = [(*case, Refusal.BAD_POSITIONS) for case in (*broken_priors, *items)]
    sets = counterparts_disclosure(n_items=5, selection_factors=2, taste_factors=0)
    weighted = [
        (f"a weight of {weight}", {"disclosure": with_weight(sets, weight)}, Refusal.BAD_POSITIONS)
        for weight in (0, -1, 8 * ONE + 1)
    ]
    for name, changes, code in (*bad_cases, *telling, *weighted):
        bad = changes.get("disclosure") or shown.model_copy(update=changes)
        yield {
            "name": f"{code}: {name}",
            "disclosure": text(bad),
            "chain": [text(signed) for signed in sealed(entries([bad]))],
            "code": code,
        }


def usual_spread(last: tuple[int, int]) -> list[list[tuple[int, int]]]:
    """Return log spreads of two strata and categories: the usual ones, and a last one."""
    return [[(0, ONE), (0, ONE)], [(0, ONE), last]]


def _with(matrix: Sequence[Sequence[int]], i: int, j: int, number: int) -> list[list[int]]:
    changed = [list(row) for row in matrix]
    changed[i][j] = number
    return changed


def _rows(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, int) else as_rows(np.asarray(value))
        for name, value in changes.items()
    }


def people_at_positions() -> Iterator[Case]:
    """People with what they were asked and rated: their counterparts, and what that does."""
    make = counterparts_disclosure
    shown = {
        "cmpss 2": make(n_items=40, selection_factors=4, seed=20),
        "cmpss 2x3 uneven": make(
            features=FEATURES["2x3"], n_items=20, points=UNEVEN, taste_factors=2
        ),
        "cmp 3": make("cmp", (AGE,), n_items=30, seed=21, taste_factors=4),
        "cmpss strong": make(n_items=40, selection_factors=3, seed=22, reach=16.0),
        "cmpss many items": make(n_items=400, selection_factors=4, seed=23, reach=1.5),
        "cmp many items": make("cmp", n_items=300, points=HALVES, seed=24, reach=4.0),
        "cmpss, tastes choose": make(
            n_items=40, selection_factors=3, taste_factors=4, seed=25, choose=True
        ),
        "cmpss, two strata": make(
            n_items=40, selection_factors=3, taste_factors=2, seed=28, strata=2
        ),
        "cmpss, rates that would part the strata": parted(),
        "cmpss 3, many items, as large as a real one": real_size(),
        "cmp, log spreads": make("cmp", n_items=30, seed=29, spread=True),
        "cmpss 3, log spreads, two strata": make(
            features=(AGE,), n_items=40, points=HALVES, seed=30, strata=2, spread=True
        ),
        "cmpss of sets, her own probabilities": with_weight(
            make(n_items=40, selection_factors=4, taste_factors=0, seed=31, strata=2), ONE // 2
        ),
    }
    for turn, (name, one) in enumerate(shown.items()):
        people = list(people_of(one, 24 if "many" in name else 80, 400 + turn, half="part" in name))
        yield {"name": name, "disclosure": text(one), "people": people}


def parted() -> Disclosure:
    """Rates that lie by category, one half of the items each way: equal in sum, so accepted.

    Somebody who is asked about one half only is held to the limit by her device.
    """
    shown = counterparts_disclosure(n_items=60, selection_factors=2, seed=31, strata=2)
    rate = tuple((3 * GRAIN, -4 * GRAIN)[:: 1 if j < 30 else -1] for j in range(60))
    return shown.model_copy(update={"rate": rate})


def people_of(shown: Disclosure, n: int, seed: int, *, half: bool) -> Iterator[Case]:
    """Who rated nothing, everything, all lowest, all highest; then anybody, asked about a half."""
    rng, parameters = np.random.default_rng(seed), Parameters.of(shown)
    model, M = parameters.positions, len(shown.items)
    assert model is not None
    points = np.asarray(shown.scale.levels)
    for person in range(n):
        share = (0.0, 1.0, 1.0, 1.0)[person] if person < 4 else rng.uniform(0.02, 0.9)
        asked = rng.permutation(M)[: M if person < 6 else rng.integers(0, M + 1)]
        if half and person >= 6:
            asked = asked[(asked < M // 2) == (person % 2 == 0)]
        rated = asked[rng.random(len(asked)) < share]
        value = points[rng.integers(0, len(points), len(rated))]
        if person in (2, 3):
            value[:] = points[person - 3]
        cell = int(rng.integers(0, shown.n_cells))
        found = counterparts(model, cell, asked, rated, value)
        some = rng.permutation(M)[:4]
        adjustment = adjustment_of(parameters, cell, some, found)
        yield {
            "asked": asked.tolist(),
            "rated": rated.tolist(),
            "value": value.tolist(),
            "cell": cell,
            "selection": found.selection.tolist(),
            "move": found.move.tolist(),
            "some": some.tolist(),
            "reveal": adjustment.reveal.tolist(),
            "shift": adjustment.shift.tolist(),
            **({} if found.stretch is None else {"stretch": found.stretch.tolist()}),
        }
