"""The contract of attackers, with a check for people who write one.

Attackers are fitted to a few hundred simulated people, and tried on others. An attacker that breaks
a clause would make the results of an audit wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, prepare
from midpoint.analyst.fit.choice import RAW
from midpoint.audit.attackers import Attacker, new_attacker, score_people
from midpoint.audit.attackers.auc import auc, chance_deviation
from midpoint.audit.attackers.view import Float, Panel, View
from midpoint.audit.rounds.conversation import People, Version, catalogue, converse
from midpoint.audit.rounds.view import TranscriptView
from midpoint.audit.run.adversaries.judge import nested_scores, only, saying
from midpoint.data import Ratings, hold_out, simulate
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.protocol.contract import PEOPLE, Clauses, require_kept

LEAKY = replace(PEOPLE, name="leaky", users=480, items=30, ratings=7_200, taste_sd=0.3)
"""People whose ratings, and what they rate, give their gender away."""
SEED = 10
"""Seed of the simulation, in which number and level of ratings leak, too, by chance."""
LEAST = 0.6
"""AUC that an attacker reaches on them at least; good ones reach 0.9."""
FEWER = 0.1
"""How much less it may reach among training people, when some of them are left out."""
DOUBT = 3.5
"""Standard errors that an AUC may be away from 0.5 where nothing leaks."""
ROUNDING = 1e-3
"""By what share of their range scores may differ that ought to be the same."""
DRAWS = 2
"""Draws of the coins that adaptive attackers are fitted to."""
ROUNDS, BUDGET, ASKED = 3, 10, 30
"""Rounds, new items in each, and items that may be asked about, where transcripts are read."""

Labels = NDArray[np.int64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Stage:
    """Simulated people: some to learn from, others to try an attacker on."""

    transcripts: bool = False
    """Whether they are asked in several rounds, and seen through whole transcripts."""

    @cached_property
    def people(self) -> tuple[Ratings, Ratings]:
        """A third to learn from, and the others."""
        ratings = simulate(LEAKY, seed=SEED).ratings
        return hold_out(ratings, (np.arange(ratings.n_users) % 3 > 0).astype(np.int64), 1)

    @cached_property
    def labels(self) -> tuple[Labels, Labels]:
        """The gender of each of them."""
        both = (one.feature("gender").codes.astype(np.int64) for one in self.people)
        training, tried = both
        return training, tried

    @cache  # noqa: B019 - there are two stages, which stay
    def learned(self, scheme: str) -> Version:
        """Return what the analyst learned from the former, and what it says under a scheme."""
        training, protocol = self.people[0], LearningProtocol(scheme)
        profiles = Factorizer(dimension=2, iterations=5).fit(training, "gender")
        profiles = prepare(profiles, training, protocol.scheme)
        return Version(profiles, protocol.disclose(profiles))

    @cache  # noqa: B019
    def seen(self, who: int, scheme: str, draw: int) -> View:
        """Show the former (0) or the others (1) under a scheme, in one draw of the coins."""
        ratings, labels, version = self.people[who], self.labels[who], self.learned(scheme)
        coins = np.random.default_rng([who, draw])
        panel = Panel(lambda: [self.seen(0, scheme, draw)], self.labels[0])
        if self.transcripts:
            items = catalogue(version.profiles, ASKED)
            asked = People.of(ratings, items, labels.astype(np.intp), ROUNDS, seed=who)
            said = converse(asked, [version] * ROUNDS, budget=BUDGET, coins=coins)
            return TranscriptView.of(said, version, ratings.scale, panel)
        people = Population(ratings.user, ratings.item, ratings.value, labels)
        sent = LearningProtocol(scheme).report(version.disclosure, version.profiles, people, coins)
        return View(sent, version.profiles, version.disclosure, ratings.scale, panel=panel)


REPORTS, TRANSCRIPTS = Stage(), Stage(transcripts=True)


@dataclass(frozen=True, eq=False)
class Trial:
    """One attacker before the contract."""

    make: Callable[[], Attacker]
    """Makes a new attacker."""
    stage: Stage
    """The people that it is fitted to and tried on."""
    least: float
    """The AUC that it has to reach on what leaks."""

    @cached_property
    def tried(self) -> View:
        """The others, under the scheme that it says it succeeds on."""
        return self.stage.seen(1, getattr(self.make(), "control", RAW), 0)

    @cached_property
    def honest(self) -> Attacker:
        """It, fitted to the truth."""
        return self.fitted(self.stage.labels[0])

    @cached_property
    def scores(self) -> Float:
        """What it makes of the others then."""
        return self.score(self.honest, self.tried)

    @cached_property
    def training(self) -> list[View]:
        """The former, as it learns from them."""
        attacker = self.make()
        scheme = getattr(attacker, "control", RAW) if attacker.adaptive else RAW
        draws = range(DRAWS if attacker.adaptive else 1)
        return [self.stage.seen(0, scheme, draw) for draw in draws]

    def fitted(self, labels: Labels) -> Attacker:
        """Make one, and fit it to these labels."""
        attacker = new_attacker(self.make, 1)
        attacker.fit(self.training, labels, seed=0)
        return attacker

    def nested(self, labels: Labels) -> float:
        """Return the AUC of what it says of training people that it was not fitted to."""
        attacker = self.fitted(labels)
        nested = nested_scores(attacker, self.make, self.training, labels, seed=0, wanted=1)
        return auc(nested.scores, labels[nested.people])

    @staticmethod
    def score(attacker: Attacker, view: View) -> Float:
        """Have it score people; the form of the answer is part of the contract."""
        return score_people(attacker, _name(attacker), view)


def finds_what_leaks(trial: Trial) -> str | None:
    """Succeed on its control: raw ratings, or those of the scheme that it names."""
    area = auc(trial.scores, trial.stage.labels[1])
    return None if area >= trial.least else f"AUC {area:.3f}, and {trial.least:g} is the least"


def is_at_chance_where_nothing_leaks(trial: Trial) -> str | None:
    """Sit at chance where labels are dealt out at random; by index they are the same again."""
    dealt = np.random.default_rng(11).permutation(trial.stage.labels[0])
    labels = np.resize(dealt, len(trial.stage.labels[1]))
    area = auc(trial.score(trial.fitted(dealt), trial.tried), labels)
    most = DOUBT * chance_deviation(labels)
    return None if abs(area - 0.5) <= most else f"AUC {area:.3f}, beyond 0.5 ± {most:.3f}"


def follows_the_labels(trial: Trial) -> str | None:
    """Flip its sign where the labels are flipped."""
    flipped = trial.fitted(1 - trial.stage.labels[0])
    area = auc(trial.score(flipped, trial.tried), 1 - trial.stage.labels[1])
    return None if area >= trial.least else f"AUC {area:.3f} with labels flipped"


def repeats_itself(trial: Trial) -> str | None:
    """Give equal scores for equal seeds."""
    again = trial.score(trial.fitted(trial.stage.labels[0]), trial.tried)
    apart = float(np.abs(again - trial.scores).max())
    return None if apart == 0 else f"scores of one seed are up to {apart:g} apart"


def scores_silent_people_alike(trial: Trial) -> str | None:
    """Know nothing of people who said nothing, be they few or all."""
    n_people = trial.tried.n_users
    for quiet in (np.array([0, 3, n_people - 1]), np.arange(n_people)):
        scores = trial.score(trial.honest, silenced(trial.tried, quiet))[quiet]
        if np.ptp(scores) > _rounding(trial):
            return f"{len(quiet)} of {n_people} said nothing, and are {np.ptp(scores):g} apart"
    return None


def scores_each_alone(trial: Trial) -> str | None:
    """Score a person alike, no matter who else is tried."""
    some = np.array([5, 6, 40, 41, 100])
    alone = trial.score(trial.honest, only(trial.tried, some))
    apart = float(np.abs(alone - trial.scores[some]).max())
    return None if apart <= _rounding(trial) else f"five people alone score up to {apart:g} apart"


def learns_from_outsiders(trial: Trial) -> str | None:
    """Succeed on its control where it is fitted to people whom the analyst never learned from, too.

    They are outside the panel, and say what they say under the published disclosure. A clean
    attacker has no use for them.
    """
    attacker = new_attacker(trial.make, 1)
    if not attacker.adaptive:
        return None
    scheme, labels = getattr(attacker, "control", RAW), trial.stage.labels[1]
    outsiders, others = (np.arange(start, len(labels), 2) for start in (0, 1))
    views = [only(trial.stage.seen(1, scheme, draw), outsiders) for draw in range(DRAWS)]
    attacker.fit(views, labels[outsiders], seed=0)
    area = auc(trial.score(attacker, only(trial.tried, others)), labels[others])
    return None if area >= trial.least else f"AUC {area:.3f}, and {trial.least:g} is the least"


def can_be_stacked(trial: Trial) -> str | None:
    """Say of training people whom it was not fitted to what it says of others.

    The weights of a stack are learned from that. An attacker that scores people there by
    their own labels would be trusted for what it cannot do elsewhere.
    """
    labels = trial.stage.labels[0]
    least = trial.least - FEWER
    if (area := trial.nested(labels)) < least:
        return f"AUC {area:.3f} among people left out, and {least:g} is the least"
    dealt = np.random.default_rng(11).permutation(labels)
    # Those who are left out in turn are what the others' models learned from: twice the variance.
    area, most = trial.nested(dealt), 2**0.5 * DOUBT * chance_deviation(labels)
    if area - 0.5 > most:
        return f"AUC {area:.3f} of labels dealt out at random, beyond 0.5 + {most:.3f}"
    return None


CLAUSES: Clauses[Trial] = MappingProxyType(
    {
        "it finds what leaks": finds_what_leaks,
        "it is at chance where nothing leaks": is_at_chance_where_nothing_leaks,
        "its sign follows the labels": follows_the_labels,
        "it learns from people outside the panel": learns_from_outsiders,
        "equal seeds give equal scores": repeats_itself,
        "silent people are scored alike": scores_silent_people_alike,
        "a score does not depend on who else is tried": scores_each_alone,
        "it can be stacked with others": can_be_stacked,
    }
)
"""What every attacker promises."""


def check_attacker(
    make: Callable[[], Attacker], *, transcripts: bool = False, least: float = LEAST
) -> None:
    """See that an attacker keeps the contract, or raise an error that names the clause it breaks.

    Args:
        make: Its class, or a function that makes one.
        transcripts: Whether it reads transcripts of several rounds.
        least: The AUC that it has to reach on its control, where strong attackers reach 0.9.
    """
    trial = Trial(make, TRANSCRIPTS if transcripts else REPORTS, least)
    require_kept(CLAUSES, trial, f"attacker {_name(make())!r}")


def silenced(view: View, people: Indices) -> View:
    """Have these people say nothing; of transcripts, as if they were never asked."""
    if isinstance(view, TranscriptView):
        asked, value = view.transcript.asked.copy(), view.transcript.value.copy()
        asked[:, people], value[:, people] = False, np.nan
        return saying(view, replace(view.transcript, asked=asked, value=value))
    quiet = np.isin(view.user, people)
    old, counts = view.reports, np.where(np.isin(np.arange(view.n_users), people), 0, view.counts)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    reports = Reports(old.kept[~quiet], offsets, old.item[~quiet], old.value[~quiet])
    return replace(view, reports=reports)


def _rounding(trial: Trial) -> float:
    return ROUNDING * float(np.ptp(trial.scores))


def _name(attacker: Attacker) -> str:
    return str(getattr(attacker, "name", type(attacker).__name__))
