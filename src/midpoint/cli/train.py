"""`midpoint train`: ratings in, item profiles out."""

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from midpoint.cli.options.engines import EngineName, fit_from_tables, require_in_memory
from midpoint.cli.options.expansion import expand
from midpoint.cli.options.protection import ProtectionOptions
from midpoint.cli.options.reports import ReportOptions
from midpoint.cli.options.training import EngineOptions, FitOptions, TrainingData
from midpoint.cli.output.bars import share_bar, training_bar
from midpoint.cli.output.choice_table import show_choice
from midpoint.cli.output.leak_table import show_leak, show_shares

if TYPE_CHECKING:
    from midpoint.analyst.fit.factorizer import Factorizer
    from midpoint.analyst.fit.profiles import ItemProfiles
    from midpoint.analyst.learn.admission import Admission
    from midpoint.analyst.learn.reports import CollectedReports
    from midpoint.data import Ratings

SHOWN = 5
"""Items listed on either side of the private feature."""


@expand
def train_command(
    *,
    out: Annotated[
        Path,
        typer.Option(
            help="Directory for the item profiles; replaced whole. With the engines `stream` and"
            " `spark` a killed run goes on from OUT.unfinished."
        ),
    ],
    feature: Annotated[
        list[str] | None,
        typer.Option(help="The private feature; several make a joint one.", show_default=False),
    ] = None,
    fit: FitOptions,
    protection: ProtectionOptions,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="Choose dimension and regularization on held-out users.",
            rich_help_panel=FitOptions.PANEL,
        ),
    ] = False,
    learn: ReportOptions,
    engine: EngineOptions,
    seed: Annotated[int, typer.Option(help="Decides every random draw.")] = 0,
    data: TrainingData,
) -> None:
    """Learn item profiles, and what each category of a private feature adds to every item."""
    from midpoint.analyst import train
    from midpoint.analyst.disclose.scheme_choice import require_attackers
    from midpoint.analyst.fit.profile_files import require_new_directory

    require_new_directory(out)
    engine.check()
    if protection.leak is not None:
        require_attackers()  # what budgets cost is measured with what they need
    console, ratings = Console(), None
    factorizer = fit.factorizer(seed, engine.threads)
    if engine.engine is not EngineName.local:
        from midpoint.analyst.engines import RatingsTables

        in_memory = {
            "--leak": protection.leak is not None,
            "--asked": protection.asked is not None,
            "--tune": tune,
            "--factors": fit.factors is not None,
            "--at-least": data.at_least > 1,
            "--levels": data.levels is not None,
            "--liked": data.liked is not None,
            "--item-columns": bool(data.item_columns),
            "--items": data.items is not None,
        }
        require_in_memory(engine.engine, in_memory)
        with console.status("Reading reports"):
            reports = said(console, learn.collect())
        tables = RatingsTables(
            data.source,
            data.users,
            data.columns(),
            data.rating_scale(),
            tuple(feature or ()),
            reports,
        )
        started = time.perf_counter()
        profiles = fit_from_tables(
            engine.engine,
            tables,
            factorizer,
            out,
            engine.master,
            lambda: training_bar(console),
            protection.scheme,
            protection.allowance(),
            protection.least_people,
        )
    else:
        with console.status("Reading ratings"):
            ratings = data.load(seed)
        console.print(ratings.summary, highlight=False, markup=False, soft_wrap=True)
        with console.status("Reading reports"):
            reports = learn.collect()
        names = tuple(feature or ())
        if fit.factors is not None:
            _say_factors(console, factorizer, ratings, tune=tune, reports=reports is not None)
        if tune:
            factorizer = _tune(console, factorizer, ratings, list(names) or None)
        started = time.perf_counter()
        with training_bar(console) as report:
            profiles = train(
                ratings,
                names,
                factorizer=factorizer,
                scheme=protection.scheme(ratings.scale),
                leak=protection.leak,
                allow=protection.allowance(),
                least_people=protection.least_people,
                asked=protection.asked,
                progress=report,
                reports=said(console, reports),
            )
        profiles.save(out)
    summarize(console, profiles, time.perf_counter() - started)
    _say_scheme(console, profiles, f"--counterparts {protection.counterparts} asks for it")
    show_leak(console, profiles, ratings, factorizer)
    show_shares(console, profiles)
    console.print(f"Item profiles are in {out}", highlight=False, soft_wrap=True)


def _tune(
    console: Console, factorizer: "Factorizer", ratings: "Ratings", feature: list[str] | None
) -> "Factorizer":
    from midpoint.analyst.fit.tuning import tune

    with share_bar(console, "Tuning") as report:
        result = tune(ratings, feature, factorizer, progress=report)
    table = Table("dimension", "regularization", "RMSE of held-out users", "standard error")
    for trial in result.trials:
        mark = "[bold]" if trial == result.best else ""
        table.add_row(
            *(f"{mark}{cell}" for cell in (
                trial.dimension, trial.regularization, f"{trial.rmse:.4f}", f"{trial.error:.4f}",
            ))
        )  # fmt: skip
    console.print(table)
    return result.factorizer


def said(console: Console, reports: "CollectedReports | None") -> "CollectedReports | None":
    """Return reports that print, once looked at, how many are used and why others are not."""

    def say(admission: "Admission") -> None:
        console.print(str(admission), highlight=False, markup=False, soft_wrap=True)

    return None if reports is None else replace(reports, admitted=say)


def _say_factors(
    console: Console, factorizer: "Factorizer", ratings: "Ratings", *, tune: bool, reports: bool
) -> None:
    """Print how the given items and the rated ones meet; refuse what would fit the items."""
    from midpoint.analyst.fit.given.factors import GivenFactors
    from midpoint.errors import MidpointError

    if tune or reports:
        idle = "--tune" if tune else "--reports"
        raise MidpointError(
            f"{idle} fits the items, and --factors keeps them as they are; leave one of them out"
        )
    if isinstance(factorizer, GivenFactors):
        console.print(str(factorizer.coverage(ratings)), highlight=False, soft_wrap=True)


def summarize(console: Console, profiles: "ItemProfiles", seconds: float) -> None:
    """Print what was learned: size, noise, counterparts, and the items a feature moves most."""
    from midpoint.analyst.fit.summary import noise

    console.print(
        f"{profiles.n_items} item profiles of dimension {profiles.dimension - 1} in"
        f" {seconds:.1f} s{noise(profiles)}",
        highlight=False,
    )
    if profiles.positions is not None:
        console.print(
            f"Positions: {profiles.positions.selection_factors} selection factors,"
            f" {profiles.positions.taste.shape[1]} taste factors",
            highlight=False,
        )
    for k, category in enumerate(profiles.categories):
        order = [
            j for j in profiles.offset[:, k].argsort()[::-1][:SHOWN] if profiles.offset[j, k] > 0
        ]
        if not order:
            continue
        liked = ", ".join(f"{profiles.item_names[j]} ({profiles.offset[j, k]:+.2f})" for j in order)
        console.print(
            f"  {profiles.feature} {category} adds most to: {liked}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )


def _say_scheme(console: Console, profiles: "ItemProfiles", asked: str) -> None:
    """Print what devices will do, and why."""
    if profiles.choice is not None:
        show_choice(console, profiles.choice)
        return
    line = "No scheme: without --feature there is nothing to protect"
    if profiles.scheme is not None:
        line = (
            f"Devices will use scheme {profiles.scheme}, because {asked}. Nothing was measured:"
            " audit it before you publish this model."
        )
    console.print(line, highlight=False, markup=False, soft_wrap=True)
