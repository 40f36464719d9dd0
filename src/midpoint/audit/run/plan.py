"""How an audit is made: its folds, draws and seeds, and how schemes are written."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, get_args

from midpoint.analyst import Factorizer
from midpoint.analyst.categories.estimates import Estimation
from midpoint.analyst.disclose.specification import SETTINGS as SPEC_SETTINGS
from midpoint.analyst.fit.choice import ALLOWED, Allowance
from midpoint.analyst.fit.fold_in import Method
from midpoint.audit.rounds.conversation import DeviceKind
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol

DEFAULT = "default"
"""The scheme that training would choose: chosen inside every fold, on its panel alone."""


GIVEN = 0.7
"""Share of their ratings from which the others are predicted, and which is attacked unless another
share is asked for (Sec. 7.1)."""
OUTSIDERS = 0.2
"""Share of the people outside a fold who are outsiders unless another is asked for."""


@dataclass(frozen=True)
class Plan:
    """All that the numbers of an audit depend on beside data, schemes and attackers."""

    feature: tuple[str, ...]
    """The private feature; several are crossed."""
    folds: int = 10
    """Into how many folds the users are split (Sec. 7.1)."""
    seed: int = 0
    """From it every random draw follows."""
    share: float = GIVEN
    """Share of a held-out user's ratings that is obfuscated and attacked; 1 is all of them."""
    until: int | None = None
    """Where ratings are split by time: what came before is trained on and given, what came later is
    predicted. In seconds since 1970."""
    parts: int = 3
    """Parts of the training users, each obfuscated under a disclosure fitted without it."""
    draws: int = 5
    """Coin draws of each training user that adaptive attackers learn from."""
    factorizer: Factorizer = field(default_factory=Factorizer)
    """How item profiles are learned."""
    outsiders: float = OUTSIDERS
    """Of the people outside a fold, how many are labelled outsiders: a share, or a number."""
    panel: float | None = None
    """How many of them are the panel: a share, a number, or 1 for all who are no outsiders. Unless
    given, these are the panel where outsiders are kept apart, and everyone is elsewhere."""
    volunteers: str = ""
    """Who volunteers for the panel: everyone alike, `heavy` raters, or rather those of a category,
    such as `age=56+` (`adversaries.panel_draw`)."""
    reports: bool = False
    """Whether items are also learned from reports of everyone outside the fold and the panel."""
    allow: Allowance = ALLOWED
    """What protection may cost where the scheme is chosen."""
    paper: bool = False
    """Whether all is as in Sec. 7: least squares throughout, and no parts (`paper_setup`)."""
    quick: bool = False
    """Whether few schemes, attackers and folds were asked for; nobody certifies that."""

    def __post_init__(self) -> None:
        if not self.feature:
            raise MidpointError("name the private feature to attack")
        if self.folds < 2 or self.parts < 2 or self.draws < 1:
            raise MidpointError("an audit needs 2 folds, 2 parts and 1 coin draw at least")
        if not 0 < self.share <= 1:
            raise MidpointError(
                f"people give a share of their ratings above 0 and up to 1, or `all`: got"
                f" {self.share:g}"
            )
        if self.until is not None and self.share == 1:
            raise MidpointError(
                "a split by time gives what came before, not all; leave out --given all or --split"
                " time"
            )
        for name, size in (("outsiders", self.outsiders), ("panel", self.panel)):
            if size is not None and (size <= 0 or (size > 1 and size != round(size))):
                raise MidpointError(
                    f"{name} must be a share between 0 and 1, or a number of people: got {size}"
                )
        # One thread each, since several tasks run side by side; results do not depend on it.
        object.__setattr__(self, "factorizer", replace(self.factorizer, threads=1))

    def seed_of(self, *parts: object) -> int:
        """Derive the seed of one part of the work from its name, whatever else is run."""
        text = "\x1f".join(map(str, (self.seed, *parts)))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


@dataclass(frozen=True)
class ChosenProtocol(LearningProtocol):
    """Stands for the scheme that is chosen inside every fold, until it is."""

    name: str = DEFAULT

    def __post_init__(self) -> None:
        """Leave the name as it is: each fold has a scheme of its own."""


def sends_profiles(protocol: LearningProtocol) -> bool:
    """Tell whether devices send profiles that they estimated themselves, and no ratings."""
    return protocol.name == "full"


def read_scheme(text: str) -> LearningProtocol:
    """Read a protocol from its name and settings.

    Such as `dmpss`, `mpss:bits=4:alpha=0.5`, `cmp:levels=5:spread=on`, or with several rounds
    `cmpss:rounds=4:forgetful`.
    """
    name, *settings = text.split(":")
    if name == DEFAULT:
        if settings:
            raise MidpointError(
                f"scheme {text!r}: the scheme in use is chosen as training does, without settings;"
                " write default"
            )
        return ChosenProtocol()
    chosen: dict[str, Any] = {}
    for setting in settings:
        key, _, value = ("device", "", setting) if setting in DEVICES else setting.partition("=")
        try:
            chosen[key] = SETTINGS[key](value)
        except (KeyError, ValueError) as error:
            raise MidpointError(
                f"scheme {text!r}: {setting!r} is no setting, or has no such value; write them as"
                " in dmp:levels=5 or mpss:bits=4:alpha=0.5:estimation=plain:estimator=least-squares"
            ) from error
    if "rounds" in chosen:
        return RoundsProtocol(name, **chosen)
    if chosen.keys() & ROUND_SETTINGS:
        raise MidpointError(f"scheme {text!r} is about several rounds; say how many: rounds=4")
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
        "leak": float,
        "estimator": _one_of(*get_args(Method)),
        **SPEC_SETTINGS,
        "rounds": int,
        "budget": int,
        "items": int,
        "device": DeviceKind,
    }
)
"""How to read the settings of a protocol that may follow its name."""
ROUND_SETTINGS = frozenset({"rounds", "budget", "items", "device"})
"""Those that only a protocol over several rounds has."""
DEVICES = frozenset(map(str, DeviceKind))
"""Names of devices, which may stand alone as a setting."""
