"""Learning protocols by name: R = (L, Y, x-hat), disclosure, obfuscation and estimator."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles, Scorer, estimate_profiles
from midpoint.analyst.categories.estimates import Estimation
from midpoint.analyst.disclose.disclosure import disclose
from midpoint.analyst.fit.fold_in import Method
from midpoint.errors import MidpointError
from midpoint.protocol.full import FullDisclosure, disclose_fully, regress_locally, silence
from midpoint.protocol.population import Float, Population, Reports
from midpoint.protocol.statement import STATEMENTS, Statement
from midpoint.user import PURPOSES, Adjustment, Parameters, adjustments, obfuscate
from midpoint.wire import SCHEMES, Disclosure, Scheme, ValueMap, from_fixed, to_fixed

Coins = np.random.Generator | Float
"""Uniforms of shape (ratings, purposes), or what draws them."""
BLIND = (ValueMap.AS_IS, ValueMap.ITEM_AVERAGE, ValueMap.FEATURE_AVERAGE)
"""Maps of values that do not ask for the category."""

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
        """What it discloses, assumes and guarantees on its scale at alpha = 1; see `state`."""
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
        sent = _obfuscated(disclosure, profiles, people, coins, self.alpha)
        if isinstance(disclosure, FullDisclosure):
            return regress_locally(disclosure, profiles, sent, self.estimator)
        return sent

    def moves(
        self, disclosure: Disclosure, profiles: ItemProfiles, people: Population, coins: Coins
    ) -> NDArray[np.int64] | None:
        """Return how devices move their users' tastes, in 1/256, and take it off the scores again.

        The coins are those of the report, for protocols in which they decide what is given. None
        under a scheme without counterparts. Shape (users, r).
        """
        del coins
        own = _own(Parameters.of(disclosure), profiles, people)
        return None if own is None else np.rint(self.alpha * own.move).astype(np.int64)

    def estimate(
        self, profiles: ItemProfiles, reports: Reports, disclosure: Disclosure | None = None
    ) -> Float:
        """Compute x-hat(y, V) for everyone. Shape (users, D).

        Given what was disclosed, "map" trusts each item's ratings as far as the coins left them.
        """
        if reports.profile is not None:
            return reports.profile
        rows = reports.user_offsets, reports.item, reports.value
        if disclosure is None:
            return estimate_profiles(profiles, *rows, method=self.estimator)
        scorer = Scorer(profiles, disclosure, estimator=self.estimator, alpha=self.alpha)
        return scorer.profiles(*rows)


PROTOCOLS: Mapping[str, LearningProtocol] = MappingProxyType(
    {name: LearningProtocol(name) for name in OBFUSCATION}
)
"""All protocols with default settings, by name."""


def _obfuscated(
    disclosure: Disclosure, profiles: ItemProfiles, people: Population, coins: Coins, alpha: float
) -> Reports:
    """Obfuscate everyone's ratings as their devices would."""
    cell = np.asarray(people.category)[people.user].astype(np.intp)
    _require_categories(cell, disclosure)
    shape = len(people.item), len(PURPOSES)
    uniform = coins if isinstance(coins, np.ndarray) else coins.random(shape)
    place, value = profiles.message_index[people.item], to_fixed(people.value)
    parameters = Parameters.of(disclosure)
    own = _own(parameters, profiles, people)
    done = obfuscate(place, value, cell, parameters, uniform, alpha, own)
    kept = np.flatnonzero(done.keep)
    offsets = _offsets(people.user[kept], people.n_users)
    item = people.item[kept].astype(np.int32)
    return Reports(kept, offsets, item, from_fixed(done.value[kept]))


def _own(parameters: Parameters, profiles: ItemProfiles, people: Population) -> Adjustment | None:
    """Find everyone's counterparts; each was asked about all items."""
    starts = _offsets(people.user, people.n_users)
    place, value = profiles.message_index[people.item], to_fixed(people.value)
    return adjustments(parameters, starts, place, value, people.category.astype(np.intp))


def _offsets(user: NDArray[np.integer], n_users: int) -> NDArray[np.int64]:
    """Return where each person's entries begin and end. Shape (users + 1,)."""
    offsets = np.zeros(n_users + 1, dtype=np.int64)
    np.cumsum(np.bincount(user, minlength=n_users), out=offsets[1:])
    return offsets


def _require_categories(cell: NDArray[np.intp], disclosure: Disclosure) -> None:
    """Refuse people of unknown category: an index of -1 would make them the last one's."""
    scheme = disclosure.obfuscation
    if scheme.value_map in BLIND and not scheme.sub_samples:
        return
    wrong = (cell < 0) | (cell >= disclosure.n_cells)
    if wrong.any():
        raise MidpointError(
            f"{int(wrong.sum())} ratings are of people whose category is not known;"
            " leave those people out"
        )
