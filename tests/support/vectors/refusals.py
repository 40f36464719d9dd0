"""The vectors of what a device accepts or refuses: lists, numbers, rounds, certificates, titles."""

from collections.abc import Iterator, Sequence
from typing import Any

from midpoint.user import DeviceSecret, Ledger, Pin, PrivateCategory, decide
from midpoint.wire import (
    MILLION,
    ONE,
    Certificate,
    Disclosure,
    Entry,
    FeatureNames,
    RatingScale,
    Refusal,
    Signed,
    Solicitation,
    WitnessStatement,
)
from midpoint.wire.record import MOST_AUC
from tests.support.people.made_up import (
    AGE,
    ANALYST,
    AUDITOR,
    GENDER,
    STARS,
    STRANGER,
    accepted,
    disclosure,
    entries,
    ratings,
    sealed,
    solicitation,
    titles_of,
)
from tests.support.people.made_up_positions import counterparts_disclosure
from tests.support.sites.witnessing import DAY, OBSERVER, stated
from tests.support.vectors.assigned import changes_of_sets, open_where_assigned
from tests.support.vectors.parts import HALVES, KEY, Case, Listed, pinned, text
from tests.support.vectors.positions import changes_of_counterparts

NOT_YET, OTHER = Refusal.NOT_WITNESSED, Refusal.WITNESS_DISAGREES


def chains() -> Iterator[Case]:
    """Lists of disclosures: accepted with the new pin, or refused with a code."""
    for row in (
        *lists_of_entries(),
        *changes_and_scales(),
        *changes_of_sets(),
        *changes_of_counterparts(),
    ):
        name, newest, chain, pin, witness, expected = row
        yield {
            "name": name,
            "disclosure": text(newest),
            "chain": [text(signed) for signed in chain],
            "pin": None if pin is None else text(pin),
            "witness": None if witness is None else text(witness),
            "ratings_in_levels": "continuous input" not in name,
            "show_rated": "not agreed" not in name,
            "expect": {"pin": text(expected)} if isinstance(expected, Pin) else {"code": expected},
        }


def changes_and_scales() -> Iterator[Listed]:
    """What may not change, no matter who she is and whatever she rated; and what is unsafe."""
    shown, pin = disclosure(), pinned(entries([disclosure()])[0], disclosure())
    stars, halves = disclosure("mpss"), disclosure(points=HALVES)
    smooth = disclosure("mpss", scale=RatingScale(low=ONE, high=5 * ONE))
    fewer = RatingScale(low=ONE, high=5 * ONE, levels=STARS, reported=STARS[::2])
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
        ("reports on fewer levels", disclosure(scale=fewer), Refusal.SCALE_CHANGED),
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
    shows = disclosure("dmp")
    first, chain = entries([shows])[0], sealed(entries([shows]))
    yield "rated items shown, agreed", shows, chain, None, None, pinned(first, shows)
    yield "rated items shown, not agreed", shows, chain, None, None, Refusal.RATED_SHOWN
    yield "agreed before, not agreed again", shows, chain, (pin := pinned(first, shows)), None, pin


def lists_of_entries() -> Iterator[Listed]:
    """Links, keys, signatures and witnesses."""
    shown = [disclosure(seed=seed) for seed in range(4)]
    listed = entries(shown)
    good = sealed(listed)
    other = disclosure(seed=9)
    fork = sealed(entries([shown[0], other, *shown[2:]]))
    swapped = sealed(entries(shown, STRANGER), STRANGER)
    pins = [pinned(entry, shown[0]) for entry in listed]
    at = [1_800_000_000 + n * 2 * DAY for n in range(4)]

    def seen(*when: int, time: int) -> WitnessStatement:
        return stated(listed, *when, time=time)

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
        ("agreeing witness", last, good, pins[0], seen(*at, time=at[3] + DAY), pins[3]),
        ("not shown for a day", shown[2], good, pins[0], seen(*at, time=at[3] + DAY - 1), pins[2]),
        ("appended for her", shown[2], good, pins[0], seen(*at[:3], time=at[3]), pins[2]),
        (
            "appended for her and answered under",
            *(last, good, pins[0], seen(*at[:3], time=at[3])),
            Refusal.NOT_WITNESSED,
        ),
        (
            "public for a moment, a day ago",
            *(shown[1], good, None, seen(at[0], at[1], at[2], at[2] + 60, time=at[2] + DAY + 30)),
            pins[1],
        ),
        (
            "public for a moment, long ago",
            *(last, good, None, seen(at[0], at[1], at[2], at[2] + 60, time=at[3])),
            pins[3],
        ),
        ("at once", last, good, None, seen(*at, time=at[3]), Refusal.NOT_WITNESSED),
        ("nothing shown for a day", last, good, None, seen(*at[:1], time=at[0]), NOT_YET),
        ("pinned before it was shown", last, good, pins[3], seen(*at[:2], time=at[3]), NOT_YET),
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
        ("witness of a fork", last, fork, pins[0], seen(*at[:2], time=at[3]), OTHER),
        ("witness ahead", shown[1], good[:2], None, seen(*at[:3], time=at[3]), OTHER),
        (
            "out of sight",
            last,
            good[3:],
            pins[3],
            seen(*at[:2], time=at[3]),
            Refusal.CHAIN_GAP,
        ),
    )


def statements() -> Iterator[Case]:
    """What a witness signed: read with the key held on to, or refused with a code."""
    listed = entries([disclosure(seed=seed) for seed in range(3)])
    made = stated(listed, 100, 200, 260, time=300)
    good = Signed.seal(made, OBSERVER)
    other = Signed.seal(made, STRANGER)
    borrowed = Signed(body=good.body, signature=OBSERVER.sign(Entry.domain, made.raw))
    backwards = good.body.replace("[100,200,260]", "[100,260,200]")
    short = good.body.replace("[100,200,260]", "[100,200]")
    for name, signed, key, seconds, expected in (
        ("first use, at once", good, None, 0, 2),
        ("the newest", good, OBSERVER.public, 40, 2),
        ("the one before", good, OBSERVER.public, 60, 1),
        ("the first", good, OBSERVER.public, 61, 0),
        ("none", good, OBSERVER.public, 101, None),
        ("another key", good, STRANGER.public, 0, Refusal.WITNESS_CHANGED),
        ("signed by another", other, None, 0, Refusal.BAD_SIGNATURE),
        ("another domain", borrowed, None, 0, Refusal.BAD_SIGNATURE),
        ("backwards", Signed(body=backwards, signature="0" * 128), None, 0, Refusal.WRONG_SHAPE),
        ("too short", Signed(body=short, signature="0" * 128), None, 0, Refusal.WRONG_SHAPE),
    ):
        yield {
            "name": name,
            "signed": text(signed),
            "key": key,
            "shown_for": seconds,
            "expect": {"code" if isinstance(expected, Refusal) else "entry": expected},
        }


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
        (Refusal.REVEAL_OUT_OF_RANGE, "dmpss", "keep", -1),
        (Refusal.REVEAL_OUT_OF_RANGE, "dmpss", "keep", ONE + 1),
        (Refusal.AVERAGE_OUT_OF_RANGE, "fa", "average", (ONE - 1, ONE)),
        (Refusal.AVERAGE_OUT_OF_RANGE, "ia", "average", (5 * ONE + 1,)),
    ]
    for code, scheme, column, row in rows:
        shown = disclosure(scheme)
        column_of = getattr(shown, column) or (ONE,) * len(shown.items)
        changes: dict[str, Any] = {column: (*column_of[:4], row, *column_of[5:])}
        if column == "keep":
            changes["leak"] = ONE
        bad = disclosure(scheme, **changes)
        yield {
            "name": f"{code} in {scheme}: {row}",
            "disclosure": text(bad),
            "chain": [text(signed) for signed in sealed(entries([bad]))],
            "code": code,
        }


def bad_rounds() -> Iterator[Case]:
    """A first round is answered; a second question is refused; the last is about counterparts."""
    yield from refused_after(disclosure("dmpss"), disclosure("dmpss", seed=2))
    shown = counterparts_disclosure()
    selection = tuple(tuple(-one for one in row) for row in shown.selection or ())
    yield from refused_after(
        shown, shown.model_copy(update={"selection": selection}), first_only=True
    )
    yield open_where_assigned()


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
        yield _certified(name, signed, digest, keys, expected, required=required)

    def measured(low: int, auc: int, high: int) -> Signed:
        figures = {"auc_low": low, "auc": auc, "auc_high": high}
        return Signed.seal(certificate.model_copy(update=figures), AUDITOR)

    certain, no = measured(990_000, MILLION, MILLION), Refusal.NOT_CERTIFIED
    limits: list[tuple[str, Signed, Sequence[str], int, Refusal | bool]] = [
        ("certain", certain, trusted, MOST_AUC, no),
        ("certain, and no limit", certain, trusted, MILLION, True),
        ("certain, by somebody not trusted", certain, [], MOST_AUC, False),
        ("certain, sign flipped", measured(0, 0, 10_000), trusted, MOST_AUC, no),
        ("flipped, beyond", measured(399_999, 410_000, 420_000), trusted, MOST_AUC, no),
        ("interval beyond", measured(400_001, 500_000, 600_001), trusted, MOST_AUC, no),
        ("interval within", measured(400_000, 500_000, 600_000), trusted, MOST_AUC, True),
        ("beyond a limit of her own", good, trusted, 543_999, no),
        ("within a limit of her own", good, trusted, 544_000, True),
        (
            "saying against whom",
            Signed.seal(_stated(certificate), AUDITOR),
            trusted,
            MOST_AUC,
            True,
        ),
    ]
    for name, signed, keys, most, expected in limits:
        yield _certified(name, signed, shown.digest, keys, expected, most_auc=most)


def _stated(certificate: Certificate) -> Certificate:
    """Say all that a certificate can say of how it was measured."""
    figures = {"given": 700_000, "tpr_at_1": 21_000, "tpr_at_01": 2_500, "named": 1_200,
               "balanced_accuracy": 513_000}  # fmt: skip
    counts = {"panel": 4_000, "outsiders": 1_000, "folds": 10, "people": 6_040, "attackers": 34}
    return certificate.model_copy(update={"adversary": "outsider", **figures, **counts})


def _certified(
    name: str,
    signed: Signed | None,
    digest: str,
    keys: Sequence[str],
    expected: Refusal | bool,
    *,
    required: bool = False,
    most_auc: int = MILLION,
) -> Case:
    return {
        "name": name,
        "certificate": None if signed is None else text(signed),
        "digest": digest,
        "trusted": list(keys),
        "required": required,
        "most_auc": most_auc,
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
