"""What the numbers mean, in plain words."""

from dataclasses import dataclass

from midpoint.audit.measure.results import AuditResults, Band, Row
from midpoint.audit.run.plan import RAW

DEFAULTS = ("cmpss", "cmp", "dmpss", "mpss")
"""Schemes that are in use on some data or other (`analyst.choose_scheme`)."""
GRADES = ((0.05, "a slight leak"), (0.15, "a leak"), (0.35, "a strong leak"))
"""What to call a distance from 0.5 below each bound."""
OUTRIGHT = "the feature is there to read"
CHANCE = "no more than chance"
UNSURE = "beyond the chance band, but not told from chance by the wider one"
"""Nobody should sign that it is chance, nor that it is a leak: more people would tell."""
BLIND = "nothing that can read raw ratings was tried, so this proves nothing"
UNREAD = "hardly read in raw ratings, so that failing elsewhere proves little"
"""Of raw ratings, which are never private: the attackers are too weak, or people too few."""


@dataclass(frozen=True)
class Verdict:
    """The judgement on one scheme."""

    scheme: str
    """The protocol."""
    strongest: Row
    """The attacker that is farthest from 0.5."""
    found: str
    """What it comes to, in a few words."""
    sentence: str
    """It in one sentence."""
    safe: bool
    """Whether what is read is no more than chance, by attackers that can read."""


def judge(results: AuditResults, scheme: str) -> Verdict | None:
    """Judge a scheme by its strongest attacker against the band of chance; None if untried."""
    row = results.strongest(scheme)
    if row is None:
        return None
    band, cost = results.bands[scheme], results.cost(scheme)
    found = weigh(row.value, band, able=bool(readers(results, scheme)), raw=scheme == RAW)
    price = "" if cost is None else f"; cost {100 * cost:+z.1f} % RMSE{_range(results, scheme)}"
    sentence = (
        f"strongest attacker {reading(row.value)} ({row.attack}, {row.low:.3f}-{row.high:.3f}),"
        f" {name_bands(band)}: {found}{price}"
    )
    return Verdict(scheme, row, found, sentence, found == CHANCE)


def weigh(value: float, band: Band, *, able: bool, raw: bool = False) -> str:
    """Say what the strongest attacker's AUC comes to.

    `able` tells whether somebody tried who reads raw ratings, else failing proves nothing; `raw`
    that these are raw ratings, which nobody should call private.
    """
    if not band.holds(value):
        return _grade(value)
    if not able:
        return BLIND
    if raw:
        return UNREAD
    return CHANCE if band.holds_closely(value) else UNSURE


def readers(results: AuditResults, scheme: str) -> list[str]:
    """Return the attackers that tried a scheme and can read raw ratings.

    One that reads only the flaw of another scheme, its control, is blind elsewhere.
    """
    tried = {row.attack for row in results.areas(scheme)}
    able = {name for name, one in results.controls.items() if one.reads and one.scheme == RAW}
    return [name for name in results.attack_names() if name in tried & able]


def name_bands(band: Band) -> str:
    """Name the band of chance, and the wider one that verdicts go by."""
    return (
        f"chance band {band.low:.3f}-{band.high:.3f},"
        f" {band.judged_low:.3f}-{band.judged_high:.3f} with attackers trained anew"
    )


def headline(results: AuditResults) -> Verdict | None:
    """Judge the scheme that is in use on such data, or the next best that was tried."""
    names = [name for name in results.scheme_names() if results.strongest(name)]
    names = [name for name in names if name != "nothing"] or names
    chosen = [name for name in (results.usual, *DEFAULTS) if name in names] or names[-1:]
    return judge(results, chosen[0]) if chosen else None


def reading(value: float) -> str:
    """Write an AUC, below 0.5 also what it is once the answers are turned round."""
    return f"{value:.3f}" if value >= 0.5 else f"{value:.3f}, or {1 - value:.3f} turned round"


def unproved(results: AuditResults) -> list[str]:
    """Return of several categories those that no attacker can tell from the rest anywhere."""
    if len(results.categories) <= 2 or not results.controls:
        return []
    return [
        name
        for name in results.categories
        if all(name in control.unread for control in results.controls.values())
    ]


def proves_nothing(results: AuditResults, attack: str) -> bool:
    """Tell whether an attacker could not read its control."""
    return not results.controls[attack].reads


def _range(results: AuditResults, scheme: str) -> str:
    cost = results.costs.get(scheme)
    return "" if cost is None else f" ({100 * cost.low:+z.1f} to {100 * cost.high:+z.1f})"


def _grade(value: float) -> str:
    distance = abs(value - 0.5)
    return next((name for bound, name in GRADES if distance < bound), OUTRIGHT)
