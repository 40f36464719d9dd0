"""What is to be run: which protocols, which attackers, and which attacks which."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from midpoint.audit.attackers import Attacker
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.adversaries.outsiders import PUBLISHED
from midpoint.audit.run.plan import RAW, ChosenProtocol, read_scheme, sends_profiles
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol

Makers = Mapping[str, Callable[[], Attacker]]
"""What makes a fresh attacker of each kind, by name."""


@dataclass(frozen=True)
class Work:
    """Protocols and attackers by name, and what is measured of which."""

    schemes: Mapping[str, LearningProtocol]
    """All protocols that take part."""
    attackers: Makers
    """All attackers that take part."""
    tries: frozenset[tuple[str, str]]
    """The pairs of a protocol and an attacker that tries it."""
    costed: frozenset[str]
    """The protocols whose cost is measured; others are controls, or go over several rounds."""
    clean: frozenset[str]
    """The attackers that are fitted on clean ratings, once for all protocols."""
    controls: Mapping[str, str]
    """For each attacker the protocol that it must succeed on."""
    adversary: Mapping[str, str] = field(default_factory=dict)
    """Of attackers that learn under the published disclosure, whose they are."""

    @property
    def counterparts(self) -> tuple[str, ...]:
        """The schemes with counterparts, which need positions beside profiles."""
        return _counterparts(self.schemes)

    @property
    def has_choice(self) -> bool:
        """Whether every fold has to choose the scheme that training would."""
        return any(isinstance(how, ChosenProtocol) for how in self.schemes.values())

    @property
    def has_rounds(self) -> bool:
        """Whether the analyst has to learn early as well, for the first half of the rounds."""
        return any(isinstance(how, RoundsProtocol) for how in self.schemes.values())

    @property
    def has_split(self) -> bool:
        """Whether panel and outsiders are kept apart, for some adversary."""
        return bool(self.adversary)

    @property
    def has_panel(self) -> bool:
        """Whether somebody learns as the analyst with the panel alone does."""
        return not self.adversary or self.attackers.keys() > self.adversary.keys()

    @property
    def counterparts_over_rounds(self) -> tuple[str, ...]:
        """The schemes with counterparts that go over several rounds."""
        rounds = {n: how for n, how in self.schemes.items() if isinstance(how, RoundsProtocol)}
        return _counterparts(rounds)

    @classmethod
    def of(cls, schemes: Mapping[str, LearningProtocol], attackers: Makers) -> "Work":
        """Have every attacker try every protocol, and add what they need as their controls.

        Where devices send profiles that they estimated themselves, only attackers that can read
        profiles try.
        """
        samples = {name: make() for name, make in attackers.items()}
        controls = {name: getattr(sample, "control", RAW) for name, sample in samples.items()}
        added = {name: read_scheme(name) for name in (RAW, *controls.values())}
        for name in added.keys() & schemes.keys():
            if not _sends_alike(schemes[name], added[name]):
                raise MidpointError(
                    f"{name!r} is the control of attackers; give your protocol another name"
                )
        every, asked = added | dict(schemes), {RAW, *schemes}
        tries = {
            (scheme, attack)
            for scheme, how in every.items()
            for attack, sample in samples.items()
            if scheme in asked or controls[attack] == scheme
            if not sends_profiles(how) or getattr(sample, "reads_profiles", False)
        }
        return cls(
            schemes=every,
            attackers=dict(attackers),
            tries=frozenset(tries),
            costed=frozenset(asked),
            clean=frozenset(name for name, sample in samples.items() if not sample.adaptive),
            controls=controls,
        )

    @classmethod
    def against(
        cls, adversary: str, schemes: Mapping[str, LearningProtocol], attackers: Makers
    ) -> "Work":
        """Have those of the attackers that know the scheme learn as an adversary can.

        They are called `outsider:adaptive-lr-mask` and so on. Clean ones learn nothing there that
        they would not learn elsewhere; one that weighs what the panel shows needs others than it.
        """
        named = {
            f"{adversary}:{name}": make
            for name, make in _usable(attackers, adversary).items()
            if make().adaptive
        }
        return replace(cls.of(schemes, named), adversary=dict.fromkeys(named, adversary))

    @classmethod
    def of_rounds(
        cls, schemes: Mapping[str, LearningProtocol], attackers: Makers, adversary: str = ""
    ) -> "Work":
        """Have every attacker of transcripts try every protocol over several rounds.

        They learn as the analyst with the panel does, or as an adversary that is named.
        """
        named = {
            f"{adversary}:{name}" if adversary else name: make
            for name, make in _usable(attackers, adversary).items()
        }
        return cls(
            schemes=dict(schemes),
            attackers=named,
            tries=frozenset((scheme, attack) for scheme in schemes for attack in named),
            costed=frozenset(),
            clean=frozenset(),
            controls={name: getattr(make(), "control", RAW) for name, make in named.items()},
            adversary=dict.fromkeys(named, adversary) if adversary else {},
        )

    def __or__(self, other: "Work") -> "Work":
        """Run both; a name that both have must mean the same."""
        for name in self.schemes.keys() & other.schemes.keys():
            if self.schemes[name] != other.schemes[name]:
                raise MidpointError(f"{name!r} has two different settings; rename one of them")
        return Work(
            {**self.schemes, **other.schemes},
            {**self.attackers, **other.attackers},
            self.tries | other.tries,
            self.costed | other.costed,
            self.clean | other.clean,
            {**self.controls, **other.controls},
            {**self.adversary, **other.adversary},
        )

    def wants(self, scheme: str, attack: str) -> bool:
        """Tell whether this attacker is to try this protocol."""
        return (scheme, attack) in self.tries


def _usable(attackers: Makers, adversary: str) -> Makers:
    """Return those that an adversary has people for: the panel alone does not show its worth."""
    return {
        name: make
        for name, make in attackers.items()
        if adversary != PUBLISHED or not getattr(make(), "reads_panel", False)
    }


def _sends_alike(how: LearningProtocol, control: LearningProtocol) -> bool:
    """Tell whether a protocol sends what the control does; what is estimated may differ."""
    if type(how) is not type(control) or control.scheme.columns:
        return how == control
    same = {"estimation": control.estimation, "estimator": control.estimator}
    return replace(how, **same) == control  # type: ignore[arg-type]


def _counterparts(schemes: Mapping[str, LearningProtocol]) -> tuple[str, ...]:
    known = (how.scheme for how in schemes.values() if not isinstance(how, ChosenProtocol))
    return tuple(dict.fromkeys(scheme.name for scheme in known if scheme.counterparts))
