"""The work of an audit: protocols, attackers, and which attacker tries which protocol."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from midpoint.analyst.fit.choice import RAW
from midpoint.audit.attackers import Attacker
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.adversaries.catalogue import PUBLISHED
from midpoint.audit.run.plan import ChosenProtocol, read_scheme, sends_profiles
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol

Makers = Mapping[str, Callable[[], Attacker]]
"""Functions that make a new attacker, by its name."""


@dataclass(frozen=True)
class Work:
    """Protocols and attackers by name, and what is measured of each protocol."""

    schemes: Mapping[str, LearningProtocol]
    """All protocols."""
    attackers: Makers
    """All attackers."""
    tries: frozenset[tuple[str, str]]
    """Pairs of a protocol and an attacker that tries it."""
    costed: frozenset[str]
    """Protocols whose cost is measured; others are controls, or go over several rounds."""
    clean: frozenset[str]
    """Attackers that are fitted to raw ratings, once for all protocols."""
    controls: Mapping[str, str]
    """The protocol that each attacker must succeed on."""
    adversary: Mapping[str, str] = field(default_factory=dict)
    """The adversary of each attacker that learns under the published disclosure."""

    @property
    def counterparts(self) -> tuple[str, ...]:
        """The schemes with counterparts, which need positions beside profiles."""
        return _counterparts(self.schemes)

    @property
    def has_choice(self) -> bool:
        """Whether each fold has to choose a scheme, as training does."""
        return any(isinstance(protocol, ChosenProtocol) for protocol in self.schemes.values())

    @property
    def has_rounds(self) -> bool:
        """Whether some protocol goes over several rounds, so that early profiles are needed."""
        return any(isinstance(protocol, RoundsProtocol) for protocol in self.schemes.values())

    @property
    def has_split(self) -> bool:
        """Whether some adversary needs a split into panel and outsiders."""
        return bool(self.adversary)

    @property
    def has_panel(self) -> bool:
        """Whether some attacker learns from the panel, without such a split."""
        return not self.adversary or self.attackers.keys() > self.adversary.keys()

    @property
    def counterparts_over_rounds(self) -> tuple[str, ...]:
        """The schemes with counterparts that go over several rounds."""
        rounds = {
            n: protocol
            for n, protocol in self.schemes.items()
            if isinstance(protocol, RoundsProtocol)
        }
        return _counterparts(rounds)

    @classmethod
    def of(cls, schemes: Mapping[str, LearningProtocol], attackers: Makers) -> "Work":
        """Have every attacker try every protocol, and its control.

        Where devices send profiles that they estimated themselves, only attackers that can use
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
            for scheme, protocol in every.items()
            for attack, sample in samples.items()
            if scheme in asked or controls[attack] == scheme
            if not sends_profiles(protocol) or getattr(sample, "reads_profiles", False)
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
        """Have adaptive attackers learn as an adversary does that needs the split.

        Their names begin with the adversary's: `outsider:adaptive-lr-mask`. Clean attackers would
        learn the same as elsewhere. One that uses the panel has to learn from other people.
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
        """Have attackers of transcripts try protocols over several rounds, as an adversary does.

        Without a name, the adversary is the analyst with the panel.
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
        """Return the work of both; refuse a name with different settings in each."""
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
    """Leave out attackers that use the panel, if the adversary learns from the panel itself."""
    return {
        name: make
        for name, make in attackers.items()
        if adversary != PUBLISHED or not getattr(make(), "reads_panel", False)
    }


def _sends_alike(protocol: LearningProtocol, control: LearningProtocol) -> bool:
    """Whether a protocol sends what its control does; estimators may differ."""
    if type(protocol) is not type(control) or control.scheme.columns:
        return protocol == control
    same = {"estimation": control.estimation, "estimator": control.estimator}
    return replace(protocol, **same) == control  # type: ignore[arg-type]


def _counterparts(schemes: Mapping[str, LearningProtocol]) -> tuple[str, ...]:
    known = (
        protocol.scheme for protocol in schemes.values() if not isinstance(protocol, ChosenProtocol)
    )
    return tuple(dict.fromkeys(scheme.name for scheme in known if scheme.counterparts))
