"""The vectors of reports, obfuscation and corrected scores, of all schemes without counterparts."""

from collections.abc import Iterator, Mapping

import numpy as np

from midpoint.user import (
    DeviceSecret,
    Ledger,
    Parameters,
    PrivateCategory,
    correct,
    decide,
)
from midpoint.user.core.coins import PURPOSES, coin_bits
from midpoint.wire import (
    ONE,
    SCHEMES,
    Disclosure,
    FeatureNames,
    RatingScale,
    Scores,
)
from tests.support.models.output_distribution import output_distribution
from tests.support.people.made_up import (
    AGE,
    STARS,
    accepted,
    disclosure,
    distributions,
    ratings,
    solicitation,
    unary_disclosure,
)
from tests.support.people.unadjusted import obfuscate_unadjusted
from tests.support.vectors.parts import (
    FEATURES,
    HALVES,
    KEY,
    UNEVEN,
    Case,
    own_category,
    text,
)
from tests.support.vectors.positions import (
    with_counterparts,
)


def named_disclosures() -> dict[str, Disclosure]:
    """Every scheme for 2, 3 and 2 x 3 categories; then other scales; counterparts below."""
    made = {
        f"{scheme} {size}": disclosure(scheme, features, seed=seed)
        for scheme in SCHEMES
        if not SCHEMES[scheme].counterparts
        for seed, (size, features) in enumerate(FEATURES.items())
    }
    smooth = RatingScale(low=-10 * ONE, high=10 * ONE)
    made["mpss continuous"] = disclosure("mpss", scale=smooth, seed=5)
    made["dmpss half stars"] = disclosure("dmpss", (AGE,), points=HALVES, seed=6)
    made["dmpss uneven"] = disclosure("dmpss", (AGE,), points=UNEVEN, seed=7)
    made["mpr uneven"] = disclosure("mpr", points=UNEVEN, seed=8)
    names = ("Zoë", "a b", 'say "hi"', "é", "東京", "🎬", "\ue000")
    made["dmpss names"] = disclosure("dmpss", n_items=7, seed=9, items=tuple(sorted(names)))
    for scheme, features in (("dmpss", (AGE,)), ("mpssr", FEATURES["2"])):
        some = (0, 1, ONE // 3, ONE // 2 + 1, ONE - 1, ONE)
        count = len(disclosure(scheme, features, seed=10).items)
        keep = tuple(some[j % len(some)] for j in range(count))
        made[f"{scheme} with a leak budget"] = disclosure(
            scheme, features, seed=10, keep=keep, leak=3 * ONE // 5
        )
    fine = tuple(ONE * level for level in range(21))
    coarse = RatingScale(low=0, high=fine[-1], levels=fine, reported=fine[::5])
    uneven = RatingScale(low=0, high=7 * ONE, levels=UNEVEN, reported=(0, ONE, 7 * ONE))
    made["dmp, five of 21 levels"] = disclosure("dmp", points=fine, scale=coarse, seed=10)
    made["dmpss uneven, three of four levels"] = disclosure(
        "dmpss", (AGE,), points=UNEVEN, scale=uneven, seed=11
    )
    for seed, (scheme, features) in enumerate((("ss", (AGE,)), ("dmpss", (AGE,)))):
        made[f"{scheme} of sets"] = unary_disclosure(scheme, features=features, seed=13 + seed)
    return made


def extremes() -> dict[str, Disclosure]:
    """As many cells and as wide a scale as there can be.

    The first category's mean is one unit below where rounding goes up, and a plain sum would be
    beyond 2^53: doubles lose the unit.
    """
    ten = tuple(FeatureNames(name=f"feature {n}", categories=("no", "yes")) for n in range(10))
    points = (-(2**31), 1 - 2**31, 2**31)
    shares = np.full(1023, (2**25 + 1) // 1023)
    shares[: (2**25 + 1) % 1023] += 1
    rows = ((0, 0, ONE), *((ONE - share, share, 0) for share in shares.tolist()))
    return {"dmp extreme": disclosure("dmp", ten, n_items=1, points=points, levels=(rows,))}


def reports() -> Iterator[Case]:
    """Two rounds each: most items, then some of them again with other ratings; then open ones."""
    shown = named_disclosures()
    yield from cases_of(shown, (9, 3), more=False)
    some = ("dmpss 2", "dmpss 2x3", "mpssr 3", "ss 2", "dmpss names", "mpss continuous")
    yield from cases_of({name: shown[name] for name in some}, (4, 10), more=True)
    assigned = {
        f"{scheme} assigned": disclosure(scheme, seed=12, sets="assigned")
        for scheme in ("dmp", "cmp")
    }
    yield from cases_of(assigned, (9, 3), more=False)
    whole = {f"{name}, all rated": shown for name, shown in assigned.items()}
    yield from cases_of(whole, (9, 3), more=False, share=1.0)
    shown = with_counterparts()
    yield from cases_of(shown, (9, 3), more=False)
    yield from cases_of(shown, (4, 10), more=True)


def cases_of(
    disclosures: Mapping[str, Disclosure],
    cuts: tuple[int, int],
    *,
    more: bool,
    share: float = 0.8,
) -> Iterator[Case]:
    """Ask about the items before the first cut, then about those from the second on."""
    for turn, (name, shown) in enumerate(disclosures.items()):
        names, secret = own_category(shown, turn), DeviceSecret(KEY)
        ledger, category = Ledger(secret), PrivateCategory.of(shown, names)
        rounds = []
        for number, items in ((1, shown.items[: cuts[0]]), (2, shown.items[cuts[1] :])):
            asked = solicitation(shown, number, items, more=more)
            rated = ratings(shown, 10 * turn + number, share=share - 0.4 * (more and number == 1))
            near = shown.items if more else items
            report = decide(rated, asked, accepted(shown), category, ledger)
            step = {
                "solicitation": text(asked),
                "ratings": rated,
                "report": text(report),
                "withheld": [i for i in near if (d := ledger.decision(i)) and d.value is None],
            }
            kept = ledger.answered(number)
            rounds.append(step | ({"kept": text(kept)} if kept and kept.move is not None else {}))
        yield {
            "name": f"{name}, open" if more else name,
            "disclosure": text(shown),
            "digest": shown.digest,
            "secret": KEY.hex(),
            "category": names,
            "cell": category.cell_in(shown),
            "coins": {item: coin_bits(secret, item) for item in shown.items},
            "numbers": [shown.numbers_of(index) for index in range(len(shown.items))],
            "rounds": rounds,
        }


def obfuscations() -> Iterator[Case]:
    """Flat arrays with given coins, extreme ones among them, and mixing."""
    for turn, (name, shown) in enumerate(named_disclosures().items()):
        rng = np.random.default_rng(turn)
        points = np.asarray(shown.scale.levels or (shown.scale.low, 12345, shown.scale.high))
        n = 24
        item = rng.integers(0, len(shown.items), n)
        value = points[rng.integers(0, len(points), n)]
        category = rng.integers(0, shown.n_cells, n)
        bits = rng.integers(0, 2**53, (n, len(PURPOSES)))
        bits[0], bits[1] = 0, 2**53 - 1
        for alpha in (1.0, 0.5) if turn % 3 == 0 else (1.0,):
            done = obfuscate_unadjusted(
                item, value, category, Parameters.of(shown), bits / 2**53, alpha
            )
            yield {
                "name": f"{name}, alpha {alpha}",
                "disclosure": text(shown),
                "alpha": alpha,
                "item": item.tolist(),
                "value": value.tolist(),
                "category": category.tolist(),
                "coins": bits.tolist(),
                "keep": done.keep.tolist(),
                "reported": done.value.tolist(),
            }


def discrete() -> Iterator[Case]:
    for K in (2, 3, 5):
        for points in (STARS, HALVES, (0, ONE, 3 * ONE, 4 * ONE)):
            levels = distributions(np.random.default_rng(K), (K,), len(points))
            masses, whole = output_distribution(levels, np.asarray(points))
            yield {
                "name": f"{K} categories, {len(points)} levels",
                "points": list(points),
                "levels": levels.tolist(),
                "masses": masses[0].tolist(),
                "whole": whole,
            }


def corrections() -> Iterator[Case]:
    for turn, (name, shown) in enumerate((named_disclosures() | extremes()).items()):
        rng = np.random.default_rng(100 + turn)
        n = len(shown.items)
        scores = Scores(
            disclosure=shown.digest,
            items=shown.items,
            score=(2**52,) if n == 1 else tuple(rng.integers(-ONE, 7 * ONE, n).tolist()),
            deviation=tuple(rng.integers(0, ONE, n).tolist()),
        )
        names, rated = own_category(shown, turn), shown.items[1::4]
        if n == 1:
            names = {feature.name: feature.categories[0] for feature in shown.features}
        ranked = correct(scores, shown, PrivateCategory.of(shown, names), rated, ())
        yield {
            "name": name,
            "disclosure": text(shown),
            "scores": text(scores),
            "category": names,
            "rated": list(rated),
            "ranked": [row._asdict() for row in ranked],
        }
