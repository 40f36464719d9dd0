"""Which attackers try which protocols, as which adversaries: the work of an audit."""

from collections.abc import Iterable, Iterator, Mapping

from midpoint.analyst import itemwise_scheme
from midpoint.audit.run.adversaries.catalogue import CLEAN, PANEL, SPLIT_ADVERSARIES
from midpoint.audit.run.curves import CURVE_ATTACKS, curve_schemes
from midpoint.audit.run.schemes_and_attacks import (
    Attacks,
    Schemes,
    choose_attacks,
    choose_schemes,
    held_over_rounds,
    of_one_report,
    of_rounds,
    of_scale,
    of_transcripts,
)
from midpoint.audit.run.work import Makers, Work
from midpoint.data import Scale
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol

QUICK_OUTSIDERS = ("adaptive-lr-items", "adaptive-lr-panel", "transcript-lr-items")
"""Attackers with which a quick audit tries outsiders: of one report, and of several rounds."""


def choose_work(
    schemes: Schemes | None,
    attacks: Attacks | None,
    scale: Scale,
    *,
    quick: bool = False,
    usual: str | None = None,
    rounds: int | None = None,
    curves: Iterable[str] = (),
    adversaries: Iterable[str] = (PANEL,),
) -> Work:
    """Assign attackers to protocols, from what was asked for; refuse what cannot be run.

    `usual` is the scheme of rounds and curves if none is named: unless given, the item-wise one.
    """
    usual = usual or itemwise_scheme(scale)
    chosen = choose_schemes(schemes, scale, quick=quick)
    attackers = choose_attacks(attacks, quick=quick)
    attackers = of_scale(attackers, scale, named=attacks is not None)
    over_rounds, single = of_rounds(chosen), of_one_report(attackers)
    once = {name: one for name, one in chosen.items() if name not in over_rounds}
    against, few = tuple(adversaries), quick and attacks is None
    work = _single_reports(once, single, against, few=few)
    along = curve_schemes(curves, scale, quick=quick, usual=usual)
    if along:
        named = choose_attacks(CURVE_ATTACKS if attacks is None else attacks)
        work |= Work.of(along, of_one_report(named))
    if rounds is not None:
        over_rounds |= held_over_rounds({} if schemes is None else once, rounds, usual)
    if over_rounds:
        for part in _transcripts(over_rounds, of_transcripts(attackers), against, few=few):
            work |= part
    elif not single:
        raise MidpointError(f"{', '.join(attackers)} read several rounds; ask for rounds as well")
    return work


def _single_reports(
    schemes: Mapping[str, LearningProtocol],
    attackers: Makers,
    adversaries: tuple[str, ...],
    *,
    few: bool,
) -> Work:
    """Assign attackers of one report, for each adversary; `few` of them where it is split."""
    known = {
        name: make
        for name, make in attackers.items()
        if PANEL in adversaries or (CLEAN in adversaries and not make().adaptive)
    }
    work = Work.of(schemes, known)
    for adversary in adversaries:
        if adversary in SPLIT_ADVERSARIES:
            work |= Work.against(adversary, schemes, _of_split(attackers, few=few))
    if attackers and not work.attackers:
        raise MidpointError(
            f"{', '.join(attackers)} cannot learn as {', '.join(adversaries)}; name an attack that"
            " does (adaptive ones learn under a disclosure, clean ones from raw ratings)"
        )
    return work


def _of_split(attackers: Makers, *, few: bool) -> Makers:
    """Return the attackers for adversaries where panel and outsiders are split: all, or `few`."""
    return {name: m for name, m in attackers.items() if not few or name in QUICK_OUTSIDERS}


def _transcripts(
    schemes: Mapping[str, LearningProtocol],
    attackers: Makers,
    adversaries: tuple[str, ...],
    *,
    few: bool,
) -> Iterator[Work]:
    """Assign attackers of transcripts, for each adversary that knows the scheme."""
    if SPLIT_ADVERSARIES.isdisjoint(adversaries) and PANEL not in adversaries:
        raise MidpointError(
            f"attackers of several rounds know the scheme, and {', '.join(adversaries)} does not;"
            " name panel or outsider among the adversaries, or leave the rounds out"
        )
    if PANEL in adversaries:
        yield Work.of_rounds(schemes, attackers)
    for adversary in adversaries:
        if adversary in SPLIT_ADVERSARIES:
            yield Work.of_rounds(schemes, _of_split(attackers, few=few), adversary)
