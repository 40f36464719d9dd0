"""Many people at once: what goes into a protocol, and what the analyst gets to see of it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles
from midpoint.user import Adjustment, corrections
from midpoint.wire import Disclosure, from_fixed

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Population:
    """Many people's ratings on flat arrays, in the order of their users."""

    user: NDArray[np.integer]
    """Who gave each rating, ascending. Shape (n,)."""
    item: NDArray[np.integer]
    """Its item, by index in the item profiles. Shape (n,)."""
    value: NDArray[np.floating]
    """The rating. Shape (n,)."""
    category: NDArray[np.integer]
    """Each person's category or joint cell. Shape (users,)."""
    ids: NDArray[np.str_] | None = None
    """Names of the people, where a protocol needs them. Shape (users,)."""
    repeated: bool = False
    """Whether their devices toss coins several times under a disclosure. What does not depend on
    coins is then kept until the next disclosure."""
    _kept: list[tuple[Disclosure, Adjustment]] = field(default_factory=list, init=False, repr=False)

    def adjustment(self, disclosure: Disclosure, make: Callable[[], Adjustment]) -> Adjustment:
        """Return what becomes of their ratings under a disclosure, as it was kept or is made."""
        if not self.repeated:
            return make()
        if not self._kept or self._kept[0][0] is not disclosure:
            self._kept[:] = [(disclosure, make())]
        return self._kept[0][1]

    @property
    def n_users(self) -> int:
        """Count the people, those without a rating included."""
        return len(self.category)


@dataclass(frozen=True, eq=False)
class Reports:
    """What the analyst gets to see of many people, in the order of their users."""

    kept: NDArray[np.intp]
    """Which ratings were revealed: indices among those that went in; -1 of one that was made up,
    as other tools do. Shape (n,)."""
    user_offsets: NDArray[np.int64]
    """User i revealed `user_offsets[i]:user_offsets[i + 1]`. Shape (users + 1,)."""
    item: NDArray[np.int32]
    """The revealed items, by index in the item profiles. Shape (n,)."""
    value: Float
    """What they were revealed as. Shape (n,)."""
    profile: Float | None = None
    """What devices estimated themselves, if that is what they send. Shape (users, D)."""


def cells_of(disclosure: Disclosure, people: Iterable[Mapping[str, str]]) -> NDArray[np.intp]:
    """Return the joint cell of people by their categories' names; -1 if it is not known. (n,)."""
    cells = (disclosure.cell(names) for names in people)
    return np.array([-1 if cell is None else cell for cell in cells], dtype=np.intp)


def squared_errors(
    shown: Float, value: NDArray[np.floating], user: NDArray[np.integer], n_users: int
) -> Float:
    """Return the sum of each person's squared errors, of n predictions. Shape (users,).

    The RMSE of all of them is the root of the total over n.
    """
    errors = np.square(shown - value.astype(np.float64))
    return np.bincount(user, errors, n_users).astype(np.float64)


def local_correction(
    disclosure: Disclosure,
    profiles: ItemProfiles,
    item: NDArray[np.integer],
    category: NDArray[np.integer],
    move: NDArray[np.int64],
) -> Float:
    """Return what devices add to the scores they receive, one for each of n scores. Shape (n,).

    Args:
        disclosure: What goes with the scores.
        profiles: The profiles it was made from; they say in which order items are numbered.
        item: The scored items, by index in the item profiles. Shape (n,).
        category: The category of the person who gets the score. Shape (n,).
        move: Her row of `LearningProtocol.moves`. Shape (n, r).
    """
    index = profiles.message_index[item]
    return from_fixed(corrections(disclosure, index, category.astype(np.intp), move))


def local_scores(
    disclosure: Disclosure,
    profiles: ItemProfiles,
    x: Float,
    category: NDArray[np.integer],
    move: NDArray[np.int64],
) -> Callable[[slice], Float]:
    """Return what gives the scores of all items to some people, as their devices show them.

    Args:
        disclosure: What goes with the scores.
        profiles: The item profiles; M items.
        x: What was estimated of each of N people. Shape (N, D).
        category: Their categories. Shape (N,).
        move: Their rows of `LearningProtocol.moves`. Shape (N, r).
    """
    vectors, index = profiles.vectors.astype(np.float64), profiles.message_index

    def scores(some: slice) -> Float:
        whose = category[some].astype(np.intp)
        added = [
            corrections(disclosure, index, k, z) for k, z in zip(whose, move[some], strict=True)
        ]
        return np.asarray(profiles.centre + x[some] @ vectors.T + from_fixed(np.stack(added)))

    return scores
