"""Make vectors/v1: the contract between this program and the one in the browser.

Run `python -m tests.support.make_vectors` after a change of the protocol. Everything is made up,
and made the same way each time. Coins are given as their 53 bits; all else is as on the wire.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from midpoint.user import (
    DeviceSecret,
    Ledger,
    Parameters,
    Pin,
    PrivateCategory,
    Witness,
    correct,
    decide,
    output_distribution,
)
from midpoint.user.core.coins import PURPOSES, coin_bits
from midpoint.wire import (
    ONE,
    SCHEMES,
    Catalogue,
    Certificate,
    Certificates,
    Chain,
    Disclosure,
    Entry,
    FeatureNames,
    Message,
    Problem,
    RatingScale,
    Receipt,
    Refusal,
    Report,
    Scores,
    Signed,
    Solicitation,
    SolicitationRequest,
)
from tests.support.made_up import (
    AGE,
    ANALYST,
    AUDITOR,
    GENDER,
    STARS,
    STRANGER,
    accepted,
    disclosure,
    distributions,
    entries,
    ratings,
    sealed,
    solicitation,
    titles_of,
)
from tests.support.made_up_positions import counterparts_disclosure
from tests.support.make_position_vectors import (
    bad_positions,
    bad_priors,
    changes_of_counterparts,
    moved_corrections,
    moved_obfuscations,
    people_at_positions,
    with_counterparts,
)
from tests.support.unadjusted import obfuscate_unadjusted
from tests.support.vector_parts import (
    FEATURES,
    HALVES,
    KEY,
    UNEVEN,
    Case,
    Listed,
    own_category,
    pinned,
    text,
)

FOLDER = Path(__file__).parents[2] / "vectors" / "v1"


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
    shown = with_counterparts()
    yield from cases_of(shown, (9, 3), more=False)
    yield from cases_of(shown, (4, 10), more=True)


def cases_of(
    disclosures: Mapping[str, Disclosure], cuts: tuple[int, int], *, more: bool
) -> Iterator[Case]:
    """Ask about the items before the first cut, then about those from the second on."""
    for turn, (name, shown) in enumerate(disclosures.items()):
        names, secret = own_category(shown, turn), DeviceSecret(KEY)
        ledger, category = Ledger(secret), PrivateCategory.of(shown, names)
        rounds = []
        for number, items in ((1, shown.items[: cuts[0]]), (2, shown.items[cuts[1] :])):
            asked = solicitation(shown, number, items, more=more)
            rated = ratings(shown, 10 * turn + number, share=0.8 - 0.4 * (more and number == 1))
            near = shown.items if more else items
            report = decide(rated, asked, accepted(shown), category, ledger)
            step = {
                "solicitation": text(asked),
                "ratings": rated,
                "report": text(report),
                "withheld": [i for i in near if (d := ledger.decision(i)) and d.value is None],
            }
            kept = ledger.answered(number)
            rounds.append(step | ({"kept": text(kept)} if kept and kept.move else {}))
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
            "ranked": [asdict(one) for one in ranked],
        }


def chains() -> Iterator[Case]:
    """Lists of disclosures: accepted with the new pin, or refused with a code."""
    for row in (*lists_of_entries(), *changes_and_scales(), *changes_of_counterparts()):
        name, newest, chain, pin, witness, expected = row
        yield {
            "name": name,
            "disclosure": text(newest),
            "chain": [text(signed) for signed in chain],
            "pin": None if pin is None else text(pin),
            "witness": None if witness is None else asdict(witness),
            "ratings_in_levels": "continuous input" not in name,
            "expect": {"pin": text(expected)} if isinstance(expected, Pin) else {"code": expected},
        }


def changes_and_scales() -> Iterator[Listed]:
    """What may not change, whoever she is and whatever she rated; and what is unsafe."""
    shown, pin = disclosure(), pinned(entries([disclosure()])[0], disclosure())
    stars, halves = disclosure("mpss"), disclosure(points=HALVES)
    smooth = disclosure("mpss", scale=RatingScale(low=ONE, high=5 * ONE))
    renamed = FeatureNames(name="gender", categories=("F", "X"))
    swapped = FeatureNames(name="gender", categories=("M", "F"))
    grown = FeatureNames(name="gender", categories=("F", "M", "X"))
    for name, changed, code in (
        ("a category renamed", disclosure(features=(renamed,)), Refusal.FEATURES_CHANGED),
        ("categories swapped", disclosure(features=(swapped,)), Refusal.FEATURES_CHANGED),
        ("a category added", disclosure(features=(grown,)), Refusal.FEATURES_CHANGED),
        ("a feature added", disclosure(features=(GENDER, AGE)), Refusal.FEATURES_CHANGED),
        ("another feature", disclosure(features=(AGE,)), Refusal.FEATURES_CHANGED),
        ("other levels", halves, Refusal.SCALE_CHANGED),
        ("a level dropped", disclosure(points=STARS[1:]), Refusal.SCALE_CHANGED),
        ("levels dropped, continuous input", smooth, Refusal.SCALE_CHANGED),
    ):
        yield name, changed, sealed(entries([shown, changed])), pin, None, code
    for weaker in ("dmp", "mpssr", "fa"):
        other = disclosure(weaker)
        code = Refusal.SCHEME_CHANGED
        yield f"scheme {weaker} later", other, sealed(entries([shown, other])), pin, None, code
    yield "unsafe later", stars, sealed(entries([shown, stars])), pin, None, Refusal.SCHEME_UNSAFE
    first, chain = entries([smooth])[0], sealed(entries([smooth]))
    yield "stars called continuous", smooth, chain, None, None, Refusal.SCALE_CONTINUOUS
    yield "continuous input", smooth, chain, None, None, pinned(first, smooth)
    yield "unsafe", stars, sealed(entries([stars])), None, None, Refusal.SCHEME_UNSAFE


def lists_of_entries() -> Iterator[Listed]:
    """Links, keys, signatures and witnesses."""
    shown = [disclosure(seed=seed) for seed in range(4)]
    listed = entries(shown)
    good = sealed(listed)
    other = disclosure(seed=9)
    fork = sealed(entries([shown[0], other, *shown[2:]]))
    swapped = sealed(entries(shown, STRANGER), STRANGER)
    pins = [pinned(entry, shown[0]) for entry in listed]
    seen = [Witness(entry.sequence, entry.digest) for entry in listed]
    forged = [*good[:3], Signed.seal(listed[3], STRANGER)]
    borrowed = Signed(
        body=listed[3].raw.decode(), signature=ANALYST.sign(Certificate.domain, listed[3].raw)
    )
    last = shown[3]
    yield from (
        ("first use", last, good, None, None, pins[3]),
        ("from the pinned entry", last, good[1:], pins[1], None, pins[3]),
        ("after the pinned entry", last, good[2:], pins[1], None, pins[3]),
        ("nothing new", last, good[3:], pins[3], None, pins[3]),
        ("agreeing witness", last, good, pins[0], seen[2], pins[3]),
        ("wrong digest", other, good, None, None, Refusal.WRONG_DIGEST),
        ("bad signature", last, forged, None, None, Refusal.BAD_SIGNATURE),
        ("other domain", last, [*good[:3], borrowed], None, None, Refusal.BAD_SIGNATURE),
        ("key swap", last, swapped, pins[1], None, Refusal.KEY_CHANGED),
        ("fork before the pin", last, fork, pins[1], None, Refusal.CHAIN_FORKED),
        ("fork at the seam", last, fork[2:], pins[1], None, Refusal.CHAIN_FORKED),
        ("broken link", last, [*good[:2], *fork[2:]], None, None, Refusal.CHAIN_FORKED),
        ("rollback", shown[1], good[:2], pins[3], None, Refusal.ROLLED_BACK),
        ("older disclosure", shown[1], good, None, None, Refusal.ROLLED_BACK),
        ("not from the start", last, good[1:], None, None, Refusal.CHAIN_GAP),
        ("gap after the pin", last, good[3:], pins[1], None, Refusal.CHAIN_GAP),
        ("gap inside", last, [good[0], *good[2:]], None, None, Refusal.CHAIN_GAP),
        ("no entries", last, [], None, None, Refusal.CHAIN_GAP),
        ("witness of a fork", last, fork, pins[0], seen[1], Refusal.WITNESS_DISAGREES),
        ("witness ahead", shown[1], good[:2], None, seen[2], Refusal.WITNESS_DISAGREES),
        ("witness out of sight", last, good[3:], pins[3], seen[1], Refusal.CHAIN_GAP),
    )


def bad_numbers() -> Iterator[Case]:
    """Disclosures that are well formed, signed, and inconsistent."""
    full = ((ONE, 0, 0, 0, 0), (ONE, 0, 0, 0, 0))
    rows: list[tuple[Refusal, str, str, Any]] = [
        (Refusal.OFFSET_TOO_LARGE, "mpr", "offset", (-(2**40), 2**40)),
        (Refusal.OFFSET_TOO_LARGE, "mpr", "offset", (-3 * ONE, 3 * ONE)),
        (Refusal.OFFSET_NOT_CENTRED, "mpr", "offset", (ONE, ONE)),
        (Refusal.BAD_DISTRIBUTION, "dmp", "levels", ((ONE, 1, 0, 0, 0), full[0])),
        (Refusal.BAD_DISTRIBUTION, "dmp", "levels", ((ONE + 1, -1, 0, 0, 0), full[0])),
        (Refusal.REVEAL_OUT_OF_RANGE, "dmpss", "reveal", (0, ONE)),
        (Refusal.REVEAL_OUT_OF_RANGE, "dmpss", "reveal", (ONE, ONE + 1)),
        (Refusal.REVEAL_INCONSISTENT, "dmpss", "reveal", (ONE - 1, 5)),
        (Refusal.TOO_TELLING, "mpssr", "offset", (2 * ONE, -2 * ONE)),
        (Refusal.TOO_TELLING, "mpr", "offset", (3 * ONE // 2 + 1, -3 * ONE // 2 - 1)),
        (Refusal.TOO_TELLING, "dmpss", "levels", ((ONE - 1, 0, 0, 0, 1), (1, 0, 0, 0, ONE - 1))),
        (
            Refusal.TOO_TELLING,
            "dmp",
            "levels",
            ((ONE // 4 * 3 + 1, 0, 0, 0, ONE // 4 - 1), (0, 0, 0, 0, ONE)),
        ),
        (Refusal.TOO_TELLING, "dmpss", "reveal", (1, ONE)),
        (Refusal.TOO_TELLING, "dmpss", "reveal", (ONE, ONE // 64 - 1)),
        (Refusal.AVERAGE_OUT_OF_RANGE, "fa", "average", (ONE - 1, ONE)),
        (Refusal.AVERAGE_OUT_OF_RANGE, "ia", "average", (5 * ONE + 1,)),
    ]
    for code, scheme, column, row in rows:
        column_of = getattr(disclosure(scheme), column)
        changes: dict[str, Any] = {column: (*column_of[:4], row, *column_of[5:])}
        bad = disclosure(scheme, **changes)
        yield {
            "name": f"{code} in {scheme}: {row}",
            "disclosure": text(bad),
            "chain": [text(signed) for signed in sealed(entries([bad]))],
            "code": code,
        }


def bad_texts() -> Iterator[Case]:
    """Messages that are refused when they are read."""
    shown = disclosure("dmpss", n_items=2)
    good = text(shown)
    report = text(Report(id="0" * 32, disclosure="0" * 64, round=1, answers=(("a", ONE),)))
    offset = json.dumps(disclosure("mpr", n_items=2).offset, separators=(",", ":"))
    rows: list[tuple[str, str, str, Refusal]] = [
        ("not JSON", "disclosure", good[:-1], Refusal.NOT_JSON),
        ("trailing text", "disclosure", good + "x", Refusal.NOT_JSON),
        ("lone surrogate", "report", report.replace('"a"', '"\\ud800"'), Refusal.NOT_JSON),
        ("duplicate key", "disclosure", _swap(good, "{", '{"version":1,'), Refusal.DUPLICATE_KEY),
        ("float", "disclosure", _swap(good, "65536", "65536.0"), Refusal.NOT_AN_INTEGER),
        ("exponent", "disclosure", _swap(good, "65536", "65536e0"), Refusal.NOT_AN_INTEGER),
        ("NaN", "disclosure", _swap(good, "65536", "NaN"), Refusal.NOT_AN_INTEGER),
        ("Infinity", "disclosure", _swap(good, "65536", "-Infinity"), Refusal.NOT_AN_INTEGER),
        ("bool", "disclosure", _swap(good, "65536", "true"), Refusal.NOT_AN_INTEGER),
        ("text for a number", "disclosure", _swap(good, "65536", '"1"'), Refusal.NOT_AN_INTEGER),
        ("too large", "disclosure", _swap(good, "65536", str(2**53)), Refusal.INTEGER_TOO_LARGE),
        ("unknown field", "disclosure", _swap(good, "{", '{"extra":1,'), Refusal.UNKNOWN_FIELD),
        ("private field", "report", _swap(report, "{", '{"gender":"F",'), Refusal.UNKNOWN_FIELD),
        ("no version", "report", report.replace(',"version":1', ""), Refusal.MISSING_FIELD),
        ("no items", "disclosure", _without(good, "items"), Refusal.MISSING_FIELD),
        ("version 2", "disclosure", good.replace('"version":1', '"version":2'),
         Refusal.UNKNOWN_VERSION),
        ("unknown scheme", "disclosure", good.replace("dmpss", "magic"), Refusal.UNKNOWN_SCHEME),
        ("column missing", "disclosure", _without(good, "reveal"), Refusal.WRONG_COLUMNS),
        ("column too many", "disclosure", _swap(good, "{", f'{{"offset":{offset},'),
         Refusal.WRONG_COLUMNS),
        ("columns of another scheme", "disclosure", good.replace("dmpss", "mpssr"),
         Refusal.WRONG_COLUMNS),
        ("item twice", "disclosure", good.replace("item-01", "item-00"), Refusal.WRONG_SHAPE),
        ("category twice", "disclosure", good.replace('"F"', '"M"'), Refusal.WRONG_SHAPE),
        ("row too short", "disclosure", _swap(good, "65536,", ""), Refusal.WRONG_SHAPE),
        ("answers not sorted", "report", report.replace('["a",65536]', '["b",1],["a",1]'),
         Refusal.WRONG_SHAPE),
        ("outer space", "report", report.replace('"a"', '"a "'), Refusal.BAD_NAME),
        ("no-break space", "report", report.replace('"a"', '"a\u00a0b"'), Refusal.BAD_NAME),
        ("line separator", "report", report.replace('"a"', '"a\u2028b"'), Refusal.BAD_NAME),
        ("control character", "report", report.replace('"a"', '"a\\u0000"'), Refusal.BAD_NAME),
        ("zero-width space", "report", report.replace('"a"', '"a\u200b"'), Refusal.BAD_NAME),
        ("direction mark", "report", report.replace('"a"', '"\u202ea"'), Refusal.BAD_NAME),
        ("not NFC", "report", report.replace('"a"', '"e\u0301"'), Refusal.BAD_NAME),
        ("too many bits", "disclosure", _swap(good, "{", '{"bits":17,'), Refusal.WRONG_SHAPE),
        ("id too short", "report", _swap(report, '"id":"0', '"id":"'),
         Refusal.WRONG_SHAPE),
        *bad_priors(),
    ]  # fmt: skip
    for name, kind, content, code in rows:
        yield {"name": name, "kind": kind, "text": content, "code": code}


def service_texts() -> Iterator[Case]:
    """Messages of the service; `code` is null where they are taken."""
    shown = disclosure("dmpss", n_items=2)
    chain = Chain(entries=tuple(sealed(entries([shown]))))
    good: dict[str, Message] = {
        "solicitation": solicitation(shown, 0, (), more=True),
        "solicitation_request": SolicitationRequest(disclosure=shown.digest),
        "receipt": Receipt(report=shown.digest, answers=3),
        "problem": Problem(code="not_current", message="this is not the current disclosure"),
        "catalogue": Catalogue(items=("a", "b"), titles=("A \u200d b", "é" * 500), ratings=(0, 7)),
        "chain": chain,
        "certificates": Certificates(certificates=()),
    }
    asked = SolicitationRequest(disclosure=shown.digest, after=7)
    yield {"name": "after a round", "kind": "solicitation_request", "text": text(asked),
           "code": None}  # fmt: skip
    for kind, message in good.items():
        yield {"name": kind, "kind": kind, "text": text(message), "code": None}
    sent = {kind: text(message) for kind, message in good.items()}
    titles = sent["catalogue"]
    rows: list[tuple[str, str, str, Refusal]] = [
        ("open left out", "solicitation", _without(sent["solicitation"], "open"),
         Refusal.MISSING_FIELD),
        ("open as a number", "solicitation", _swap(sent["solicitation"], "true", "1"),
         Refusal.WRONG_SHAPE),
        ("a long title", "catalogue", _swap(titles, "é", "éé"), Refusal.WRONG_SHAPE),
        ("an empty title", "catalogue", _swap(titles, "é" * 500, ""), Refusal.WRONG_SHAPE),
        ("a control character", "catalogue", _swap(titles, "é", "\\u001b"), Refusal.BAD_NAME),
        ("a late control character", "catalogue", _swap(titles, "é", "\\u0085"), Refusal.BAD_NAME),
        ("a line separator", "catalogue", _swap(titles, "é", "\u2028"), Refusal.BAD_NAME),
        ("a title too few", "catalogue", _swap(titles, "[0,7]", "[0]"), Refusal.WRONG_SHAPE),
        ("a negative number", "catalogue", _swap(titles, "[0,7]", "[0,-7]"), Refusal.WRONG_SHAPE),
        ("items not sorted", "catalogue", _swap(titles, '"a","b"', '"b","a"'),
         Refusal.WRONG_SHAPE),
        ("no entries", "chain", '{"entries":[],"version":1}', Refusal.WRONG_SHAPE),
        ("an entry without version", "chain", _swap(sent["chain"], ',"version":1}],', "}],"),
         Refusal.MISSING_FIELD),
        ("an entry with more", "chain", _swap(sent["chain"], '[{"', '[{"a":1,"'),
         Refusal.UNKNOWN_FIELD),
        ("a short digest", "receipt", _swap(sent["receipt"], shown.digest, shown.digest[1:]),
         Refusal.WRONG_SHAPE),
        ("a code with spaces", "problem", _swap(sent["problem"], "not_current", "not current"),
         Refusal.WRONG_SHAPE),
        ("lines", "problem", _swap(sent["problem"], "this is", "this\\nis"), Refusal.BAD_NAME),
        ("after too many rounds", "solicitation_request",
         _swap(sent["solicitation_request"], "{", '{"after":1000001,'), Refusal.WRONG_SHAPE),
        ("a feature", "solicitation_request",
         _swap(sent["solicitation_request"], "{", '{"gender":"F",'), Refusal.UNKNOWN_FIELD),
    ]  # fmt: skip
    for name, kind, content, code in rows:
        yield {"name": f"{kind}: {name}", "kind": kind, "text": content, "code": code}


def _swap(content: str, old: str, new: str) -> str:
    return content.replace(old, new, 1)


def _without(content: str, key: str) -> str:
    kept: Mapping[str, Any] = {k: v for k, v in json.loads(content).items() if k != key}
    return json.dumps(kept, separators=(",", ":"), sort_keys=True)


def bad_rounds() -> Iterator[Case]:
    """A first round is answered; a second question is refused; the last is about counterparts."""
    yield from refused_after(disclosure("dmpss"), disclosure("dmpss", seed=2))
    shown = counterparts_disclosure()
    selection = tuple(tuple(-one for one in row) for row in shown.selection or ())
    yield from refused_after(
        shown, shown.model_copy(update={"selection": selection}), first_only=True
    )


def refused_after(
    shown: Disclosure, later: Disclosure, *, first_only: bool = False
) -> Iterator[Case]:
    """Refuse what changed after a first round."""
    rated, first = ratings(shown), solicitation(shown, 1)
    category = PrivateCategory({"gender": "M"})
    report = decide(rated, first, accepted(shown), category, Ledger(DeviceSecret(KEY)))
    sent = [item for item, _ in report.answers]
    rows: list[tuple[str, Disclosure, Solicitation, Refusal]] = [
        ("changed numbers for an answered item", later, solicitation(later, 2, sent),
         Refusal.NUMBERS_CHANGED),
        ("same round, other items", shown, solicitation(shown, 1, sent), Refusal.ROUND_CHANGED),
        ("same round, other disclosure", later, solicitation(later, 1), Refusal.ROUND_CHANGED),
        ("unknown item", shown, solicitation(shown, 2, ["item-77"]), Refusal.UNKNOWN_ITEM),
        ("question for another disclosure", shown, solicitation(later, 2), Refusal.WRONG_DIGEST),
    ]  # fmt: skip
    for name, newest, second, code in rows[: 1 if first_only else None]:
        yield {
            "name": f"{name}, {shown.scheme}" if first_only else name,
            "secret": KEY.hex(),
            "category": {"gender": "M"},
            "ratings": rated,
            "first": {
                "disclosure": text(shown),
                "solicitation": text(first),
                "report": text(report),
            },
            "second": {"disclosure": text(newest), "solicitation": text(second)},
            "code": code,
        }


def certificates() -> Iterator[Case]:
    shown = disclosure("dmpss")
    certificate = Certificate(
        disclosure=shown.digest,
        data="ab" * 32,
        auditor="A made-up auditor",
        key=AUDITOR.public,
        attack="boosted trees",
        auc=521_000,
        auc_low=498_000,
        auc_high=544_000,
        null_low=470_000,
        null_high=530_000,
        rmse_cost=3_100,
        time=1_700_000_000,
    )
    good, trusted = Signed.seal(certificate, AUDITOR), [AUDITOR.public]
    forged = Signed.seal(certificate, STRANGER)
    rows: list[tuple[str, Signed | None, str, Sequence[str], bool, Refusal | bool]] = [
        ("trusted", good, shown.digest, trusted, True, True),
        ("auditor not trusted", good, shown.digest, [], False, False),
        ("none", None, shown.digest, trusted, False, False),
        ("none, but required", None, shown.digest, trusted, True, Refusal.NOT_CERTIFIED),
        ("forged", forged, shown.digest, trusted, False, Refusal.BAD_CERTIFICATE),
        ("of another disclosure", good, "0" * 64, trusted, False, Refusal.BAD_CERTIFICATE),
    ]
    for name, signed, digest, keys, required, expected in rows:
        yield {
            "name": name,
            "certificate": None if signed is None else text(signed),
            "digest": digest,
            "trusted": list(keys),
            "required": required,
            "expect": {"certified": expected} if expected in (True, False) else {"code": expected},
        }


def titles() -> Iterator[Case]:
    """Titles beside the entry that names them, or should."""
    shown = disclosure("dmpss", n_items=3)
    named, unnamed = (entries([shown], titled=titled)[0] for titled in (True, False))
    good = titles_of(shown)
    swapped = good.model_copy(update={"titles": (good.titles[1], good.titles[0], good.titles[2])})
    rated = good.model_copy(update={"ratings": (9, 1, 2)})
    rows: list[tuple[str, Entry, str, Refusal | None]] = [
        ("as named", named, text(good), None),
        ("not named", unnamed, text(good), Refusal.TITLES_UNSIGNED),
        ("two swapped titles", named, text(swapped), Refusal.WRONG_TITLES),
        ("other counts", named, text(rated), Refusal.WRONG_TITLES),
        ("other bytes that say the same", named, text(good) + " ", Refusal.WRONG_TITLES),
        ("no catalogue", named, "{", Refusal.NOT_JSON),
    ]
    for name, entry, sent, code in rows:
        expected = {"titles": list(good.titles)} if code is None else {"code": code}
        yield {"name": name, "entry": text(entry), "catalogue": sent, "expect": expected}


def _after(*parts: Callable[[], Iterator[Case]]) -> Callable[[], Iterator[Case]]:
    return lambda: (case for part in parts for case in part())


FILES: dict[str, Callable[[], Iterator[Case]]] = {
    "reports": reports,
    "obfuscations": _after(obfuscations, moved_obfuscations),
    "discrete": discrete,
    "corrections": _after(corrections, moved_corrections),
    "chains": chains,
    "bad_numbers": _after(bad_numbers, bad_positions),
    "bad_texts": bad_texts,
    "service_texts": service_texts,
    "bad_rounds": bad_rounds,
    "certificates": certificates,
    "titles": titles,
    "positions": people_at_positions,
}


def content(name: str) -> str:
    """Return a vector file: one case per line, so that a change shows which."""
    lines = [json.dumps(case, ensure_ascii=False, sort_keys=True) for case in FILES[name]()]
    return '{"version": 1, "cases": [\n' + ",\n".join(lines) + "\n]}\n"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (FOLDER / f"{name}.json").write_text(content(name), encoding="utf-8")


if __name__ == "__main__":
    main()
