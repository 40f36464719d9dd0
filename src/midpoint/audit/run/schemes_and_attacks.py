"""Which schemes and attackers take part, by what was asked for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict

from midpoint.analyst import itemwise_scheme
from midpoint.analyst.disclose.disclosure import FINEST
from midpoint.analyst.disclose.specification import FOR_SETS, reported_levels
from midpoint.analyst.fit.choice import RAW
from midpoint.audit.attackers import ATTACKERS, Attacker
from midpoint.audit.attackers.catalogue import PAPER_ATTACKS, QUICK_ATTACKS
from midpoint.audit.attackers.custom import custom_attacker, require_attacker
from midpoint.audit.rounds.attackers import ON_UNION, TRANSCRIPT_ATTACKERS
from midpoint.audit.rounds.conversation import DeviceKind
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.plan import DEFAULT, ChosenProtocol, read_scheme
from midpoint.data import Scale
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol
from midpoint.wire import SCHEMES

BY_NAME: Mapping[str, Callable[[], Attacker]] = {**ATTACKERS, **TRANSCRIPT_ATTACKERS}
"""What makes each attacker that has a name."""
Schemes = str | Iterable[str] | Mapping[str, LearningProtocol]
Attacks = str | Iterable[str] | Mapping[str, Callable[[], Attacker]]


def choose_schemes(
    schemes: Schemes | None, scale: Scale, *, quick: bool = False
) -> dict[str, LearningProtocol]:
    """Return protocols by name; the control comes first, whether asked for or not."""
    if isinstance(schemes, Mapping):
        named = dict(schemes)
    elif schemes is not None:
        named = {text: read_scheme(text) for text in _each(schemes)}
    else:
        every = [s.name for s in SCHEMES.values() if scale.is_discrete or not s.needs_levels]
        if scale.is_unary:
            every = [name for name in every if SCHEMES[name].is_for_sets]
        every += ["nothing", DEFAULT] if scale.is_unary else ["full", "nothing", DEFAULT]
        wanted = (RAW, "ss" if scale.is_unary else "mp", DEFAULT) if quick else every
        named = {name: read_scheme(name) for name in wanted}
    if not named:
        raise MidpointError("no scheme is named: name one at least, or leave them out to try all")
    for name, protocol in named.items():
        _require_runnable(name, protocol, scale)
    raw = {RAW: named.pop(RAW, LearningProtocol(RAW))}
    for protocol in list(named.values()):  # costs are counted from raw ratings estimated alike
        if protocol.estimator != raw[RAW].estimator and type(protocol) is LearningProtocol:
            alike = f"{RAW}:estimator={protocol.estimator}"
            raw[alike] = named.pop(alike, LearningProtocol(RAW, estimator=protocol.estimator))
    return raw | named


def _require_runnable(name: str, protocol: LearningProtocol, scale: Scale) -> None:
    """Refuse now what would fail in the middle of an audit."""
    if not isinstance(protocol, LearningProtocol):
        raise MidpointError(f"scheme {name!r} is {protocol!r}, and has to be a LearningProtocol")
    if isinstance(protocol, ChosenProtocol):
        return
    if protocol.scheme.needs_levels and not scale.is_discrete:
        raise MidpointError(
            f"scheme {name!r} needs ratings in levels, and these are on a continuous scale;"
            f" {itemwise_scheme(scale)} does not"
        )
    if scale.is_unary and (protocol.name == "full" or not protocol.scheme.is_for_sets):
        raise MidpointError(
            f"scheme {name!r} changes values, and unary data has none; choose {FOR_SETS}"
        )
    reported_levels(scale, protocol.levels)
    if protocol.bits is not None and not 1 <= protocol.bits <= FINEST:
        raise MidpointError(
            f"scheme {name!r}: bits must be from 1 to {FINEST}: got {protocol.bits}"
        )
    if protocol.bits is not None and protocol.scheme.counterparts:
        raise MidpointError(
            f"scheme {name!r}: {protocol.name} is disclosed at one precision, without bits"
        )


def _each(names: str | Iterable[str]) -> Iterable[str]:
    """Go through names; a text holds them separated by commas, as in the command."""
    if not isinstance(names, str):
        return names
    return [part.strip() for part in names.split(",") if part.strip()]


def choose_attacks(
    attacks: Attacks | None, *, quick: bool = False
) -> dict[str, Callable[[], Attacker]]:
    """Return what makes each attacker, by name; `paper` stands for the paper's four."""
    if isinstance(attacks, Mapping):
        chosen = {name: require_attacker(name, make) for name, make in attacks.items()}
    else:
        named = _each((QUICK_ATTACKS if quick else ATTACKERS) if attacks is None else attacks)
        asked = [PAPER_ATTACKS if name == "paper" else (name,) for name in named]
        chosen = {name: _attacker(name) for names in asked for name in names}
    if not chosen:
        raise MidpointError("no attack is named: name one at least, or leave them out to try all")
    return chosen


def of_scale(
    attackers: dict[str, Callable[[], Attacker]], scale: Scale, *, named: bool
) -> dict[str, Callable[[], Attacker]]:
    """Leave out attacks on schemes that change values, where there are no values."""
    if not scale.is_unary:
        return attackers
    controls = {name: getattr(make(), "control", RAW) for name, make in attackers.items()}
    wrong = [n for n, c in controls.items() if c in SCHEMES and not SCHEMES[c].is_for_sets]
    if named and wrong:
        raise MidpointError(
            f"attack {wrong[0]!r} reads changed values, and unary data has none; leave it out"
        )
    return {name: make for name, make in attackers.items() if name not in wrong}


def _attacker(name: str) -> Callable[[], Attacker]:
    """Find an attacker by name, or one of somebody's own."""
    if name in BY_NAME:
        return BY_NAME[name]
    if ":" not in name:
        raise MidpointError(
            f"there is no attack {name!r}; choose from paper, {', '.join(BY_NAME)}, or name one"
            " of your own as path/file.py:Name or module:Name"
        )
    return custom_attacker(name)


def of_rounds(schemes: Mapping[str, LearningProtocol]) -> dict[str, LearningProtocol]:
    """Return the protocols that go over several rounds, with raw ratings as their control."""
    chosen = {
        name: protocol for name, protocol in schemes.items() if isinstance(protocol, RoundsProtocol)
    }
    controls = {
        _raw_name(protocol): RoundsProtocol(
            RAW, rounds=protocol.rounds, budget=protocol.budget, items=protocol.items
        )
        for protocol in chosen.values()
    }
    return {**controls, **chosen}


def held_over_rounds(
    schemes: Mapping[str, LearningProtocol], rounds: int, usual: str
) -> dict[str, LearningProtocol]:
    """Return devices of one scheme over several rounds, with raw ratings as their control.

    They are the product's, and those that do not keep decisions. The scheme is the only one that
    is named beside raw ratings, if it is one, else the usual one.
    """
    named = {
        name: protocol
        for name, protocol in schemes.items()
        if protocol.name != RAW and type(protocol) is LearningProtocol
    }
    name, protocol = next(iter(named.items())) if len(named) == 1 else (usual, read_scheme(usual))
    final = RoundsProtocol(**asdict(protocol), rounds=rounds)
    product = f"{name}:rounds={rounds}"
    others = {
        f"{product}:{device}": RoundsProtocol(**asdict(protocol), rounds=rounds, device=device)
        for device in (DeviceKind.FORGETFUL, DeviceKind.TOSSING)
    }
    return of_rounds({product: final, **others})


def _raw_name(protocol: RoundsProtocol) -> str:
    """Name the control of a protocol over several rounds by the settings that it shares."""
    plain = RoundsProtocol(RAW)
    settings = [f"rounds={protocol.rounds}"]
    settings += [
        f"{key}={getattr(protocol, key)}"
        for key in ("budget", "items")
        if getattr(protocol, key) != getattr(plain, key)
    ]
    return ":".join([RAW, *settings])


Makers = Mapping[str, Callable[[], Attacker]]


def of_one_report(attackers: Makers) -> dict[str, Callable[[], Attacker]]:
    """Return the attackers that use one report."""
    return {name: make for name, make in attackers.items() if not _reads_transcripts(make)}


def of_transcripts(attackers: Makers) -> Makers:
    """Return the attackers of several rounds: those named, or all if none is."""
    if not any(map(_reads_transcripts, attackers.values())):
        return TRANSCRIPT_ATTACKERS
    return {
        name: make
        for name, make in attackers.items()
        if _reads_transcripts(make) or name in ON_UNION
    }


def _reads_transcripts(make: Callable[[], Attacker]) -> bool:
    return bool(getattr(make(), "reads_transcripts", False))
