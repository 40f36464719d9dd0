"""What an audit does: which data, folds, schemes and attackers, and the seeds of its parts."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

from midpoint.analyst import Factorizer
from midpoint.analyst.categories.estimates import Estimation
from midpoint.analyst.fit.fold_in import Method
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol

if TYPE_CHECKING:
    from midpoint.audit.attackers import Attacker

RAW = "no"
"""The scheme of the control: ratings as they are."""


@dataclass(frozen=True)
class Plan:
    """All that the numbers of an audit depend on beside data, schemes and attackers."""

    feature: tuple[str, ...]
    """The private feature; several are crossed."""
    folds: int = 10
    """Into how many folds the users are split (Sec. 7.1)."""
    seed: int = 0
    """From it every random draw follows."""
    share: float = 0.7
    """Share of a held-out user's ratings that is obfuscated and attacked."""
    parts: int = 3
    """Parts of the training users, each obfuscated under a disclosure fitted without it."""
    draws: int = 5
    """Coin draws of each training user that adaptive attackers learn from."""
    factorizer: Factorizer = field(default_factory=Factorizer)
    """How item profiles are learned."""

    def __post_init__(self) -> None:
        if not self.feature:
            raise MidpointError("name the private feature to attack")
        if self.folds < 2 or self.parts < 2 or self.draws < 1:
            raise MidpointError("an audit needs 2 folds, 2 parts and 1 coin draw at least")
        # One thread each, since several tasks run side by side; results do not depend on it.
        object.__setattr__(self, "factorizer", replace(self.factorizer, threads=1))

    def seed_of(self, *parts: object) -> int:
        """Derive the seed of one part of the work from its name, whatever else is run."""
        text = "\x1f".join(map(str, (self.seed, *parts)))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


@dataclass(frozen=True)
class Work:
    """What is to be run: protocols and attackers by name."""

    schemes: Mapping[str, LearningProtocol]
    """All protocols that take part."""
    attackers: Mapping[str, "Callable[[], Attacker]"]
    """What makes a fresh attacker of each kind."""
    asked: frozenset[str]
    """The protocols that every attacker tries; others are controls of a few attackers."""
    clean: frozenset[str]
    """The attackers that are fitted on clean ratings, once for all protocols."""
    controls: Mapping[str, str]
    """For each attacker the protocol that it must be able to read."""
    profiling: frozenset[str] = frozenset()
    """The attackers that can read profiles where no ratings are sent."""

    @property
    def placing(self) -> tuple[str, ...]:
        """The schemes with counterparts, which need to be told where people lie."""
        used = (how.scheme for how in self.schemes.values() if how.scheme.counterparts)
        return tuple(dict.fromkeys(scheme.name for scheme in used))

    @classmethod
    def of(
        cls,
        schemes: Mapping[str, LearningProtocol],
        attackers: Mapping[str, "Callable[[], Attacker]"],
    ) -> "Work":
        """Add to the protocols what the attackers need as their controls."""
        samples = {name: make() for name, make in attackers.items()}
        controls = {name: getattr(one, "control", RAW) for name, one in samples.items()}
        added = {name: read_scheme(name) for name in (RAW, *controls.values())}
        for name in added.keys() & schemes.keys():
            if schemes[name] != added[name]:
                raise MidpointError(
                    f"{name!r} is what attackers are controlled by; name your protocol otherwise"
                )
        return cls(
            schemes=added | dict(schemes),
            attackers=dict(attackers),
            asked=frozenset({RAW, *schemes}),
            clean=frozenset(name for name, one in samples.items() if not one.adaptive),
            controls=controls,
            profiling=frozenset(
                name for name, one in samples.items() if getattr(one, "reads_profiles", False)
            ),
        )

    def wants(self, scheme: str, attack: str) -> bool:
        """Tell whether this attacker is to try this protocol."""
        if sends_profiles(self.schemes[scheme]) and attack not in self.profiling:
            return False
        return scheme in self.asked or self.controls[attack] == scheme


def sends_profiles(how: LearningProtocol) -> bool:
    """Tell whether devices send profiles that they estimated themselves, and no ratings."""
    return how.name == "full"


def read_scheme(text: str) -> LearningProtocol:
    """Read a protocol from its name and settings: `dmpss`, or `mpss:bits=4:alpha=0.5`."""
    name, *settings = text.split(":")
    chosen: dict[str, Any] = {}
    for setting in settings:
        key, _, value = setting.partition("=")
        try:
            chosen[key] = SETTINGS[key](value)
        except (KeyError, ValueError) as error:
            raise MidpointError(
                f"scheme {text!r}: {setting!r} is no setting; write them as in"
                " mpss:bits=4:alpha=0.5:estimation=plain:estimator=least-squares"
            ) from error
    return LearningProtocol(name, **chosen)


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return read


SETTINGS: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {
        "estimation": _one_of(*get_args(Estimation)),
        "bits": int,
        "alpha": float,
        "estimator": _one_of(*get_args(Method)),
    }
)
"""How to read the settings of a protocol that may follow its name."""
