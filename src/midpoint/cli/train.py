"""`midpoint train`: ratings in, item profiles out."""

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from midpoint.cli.options.engines import EngineName, fit_from_tables, require_in_memory
from midpoint.cli.options.expansion import expand
from midpoint.cli.options.training import EngineOptions, FitOptions, TrainingData
from midpoint.cli.output.bars import share_bar, training_bar
from midpoint.cli.output.choice import show_choice

if TYPE_CHECKING:
    from midpoint.analyst.fit.factorizer import Factorizer
    from midpoint.analyst.fit.profiles import ItemProfiles
    from midpoint.data import Ratings

SHOWN = 5
"""Items listed on either side of the private feature."""


class Counterparts(StrEnum):
    """What positions are fitted from, for schemes with counterparts."""

    auto = "auto"
    sets = "sets"
    values = "values"
    none = "none"


@expand
def train_command(
    *,
    out: Annotated[Path, typer.Option(help="Directory for the item profiles; replaced whole.")],
    feature: Annotated[
        list[str] | None,
        typer.Option(help="The private feature; several make a joint one.", show_default=False),
    ] = None,
    fit: FitOptions,
    counterparts: Annotated[
        Counterparts,
        typer.Option(
            help="Fit positions, so that devices can find counterparts. `sets`: from which items"
            " people rate and how they rate them (scheme cmpss). `values`: from how they rate"
            " alone, where everyone rates everything (scheme cmp). `none`: do not. `auto`: try the"
            " schemes on the people themselves, and take the simplest of those that leak least."
            " Engine `local` only."
        ),
    ] = Counterparts.auto,
    cost: Annotated[
        float,
        typer.Option(
            min=0,
            help="What the scheme that is chosen may cost: per cent that predictions are worse"
            " than from raw ratings.",
        ),
    ] = 1.5,
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose dimension and regularization on held-out users.")
    ] = False,
    engine: EngineOptions,
    seed: Annotated[int, typer.Option(help="Decides every random draw.")] = 0,
    data: TrainingData,
) -> None:
    """Learn item profiles, and what each category of a private feature adds to every item."""
    from midpoint.analyst import train
    from midpoint.analyst.fit.profiles import require_new_directory

    require_new_directory(out)
    engine.check()
    console = Console()
    factorizer = fit.factorizer(seed, engine.threads)
    if engine.engine is not EngineName.local:
        from midpoint.analyst.engines import RatingsTables

        in_memory = {
            "--counterparts": counterparts in (Counterparts.sets, Counterparts.values),
            "--tune": tune,
            "--at-least": data.at_least > 1,
            "--levels": data.levels is not None,
            "--item-columns": bool(data.item_columns),
        }
        require_in_memory(engine.engine, in_memory)
        tables = RatingsTables(
            data.source, data.users, data.columns(), data.rating_scale(), tuple(feature or ())
        )
        started = time.perf_counter()
        profiles = fit_from_tables(
            engine.engine,
            tables,
            factorizer,
            out,
            engine.master,
            lambda: training_bar(console),
            cost / 100,
        )
    else:
        with console.status("Reading ratings"):
            ratings = data.load(seed)
        console.print(f"{ratings!r}", highlight=False, markup=False, soft_wrap=True)
        names = list(feature or []) or None
        if tune:
            factorizer = _tune(console, factorizer, ratings, names)
        started = time.perf_counter()
        scheme = wanted_scheme(counterparts, ratings)
        with training_bar(console) as report:
            profiles = train(
                ratings,
                names,
                factorizer=factorizer,
                scheme=scheme,
                cost=cost / 100,
                progress=report,
            )
    profiles.save(out)
    _summarize(console, profiles, time.perf_counter() - started)
    _say_scheme(console, profiles, f"--counterparts {counterparts} asks for it")
    console.print(f"Item profiles are in {out}", highlight=False, soft_wrap=True)


def wanted_scheme(wanted: Counterparts, ratings: "Ratings") -> str | None:
    """Return the scheme that was asked for, None if the library is to choose."""
    from midpoint.analyst import itemwise_scheme

    if wanted is Counterparts.auto:
        return None
    if wanted is Counterparts.none:
        return itemwise_scheme(ratings.scale)
    return "cmpss" if wanted is Counterparts.sets else "cmp"


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


def _summarize(console: Console, profiles: "ItemProfiles", seconds: float) -> None:
    """Print what was learned: size, noise, counterparts, and the items a feature moves most."""
    console.print(
        f"{profiles.n_items} item profiles of dimension {profiles.dimension - 1} in"
        f" {seconds:.1f} s; noise of a rating {profiles.noise_variance**0.5:.3f}",
        highlight=False,
    )
    if profiles.positions is not None:
        console.print(
            f"Positions: {profiles.positions.selection_factors} selection factors,"
            f" {profiles.positions.taste.shape[1]} taste factors",
            highlight=False,
        )
    for k, category in enumerate(profiles.categories):
        order = profiles.offset[:, k].argsort()[::-1][:SHOWN]
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
