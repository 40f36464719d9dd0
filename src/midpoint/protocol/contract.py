"""The contract of learning protocols, with a check for people who subclass one.

Protocols are run on a few hundred simulated people. One that breaks a clause would make an audit, a
simulation or a batch report something that no device does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, ItemProfiles, prepare
from midpoint.data import Ratings, Scale, SimulationConfig, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError
from midpoint.protocol.learning import Coins, LearningProtocol
from midpoint.protocol.population import Float, Population, Reports
from midpoint.user import PURPOSES, Parameters, check_numbers
from midpoint.wire import SCHEMES, Disclosure, RefusedError

PEOPLE = SimulationConfig(
    name="contract",
    users=240,
    items=24,
    ratings=2_900,
    features=(SimulatedFeature("gender", ("F", "M"), bias_sd=0.6, selection_sd=0.8),),
    dimension=2,
    scale=Scale.stars(1, 5),
    taste_sd=0.5,
    noise_sd=0.7,
)
"""People who differ by gender in what they rate, and how."""
SEED = 3
SILENT = 2
"""People who rated nothing; they come last."""
WATCHED = 7
"""The person whose report must not depend on the others."""


T = TypeVar("T")
Clauses = Mapping[str, Callable[[T], str | None]]
"""What is promised, in words, and what says of a trial what is wrong, or nothing."""


def require_kept(clauses: Clauses[T], trial: T, who: str) -> None:
    """Raise an error that names the first clause that a trial breaks."""
    for clause, broken in clauses.items():
        if wrong := broken(trial):
            raise MidpointError(f"{who} breaks the contract, {clause}: {wrong}")


@cache
def _ratings() -> Ratings:
    return simulate(PEOPLE, seed=SEED).ratings


@cache
def _profiles(scheme: str) -> ItemProfiles:
    """Return what an analyst learns from them, prepared for a scheme."""
    profiles = Factorizer(dimension=2, iterations=5).fit(_ratings(), "gender")
    return prepare(profiles, _ratings(), SCHEMES[scheme])


@cache
def _people() -> Population:
    ratings = _ratings()
    category = np.append(ratings.feature("gender").codes, np.zeros(SILENT)).astype(np.int64)
    return Population(ratings.user, ratings.item, ratings.value.astype(np.float64), category)


@dataclass(frozen=True, eq=False)
class Trial:
    """One protocol before the contract."""

    protocol: LearningProtocol
    """It."""

    @property
    def profiles(self) -> ItemProfiles:
        """What the analyst learned."""
        return _profiles(self.protocol.scheme.name)

    @property
    def people(self) -> Population:
        """Whose devices report."""
        return _people()

    @cached_property
    def disclosure(self) -> Disclosure:
        """What it discloses."""
        return self.protocol.disclose(self.profiles)

    @cached_property
    def reports(self) -> Reports:
        """What it reports with the coins of one seed."""
        return self.report(self.people, np.random.default_rng(SEED))

    def report(self, people: Population, coins: Coins) -> Reports:
        """Report about these people."""
        return self.protocol.report(self.disclosure, self.profiles, people, coins)

    def moves(self) -> NDArray[np.int64]:
        """Return how it moves taste factors, with the same coins."""
        coins = np.random.default_rng(SEED)
        sent = self.reports
        return self.protocol.moves(self.disclosure, self.profiles, self.people, coins, sent)


def discloses_what_devices_accept(trial: Trial) -> str | None:
    """Disclose a message about the items, in their order, that passes a device's checks."""
    disclosure: object = trial.disclosure  # a subclass may return anything
    profiles = trial.profiles
    if not isinstance(disclosure, Disclosure):
        return f"{type(disclosure).__name__} is no disclosure"
    if disclosure.items != tuple(profiles.item_ids[profiles.order].tolist()):
        return "its items are not those of the profiles, in the order of messages"
    try:
        check_numbers(disclosure)
    except RefusedError as refused:
        return str(refused)
    again = trial.protocol.disclose(profiles)
    return None if again == disclosure else "the same profiles are disclosed differently"


def sends_only_what_was_given(trial: Trial) -> str | None:
    """Send some of the given ratings, in their order, each with its item and person."""
    sent, people, n = trial.reports, trial.people, trial.people.n_users
    if len(sent.kept) and (np.diff(sent.kept) <= 0).any():
        return "what is kept does not ascend, or comes twice"
    if len(sent.kept) and not 0 <= sent.kept[0] <= sent.kept[-1] < len(people.item):
        return "something is kept that was not given"
    if not np.array_equal(sent.item, people.item[sent.kept]):
        return "items are not those that were kept"
    counts = np.bincount(people.user[sent.kept], minlength=n)
    if sent.user_offsets.shape != (n + 1,) or not np.array_equal(
        np.diff(sent.user_offsets), counts
    ):
        return "the offsets are not those of the people"
    if sent.value.shape != sent.kept.shape or not np.isfinite(sent.value).all():
        return "there is not one finite value for each rating that is kept"
    return None if sent.profile is None else _wrong_profiles(sent.profile, trial)


def repeats_itself(trial: Trial) -> str | None:
    """Report the same with the same coins."""
    again = trial.report(trial.people, np.random.default_rng(SEED))
    return None if _same(again, trial.reports) else "the same coins give another report"


def reports_each_alone(trial: Trial) -> str | None:
    """Report of a person whatever others rate, are, and toss.

    A protocol that draws more than one row of coins for a rating refuses given ones.
    """
    people, rng = trial.people, np.random.default_rng(SEED + 1)
    other = people.user != WATCHED
    value = np.where(other, rng.permutation(people.value), people.value)
    category = np.where(np.arange(people.n_users) == WATCHED, people.category, 1 - people.category)
    changed = replace(people, value=value, category=category)
    mixed = trial.report(changed, np.random.default_rng(SEED))
    if not _same(_of(mixed, WATCHED), _of(trial.reports, WATCHED)):
        return "her report depends on what others rate, or are"
    coins = rng.random((len(people.item), len(PURPOSES)))
    tossed = np.where(other[:, None], rng.random(coins.shape), coins)
    try:
        first, second = (_of(trial.report(people, given), WATCHED) for given in (coins, tossed))
    except MidpointError:
        return None
    return None if _same(first, second) else "her report depends on what others toss"


def refuses_unknown_categories(trial: Trial) -> str | None:
    """Refuse people whose category is not known, unless it asks nobody's."""
    people = trial.people
    for unknown in (-1, trial.disclosure.n_cells):
        category = people.category.copy()
        category[WATCHED] = unknown
        strange = replace(people, category=category)
        try:
            sent = trial.report(strange, np.random.default_rng(SEED))
        except MidpointError:
            continue
        flipped = replace(people, category=1 - people.category)
        blind = _same(trial.report(flipped, np.random.default_rng(SEED)), trial.reports)
        if not (blind and _same(sent, trial.reports)):
            return f"somebody of category {unknown} is reported as if it were known"
    return None


def estimates_everyone(trial: Trial) -> str | None:
    """Estimate a finite profile for everyone, the same for all who sent nothing."""
    protocol = trial.protocol
    for disclosure in (None, trial.disclosure):
        estimate = protocol.estimate(trial.profiles, trial.reports, disclosure)
        if wrong := _wrong_profiles(estimate, trial):
            return wrong
        if np.ptp(estimate[-SILENT:], axis=0).any():
            return "people who sent nothing are estimated differently"
    return None


def moves_by_whole_numbers(trial: Trial) -> str | None:
    """Move everyone by integers, of as many taste factors as are disclosed; the silent by none."""
    move, positions = trial.moves(), Parameters.of(trial.disclosure).positions
    wanted = trial.people.n_users, 0 if positions is None else positions.moved
    if move.shape != wanted or move.dtype != np.int64:
        return f"moves are {move.dtype} {move.shape}, not int64 {wanted}"
    if move[-SILENT:].any():
        return "people who rated nothing are moved"
    return None if np.array_equal(move, trial.moves()) else "the same coins give another move"


CLAUSES: Clauses[Trial] = MappingProxyType(
    {
        "it discloses what devices accept": discloses_what_devices_accept,
        "it sends only what was given": sends_only_what_was_given,
        "equal coins give equal reports": repeats_itself,
        "a report does not depend on others": reports_each_alone,
        "nobody of unknown category is reported": refuses_unknown_categories,
        "everyone is estimated": estimates_everyone,
        "moves are whole numbers": moves_by_whole_numbers,
    }
)
"""What every protocol promises."""


def check_protocol(protocol: LearningProtocol) -> None:
    """See that a protocol keeps the contract, or raise an error that names the clause it breaks."""
    name = f"{type(protocol).__name__}({protocol.name!r})"
    require_kept(CLAUSES, Trial(protocol), f"protocol {name}")


def _wrong_profiles(estimate: Float, trial: Trial) -> str | None:
    wanted = trial.people.n_users, trial.profiles.vectors.shape[1]
    if estimate.shape != wanted:
        return f"profiles have shape {estimate.shape}, not {wanted}"
    return None if np.isfinite(estimate).all() else "a profile is not finite"


def _of(reports: Reports, person: int) -> Reports:
    """Keep one person's."""
    part = slice(*reports.user_offsets[person : person + 2].tolist())
    return Reports(
        kept=reports.kept[part],
        user_offsets=reports.user_offsets[person : person + 2] - reports.user_offsets[person],
        item=reports.item[part],
        value=reports.value[part],
        profile=None if reports.profile is None else reports.profile[person : person + 1],
    )


def _same(first: Reports, second: Reports) -> bool:
    profiles = (sent.profile for sent in (first, second))
    pairs = [(getattr(first, f), getattr(second, f)) for f in ("kept", "user_offsets", "value")]
    estimates = [np.zeros(0) if profile is None else profile for profile in profiles]
    return all(np.array_equal(a, b) for a, b in [*pairs, tuple(estimates)])
