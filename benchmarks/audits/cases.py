"""The cases of full audits: data, feature, schemes, attackers, and what each has to show.

Cases whose names end in -curves or -rounds add what `midpoint audit --curves` and `--rounds` add;
those that end in -quick are `midpoint audit --quick`; those with outsiders in their names measure
against them, most over several sizes of the panel.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.audits.bars import (
    Bar,
    Clock,
    as_in_the_paper,
    chosen,
    counterparts,
    dense_schemes,
    lists_of_sets,
    real_attackers,
    sparse_schemes,
    time_alone,
    times,
)
from midpoint.audit import AuditResults
from midpoint.audit.pipeline import FOLDS, QUICK_FOLDS
from midpoint.audit.report.paper import PAPER, PAPER_DATA
from midpoint.data import Ratings, Scale, SimulationConfig, as_sets, in_levels, load, simulate
from midpoint.data.simulation import SimulatedFeature

Judge = Callable[[AuditResults], Iterator[Bar]]


def own_tables(source: str) -> Ratings | None:
    """Read a data set that comes as tables of ratings and of people, if it is one."""
    if source != "sushi":
        return None
    directory = Path(os.environ.get("MIDPOINT_DATA", ".")) / "sushi3"
    tables = directory / "ratings.csv", directory / "people.csv"
    return load(tables[0], users=tables[1], scale=Scale.stars(0, 4))


class Case(NamedTuple):
    """One audit."""

    source: str
    """Name of the data."""
    feature: str
    """The private feature."""
    judges: tuple[Judge, ...] = ()
    """What it has to show."""
    schemes: tuple[str, ...] | None = None
    """All unless given."""
    attacks: tuple[str, ...] | None = None
    """All unless given."""
    curves: tuple[str, ...] = ()
    """What is varied."""
    rounds: int = 0
    """How often everyone is asked as well."""
    clock: Clock | None = None
    """How long it may take."""
    quick: bool = False
    """Whether it is as short as `--quick` makes it."""
    levels: int | None = None
    """Levels that ratings are brought to."""
    liked: float | None = None
    """From which rating on an item is in a person's set, where ratings become sets."""
    paper: bool = False
    """Whether it is the paper's own experiment, as `--paper` makes it."""
    adversaries: tuple[str, ...] | None = None
    """Whom it is measured against; as the command does unless given."""
    panels: tuple[float | None, ...] = (None,)
    """Sizes of the panel where outsiders are kept apart, the main one last."""
    outsiders: tuple[float | None, ...] = (None,)
    """Numbers of outsiders, likewise."""
    panel_alone: bool = False
    """Whether several panels are audited without everyone else's reports only."""
    given: float | None = None
    """Share of their ratings that people give."""
    usual_folds: int | None = None
    """Folds unless asked otherwise."""

    def ratings(self) -> Ratings:
        """Load the data."""
        if self.source in SIMULATED:
            return simulate(SIMULATED[self.source], seed=1).ratings
        ratings = own_tables(self.source) or load(self.source)
        if self.liked is not None:
            return as_sets(ratings, self.liked)
        return ratings if self.levels is None else in_levels(ratings, self.levels)

    @property
    def folds(self) -> int:
        """How many folds it has unless given."""
        return self.usual_folds or (QUICK_FOLDS if self.quick else FOLDS)


FEW = ("lse", "lr", "adaptive-lr-items", "adaptive-lr-profile")
"""Strong attackers that take little time."""
MORE = ("paper", "adaptive-lr-items", "adaptive-lr-profile", "adaptive-trees-profile", "likelihood")
PRIVATE = ("mpssr", "dmp", "dmpss", "cmp", "cmpss")
"""Schemes that claim privacy on whole stars."""
LIGHT = (
    "adaptive-lr-mask",
    "adaptive-lr-items",
    "adaptive-lr-profile",
    "adaptive-mlp-profile",
    "adaptive-lr-panel",
)
"""Attackers that learn from outsiders, and take little time."""
OF_SETS = (
    *("adaptive-lr-mask", "adaptive-lr-profile", "adaptive-lr-panel"),
    "adaptive-trees-profile",
)
"""The strongest attackers of sets, the slowest last."""
SIMULATED = {
    "simulated-crowd": SimulationConfig(
        name="simulated-crowd",
        users=200_000,
        items=500,
        ratings=8_000_000,
        features=(SimulatedFeature("gender", ("F", "M"), bias_sd=0.2, selection_sd=0.4),),
        dimension=4,
        scale=Scale.stars(1, 5),
    )
}
"""People who are made up, more than any data have."""
CASES = {
    "ml-1m-gender": Case(
        "movielens-1m",
        "gender",
        (real_attackers, sparse_schemes, counterparts, times),
        clock=Clock("all attackers", 60),
    ),
    "ml-1m-gender-paper": Case(
        "movielens-1m",
        "gender",
        (real_attackers, sparse_schemes, time_alone),
        schemes=tuple(PAPER["movielens-1m", "gender"]),
        attacks=("paper", "fraction"),
        clock=Clock("the paper's attackers alone", 10),
    ),
    "ml-1m-age": Case("movielens-1m", "age", (sparse_schemes, counterparts)),
    "ml-100k-gender": Case("movielens-100k", "gender", (sparse_schemes, counterparts)),
    "ml-100k-gender-quick": Case(
        "movielens-100k", "gender", clock=Clock("a quick audit", 0.75), quick=True
    ),
    "ml-100k-age": Case("movielens-100k", "age", (sparse_schemes, counterparts)),
    "anes-tv-gender": Case("anes-tv", "gender", (dense_schemes, counterparts)),
    "anes-tv-party": Case("anes-tv", "party", (dense_schemes, counterparts)),
    "anes-thermometers-gender": Case("anes-thermometers", "gender", (dense_schemes, counterparts)),
    "anes-thermometers-party": Case(
        "anes-thermometers-nonpartisan", "party", (dense_schemes, counterparts)
    ),
    # The same people on fewer levels, since 101 cannot be protected.
    **{
        f"anes-thermometers-gender-{levels}-levels": Case(
            "anes-thermometers", "gender", (dense_schemes, counterparts), levels=levels
        )
        for levels in (5, 11, 21)
    },
    "young-people-gender": Case("young-people", "gender", (dense_schemes, counterparts)),
    # The paper's Sec. 7 to the letter.
    **{
        f"{name}-section-7": Case(
            source,
            feature,
            (as_in_the_paper,) if source in PAPER_DATA else (),
            clock=clock,
            paper=True,
        )
        for name, source, feature, clock in (
            ("ml-1m-gender", "movielens-1m", "gender", Clock("the paper's experiment", 10)),
            ("ml-1m-age", "movielens-1m", "age", None),
            ("anes-tv-gender", "anes-tv", "gender", None),
            ("anes-tv-politics", "anes-tv", "politics", None),
            ("anes-tv-party", "anes-tv", "party", None),
            ("simulated-ptv-gender", "simulated-ptv", "gender", None),
            ("simulated-ptv-politics", "simulated-ptv", "politics", None),
            ("simulated-flixster-tenth-gender", "simulated-flixster-tenth", "gender", None),
        )
    },
    # Seven bands, each against the rest: seven times the work of each attacker.
    "ml-1m-age-bands": Case("movielens-1m", "age_band", schemes=("mpssr", "dmpss"), attacks=MORE),
    "ml-100k-gender-rounds": Case(
        "movielens-100k", "gender", schemes=("dmpss", "cmpss"), attacks=FEW, rounds=4
    ),
    # What outsiders read of all schemes; how it depends on the panel's size and on their number;
    # and what they read of people who give all of their ratings.
    "ml-1m-gender-outsiders": Case(
        "movielens-1m",
        "gender",
        schemes=PRIVATE,
        attacks=LIGHT,
        adversaries=("published", "outsider"),
        panels=(4000,),
        outsiders=(1000,),
    ),
    "ml-1m-gender-outsiders-sizes": Case(
        "movielens-1m",
        "gender",
        schemes=("dmpss", "cmpss"),
        attacks=LIGHT,
        adversaries=("outsider",),
        panels=(500, 2000, 4000),
        outsiders=(1000,),
        panel_alone=True,
    ),
    # Few in the panel and many outside.
    **{
        f"ml-1m-gender-outsiders-{outsiders}": Case(
            "movielens-1m",
            "gender",
            schemes=("mpssr", "dmpss", "cmpss", "cmpss:keep=0.25"),
            attacks=LIGHT,
            adversaries=("outsider",),
            panels=(panel,),
            outsiders=(outsiders,),
        )
        for panel, outsiders in ((2000, 2000), (500, 4000))
    },
    # Outsiders with every attacker that there is: what the light ones miss, and what it takes.
    "ml-1m-gender-outsiders-all-attackers": Case(
        "movielens-1m",
        "gender",
        schemes=("dmpss", "cmpss", "cmpss:keep=0.25"),
        adversaries=("outsider",),
        panels=(4000,),
        outsiders=(1000,),
    ),
    # How many must tell: leak and error by the panel's size, with everyone's reports and without.
    "ml-1m-gender-panels": Case(
        "movielens-1m",
        "gender",
        schemes=("dmpss",),
        attacks=("adaptive-lr-items", "adaptive-lr-mask"),
        adversaries=("panel", "outsider"),
        panels=(250, 500, 1000, 2000, 1),
        outsiders=(1000,),
        usual_folds=3,
    ),
    "ml-1m-gender-outsiders-all-given": Case(
        "movielens-1m",
        "gender",
        schemes=("dmpss", "cmpss"),
        attacks=LIGHT,
        adversaries=("outsider",),
        panels=(4000,),
        outsiders=(1000,),
        given=1.0,
    ),
    **{
        f"{name}-outsiders": Case(
            source,
            feature,
            schemes=schemes,
            attacks=LIGHT,
            adversaries=("outsider",),
            panels=(0.1, 0.3, 0.6),
            outsiders=numbers,
            panel_alone=True,
        )
        for name, source, feature, schemes, numbers in (
            ("ml-1m-age", "movielens-1m", "age", ("dmpss", "cmpss"), (0.3,)),
            ("young-people-gender", "young-people", "gender", ("dmp", "cmp"), (0.1, 0.3)),
            ("anes-tv-gender", "anes-tv", "gender", ("dmp", "cmp"), (0.1, 0.3)),
            ("sushi-gender", "sushi", "gender", ("dmp", "dmpss"), (0.1, 0.3)),
        )
    },
    "ml-100k-gender-outsiders-rounds": Case(
        "movielens-100k",
        "gender",
        schemes=("cmpss",),
        attacks=(
            *("transcript-lr-items", "transcript-lr", "adaptive-lr-mask", "adaptive-lr-items"),
            "adaptive-lr-panel",
        ),
        adversaries=("panel", "outsider"),
        panels=(0.7,),
        outsiders=(0.3,),
        rounds=4,
        usual_folds=4,
    ),
    # Sets of what people liked, and of all that they rated: what the panel reads, and what
    # outsiders read over the leak budget, for which nothing is learned without a part.
    **{
        f"ml-1m-gender-{name}": Case(
            "movielens-1m",
            "gender",
            (lists_of_sets,),
            schemes=schemes,
            attacks=OF_SETS,
            adversaries=("panel",),
            liked=liked,
        )
        for name, liked, schemes in (
            ("liked", 4.0, ("dmpss", "cmpss", "cmpss:leak=0.6", "cmpss:leak=0.55")),
            ("views", 1.0, ("cmpss:leak=0.6", "cmpss:leak=0.55")),
        )
    },
    **{
        f"ml-1m-gender-{name}-outsiders": Case(
            "movielens-1m",
            "gender",
            schemes=("cmpss", "cmpss:leak=0.7", "cmpss:leak=0.6", "cmpss:leak=0.55"),
            attacks=OF_SETS[:3],
            adversaries=("outsider",),
            panels=(4000,),
            outsiders=(1000,),
            liked=liked,
            usual_folds=6,
        )
        for name, liked in (("liked", 4.0), ("views", 1.0))
    },
    # 200,000 people, a quarter of them attacked at a time: the leak can be followed to chance.
    "simulated-outsiders": Case(
        "simulated-crowd",
        "gender",
        schemes=("dmpss",),
        attacks=("adaptive-lr-mask", "adaptive-lr-panel"),
        adversaries=("outsider",),
        panels=(1_000, 5_000, 20_000, 80_000, 130_000),
        outsiders=(20_000,),
        panel_alone=True,
        usual_folds=4,
    ),
    "simulated-outsiders-default": Case(
        "simulated-crowd",
        "gender",
        schemes=("dmpss", "default"),
        attacks=LIGHT[:3],
        adversaries=("outsider",),
        panels=(80_000,),
        outsiders=(20_000,),
        usual_folds=2,
    ),
    # The same people, half of them attacked at a time: with everyone else's reports, too.
    "simulated-panels": Case(
        "simulated-crowd",
        "gender",
        schemes=("dmpss",),
        attacks=("adaptive-lr-mask",),
        adversaries=("outsider",),
        panels=(1_000, 5_000, 20_000),
        outsiders=(20_000,),
        usual_folds=2,
    ),
    # What `train` chooses, chosen again in every fold on its panel alone, beside what is simpler.
    **{
        f"{name}-default": Case(
            source,
            feature,
            (chosen,),
            schemes=(simpler, "default"),
            adversaries=("panel",),
            usual_folds=folds,
        )
        for name, source, feature, simpler, folds in (
            ("young-people-gender", "young-people", "gender", "dmp", None),
            ("sushi-gender", "sushi", "gender", "dmp", 5),
            ("anes-tv-gender", "anes-tv", "gender", "dmp", 5),
            ("anes-tv-party", "anes-tv", "party", "dmp", 5),
            ("anes-thermometers-gender", "anes-thermometers", "gender", "dmp", 5),
            ("anes-thermometers-party", "anes-thermometers-nonpartisan", "party", "dmp", 5),
            ("ml-100k-gender", "movielens-100k", "gender", "dmpss", None),
            ("ml-100k-age", "movielens-100k", "age", "dmpss", None),
            ("ml-1m-age", "movielens-1m", "age", "dmpss", 5),
        )
    },
    "ml-1m-gender-default": Case(
        "movielens-1m",
        "gender",
        (chosen,),
        schemes=("mpss", "dmpss", "default"),
        adversaries=("panel",),
    ),
    "ml-1m-age-bands-default": Case(
        "movielens-1m",
        "age_band",
        (chosen,),
        schemes=("dmpss", "default"),
        attacks=MORE,
        adversaries=("panel",),
        usual_folds=3,
    ),
    # What outsiders read of what `train` chooses, and of shares and leak budgets.
    "ml-1m-gender-outsiders-default": Case(
        "movielens-1m",
        "gender",
        schemes=("cmpss", "cmpss:keep=0.25", "default"),
        attacks=LIGHT,
        adversaries=("panel", "outsider"),
        panels=(4000,),
        outsiders=(1000,),
    ),
    # With a small panel: the leak beside what reports then teach (`panel_and_reports.py`).
    "ml-1m-gender-small-panel-shares": Case(
        "movielens-1m",
        "gender",
        schemes=("cmpss", *(f"cmpss:keep={share:g}" for share in (0.7, 0.5, 0.25))),
        attacks=LIGHT,
        adversaries=("panel", "outsider"),
        panels=(500,),
        outsiders=(1000,),
    ),
    "ml-1m-gender-outsiders-budgets": Case(
        "movielens-1m",
        "gender",
        schemes=(
            *("cmpss", "cmpss:keep=0.5", "cmpss:keep=0.25"),
            *(f"cmpss:leak={leak:g}" for leak in (0.8, 0.7, 0.6)),
        ),
        attacks=LIGHT,
        adversaries=("outsider",),
        panels=(4000,),
        outsiders=(1000,),
        usual_folds=6,
    ),
    "ml-1m-gender-curves": Case(
        "movielens-1m", "gender", attacks=FEW, curves=("alpha", "bits", "share")
    ),
}
