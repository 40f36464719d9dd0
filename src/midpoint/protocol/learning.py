"""Learning protocols by name: R = (L, Y, x-hat), disclosure, obfuscation and estimator."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from midpoint.analyst import ItemProfiles, disclose, estimate_profiles
from midpoint.analyst.estimates import Estimation
from midpoint.analyst.new_users import Method
from midpoint.errors import MidpointError
from midpoint.protocol.full import FullDisclosure, disclose_fully, regress_locally, silence
from midpoint.protocol.population import Coins, Float, Population, Reports, report_all
from midpoint.protocol.statement import STATEMENTS, Statement
from midpoint.wire import SCHEMES, Disclosure, Scheme

OBFUSCATION = MappingProxyType(
    {"nothing": "no", "clear": "no", "full": "mp"} | {name: name for name in SCHEMES}
)
"""What is done to ratings under each protocol; the three non-solutions of Sec. 4.1 come first."""


@dataclass(frozen=True)
class LearningProtocol:
    """A protocol R = (L, Y, x-hat) between an analyst and many users (Sec. 4.2, Figure 2)."""

    name: str
    """Name of a scheme, or of a non-solution: nothing, clear, full."""
    estimation: Estimation = "shrunken"
    """How the analyst estimates what it discloses: "plain" is the paper's."""
    bits: int | None = None
    """Bits for each disclosed number; all 16 unless given."""
    alpha: float = 1.0
    """Share of ratings that are obfuscated at all (Sec. 7.2)."""
    estimator: Method = "map"
    """How the analyst estimates profiles: "least-squares" is the paper's."""

    def __post_init__(self) -> None:
        if self.name not in OBFUSCATION:
            near = get_close_matches(self.name, OBFUSCATION, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise MidpointError(
                f"there is no protocol {self.name!r}; choose one of {', '.join(OBFUSCATION)}{hint}"
            )
        if not 0 <= self.alpha <= 1:
            raise MidpointError(f"alpha is a probability, not {self.alpha}")
        if self.alpha < 1 and self.name in {"nothing", "full"}:
            raise MidpointError(f"protocol {self.name!r} sends no ratings that alpha could mix in")

    @property
    def statement(self) -> Statement:
        """What it discloses, assumes and guarantees, at alpha = 1."""
        return STATEMENTS[self.name]

    @property
    def scheme(self) -> Scheme:
        """What is done to ratings."""
        return SCHEMES[OBFUSCATION[self.name]]

    def disclose(self, profiles: ItemProfiles) -> Disclosure:
        """Compute l = L(V, p)."""
        told = disclose(profiles, self.scheme.name, estimation=self.estimation, bits=self.bits)
        return disclose_fully(profiles, told) if self.name == "full" else told

    def report(
        self, disclosure: Disclosure, profiles: ItemProfiles, people: Population, coins: Coins
    ) -> Reports:
        """Compute y = Y(r, x0, l) for everyone, with these coins.

        Args:
            disclosure: What `disclose` told.
            profiles: The profiles it was made from; they say in which order items are numbered.
            people: Who rates what how, and what they hide.
            coins: Uniforms of shape (ratings, purposes), or what draws them.
        """
        if self.name == "nothing":
            return silence(people.n_users)
        columns = people.user, people.item, people.value, people.category, people.n_users
        sent = report_all(disclosure, profiles, *columns, rng=coins, alpha=self.alpha)
        if isinstance(disclosure, FullDisclosure):
            return regress_locally(disclosure, profiles, sent, self.estimator)
        return sent

    def estimate(self, profiles: ItemProfiles, reports: Reports) -> Float:
        """Compute x-hat(y, V) for everyone. Shape (users, D)."""
        if reports.profile is not None:
            return reports.profile
        rows = reports.user_offsets, reports.item, reports.value
        return estimate_profiles(profiles, *rows, method=self.estimator)


def protocol(
    name: str,
    *,
    estimation: Estimation = "shrunken",
    bits: int | None = None,
    alpha: float = 1.0,
    estimator: Method = "map",
) -> LearningProtocol:
    """Return a protocol by name; the fields of `LearningProtocol` say what may be chosen."""
    return LearningProtocol(name, estimation, bits, alpha, estimator)


PROTOCOLS: Mapping[str, LearningProtocol] = MappingProxyType(
    {name: LearningProtocol(name) for name in OBFUSCATION}
)
"""All protocols with default settings, by name."""
