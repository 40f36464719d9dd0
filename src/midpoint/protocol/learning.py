"""Learning protocols by name: R = (L, Y, x-hat), disclosure, obfuscation and estimator."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles, Scorer, estimate_profiles, predict
from midpoint.analyst.categories.estimates import Estimation
from midpoint.analyst.disclose.disclosure import disclose
from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.analyst.fit.fold_in import Method
from midpoint.errors import MidpointError
from midpoint.protocol.full import FullDisclosure, disclose_fully, regress_locally, silence
from midpoint.protocol.obfuscation import obfuscate_population
from midpoint.protocol.population import Float, Population, Reports, local_correction
from midpoint.protocol.positions import adjust_population, taste_moves
from midpoint.protocol.statement import STATEMENTS, Statement
from midpoint.user import PURPOSES, Adjustment, Parameters
from midpoint.wire import SCHEMES, Disclosure, Scheme, from_fixed, to_fixed

Coins = np.random.Generator | Float
"""Uniforms of shape (ratings, purposes), or what draws them."""
OBFUSCATION = MappingProxyType({"nothing": "no", "full": "mp"} | {name: name for name in SCHEMES})
"""What is done to ratings under each protocol; nothing, full and no are those of Sec. 4.1."""


@dataclass(frozen=True)
class LearningProtocol:
    """A protocol R = (L, Y, x-hat) between an analyst and many users (Sec. 4.2, Figure 2)."""

    name: str
    """Name of a scheme, or of a non-solution: nothing, full."""
    estimation: Estimation = "shrunken"
    """How the analyst estimates what it discloses: "plain" is the paper's."""
    bits: int | None = None
    """Bits for each disclosed number; all 16 unless given."""
    alpha: float = 1.0
    """Share of ratings that are obfuscated at all (Sec. 7.2)."""
    estimator: Method = "map"
    """How the analyst estimates profiles: "least-squares" is the paper's."""
    leak: float | None = None
    """Leak budget as an AUC, under a scheme that withholds; the model's own unless given."""
    levels: int | None = None
    """Levels that devices report on, if fewer than the scale has."""
    spread: bool = False
    """Whether devices carry the spread of residuals to their counterparts', too."""
    keep: float | None = None
    """With what probability devices go on to reveal a rating, whatever item and category."""
    shift: bool = True
    """Whether values shift to the counterparts'; if not, taste factors only correct scores."""

    def __post_init__(self) -> None:
        if self.name not in OBFUSCATION:
            near = get_close_matches(self.name, OBFUSCATION, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise MidpointError(
                f"there is no scheme {self.name!r}; choose one of {', '.join(OBFUSCATION)}{hint}"
            )
        _ = self.spec  # refuses what the scheme cannot vary
        if not 0 <= self.alpha <= 1:
            raise MidpointError(f"alpha is a probability, not {self.alpha}")
        if self.alpha < 1 and self.name in {"nothing", "full"}:
            raise MidpointError(f"protocol {self.name!r} sends no ratings that alpha could mix in")

    @classmethod
    def of_spec(cls, spec: SchemeSpec, bits: int | None = None) -> Self:
        """Return the protocol of what is disclosed."""
        settings = {name: getattr(spec, name) for name in ("levels", "spread", "keep", "shift")}
        return cls(spec.name, bits=bits, leak=spec.leak, **settings)

    @property
    def statement(self) -> Statement:
        """What it discloses, assumes and guarantees on its scale at alpha = 1; see `state`."""
        return STATEMENTS[self.name]

    @property
    def scheme(self) -> Scheme:
        """What is done to ratings."""
        return SCHEMES[OBFUSCATION[self.name]]

    @property
    def spec(self) -> SchemeSpec:
        """What is disclosed, as the analyst names it; unknown settings of a scheme are refused."""
        return SchemeSpec(
            self.scheme.name, self.levels, self.spread, keep=self.keep, shift=self.shift
        )

    def disclose(self, profiles: ItemProfiles) -> Disclosure:
        """Compute l = L(V, p)."""
        disclosure = disclose(
            profiles,
            str(self.spec),
            estimation=self.estimation,
            bits=self.bits,
            leak=self.leak,
        )
        return disclose_fully(profiles, disclosure) if self.name == "full" else disclosure

    def report(
        self, disclosure: Disclosure, profiles: ItemProfiles, people: Population, coins: Coins
    ) -> Reports:
        """Compute y = Y(r, x0, l) for everyone, with these coins.

        Args:
            disclosure: What `disclose` returned.
            profiles: The profiles it was made from; they say in which order items are numbered.
            people: Who rates what how, and what they hide.
            coins: Uniforms of shape (ratings, purposes), or what draws them.
        """
        if self.name == "nothing":
            return silence(people.n_users)
        sent = self._obfuscated(disclosure, profiles, people, coins)
        if isinstance(disclosure, FullDisclosure):
            return regress_locally(disclosure, profiles, sent, self.estimator)
        return sent

    def moves(
        self,
        disclosure: Disclosure,
        profiles: ItemProfiles,
        people: Population,
        coins: Coins,
        sent: Reports,
    ) -> NDArray[np.int64]:
        """Return how far what devices sent is from their users' tastes, in 1/256.

        Devices take it off the scores. Of sets these are their positions, by which they add to the
        scores. The coins are those of the report, for protocols in which they decide what is given.
        Without counterparts r = 0. Shape (users, r).
        """
        del coins
        if disclosure.prior is None or disclosure.scale.is_unary:
            return _adjustment(disclosure, profiles, people).move
        starts, item, value = _by_person(profiles, people)
        answers = profiles.message_index[sent.item], to_fixed(sent.value)
        return taste_moves(
            disclosure, people.category, starts, (item, value), sent.user_offsets, answers
        )

    def predictions(
        self,
        disclosure: Disclosure,
        profiles: ItemProfiles,
        people: Population,
        coins: Coins,
        sent: Reports,
        x: Float,
        user: NDArray[np.integer],
        item: NDArray[np.integer],
    ) -> Float:
        """Return what devices show of n items: the analyst's scores after their correction. (n,).

        Args:
            disclosure: What goes with the scores.
            profiles: The profiles it was made from.
            people: What was given to the devices.
            coins: Those of the report.
            sent: The report.
            x: Everyone's profile, as the analyst estimates it. Shape (users, D).
            user: Whose device shows the item. Shape (n,).
            item: The item, by index in the item profiles. Shape (n,).
        """
        move = self.moves(disclosure, profiles, people, coins, sent)[user]
        offset = local_correction(disclosure, profiles, item, people.category[user], move)
        return predict(profiles, x, user, item, offset)

    def estimate(
        self, profiles: ItemProfiles, reports: Reports, disclosure: Disclosure | None = None
    ) -> Float:
        """Compute x-hat(y, V) for everyone. Shape (users, D).

        Given what was disclosed, "map" weighs each item's ratings by how far coins left them.
        """
        if reports.profile is not None:
            return reports.profile
        rows = reports.user_offsets, reports.item, reports.value
        if disclosure is None:
            return estimate_profiles(profiles, *rows, method=self.estimator)
        scorer = Scorer(profiles, disclosure, estimator=self.estimator, alpha=self.alpha)
        return scorer.profiles(*rows)

    def _obfuscated(
        self, disclosure: Disclosure, profiles: ItemProfiles, people: Population, coins: Coins
    ) -> Reports:
        shape = len(people.item), len(PURPOSES)
        uniform = coins if isinstance(coins, np.ndarray) else coins.random(shape)
        ratings, parameters = _by_person(profiles, people), Parameters.of(disclosure)
        adjustment = _adjustment(disclosure, profiles, people) if people.repeated else None
        rated = *ratings, people.category, parameters, uniform, self.alpha
        done = obfuscate_population(*rated, adjustment=adjustment)
        kept = np.flatnonzero(done.keep)
        offsets = _offsets(people.user[kept], people.n_users)
        item = people.item[kept].astype(np.int32)
        return Reports(kept, offsets, item, from_fixed(done.value[kept]))


PROTOCOLS: Mapping[str, LearningProtocol] = MappingProxyType(
    {name: LearningProtocol(name) for name in OBFUSCATION}
)
"""All protocols with default settings, by name."""


def _adjustment(disclosure: Disclosure, profiles: ItemProfiles, people: Population) -> Adjustment:
    """Return what becomes of everyone's ratings."""
    return people.adjustment(
        disclosure,
        lambda: adjust_population(
            Parameters.of(disclosure), *_by_person(profiles, people), people.category
        ),
    )


def _by_person(
    profiles: ItemProfiles, people: Population
) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.int64]]:
    """Return starts, items by index in the disclosure, and values in fixed point."""
    starts = _offsets(people.user, people.n_users)
    return starts, profiles.message_index[people.item], to_fixed(people.value)


def _offsets(user: NDArray[np.integer], n_users: int) -> NDArray[np.int64]:
    """Return where each person's entries begin and end. Shape (users + 1,)."""
    offsets = np.zeros(n_users + 1, dtype=np.int64)
    np.cumsum(np.bincount(user, minlength=n_users), out=offsets[1:])
    return offsets
