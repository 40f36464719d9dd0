"""`midpoint train`: ratings in, item profiles out."""

import time
from dataclasses import replace
from functools import partial
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

if TYPE_CHECKING:
    from midpoint.analyst.disclose.leak import Budget
    from midpoint.analyst.fit.factorizer import Factorizer
    from midpoint.analyst.fit.profiles import ItemProfiles
    from midpoint.analyst.learn.admission import Admission
    from midpoint.data import Ratings

WIDEST_BAR = 24
"""Characters of the longest bar of the curve of leaks."""
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
    from midpoint.analyst.fit.profiles import require_new_directory

    require_new_directory(out)
    engine.check()
    console = Console()
    factorizer = fit.factorizer(seed, engine.threads)
    if engine.engine is not EngineName.local:
        from midpoint.analyst.engines import RatingsTables

        in_memory = {
            "--leak": protection.leak is not None,
            "--asked": protection.asked is not None,
            "--tune": tune,
            "--reports": learn.reports is not None,
            "--at-least": data.at_least > 1,
            "--levels": data.levels is not None,
            "--item-columns": bool(data.item_columns),
            "--items": data.items is not None,
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
            protection.scheme,
            protection.cost / 100,
            protection.least_people,
        )
    else:
        with console.status("Reading ratings"):
            ratings = data.load(seed)
        console.print(ratings.summary, highlight=False, markup=False, soft_wrap=True)
        with console.status("Reading reports"):
            reports = learn.collect()
        if reports is not None:
            reports = replace(reports, admitted=partial(_say_admission, console))
        names = list(feature or []) or None
        if tune:
            factorizer = _tune(console, factorizer, ratings, names)
        started = time.perf_counter()
        with training_bar(console) as report:
            profiles = train(
                ratings,
                names,
                factorizer=factorizer,
                scheme=protection.scheme(ratings.scale),
                leak=protection.leak,
                cost=protection.cost / 100,
                least_people=protection.least_people,
                asked=protection.asked,
                progress=report,
                reports=reports,
            )
        profiles.save(out)
    _summarize(console, profiles, time.perf_counter() - started)
    _say_scheme(console, profiles, f"--counterparts {protection.counterparts} asks for it")
    say_leak(console, profiles)
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


def _say_admission(console: Console, admission: "Admission") -> None:
    """Print how many reports teach, and why others do not."""
    console.print(str(admission), highlight=False, markup=False, soft_wrap=True)


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


def say_leak(console: Console, profiles: "ItemProfiles") -> None:
    """Print how far errors of what is disclosed leak, under each budget, and what that costs."""
    from midpoint.analyst.disclose.leak import LeakBudget
    from midpoint.analyst.disclose.specification import SchemeSpec

    if profiles.scheme is None or not SchemeSpec.read(profiles.scheme).scheme.sub_samples:
        return
    rule = LeakBudget(profiles)
    whole = rule.everything()
    budgets = rule.curve()
    if profiles.leak is not None and profiles.leak < whole.leak:
        budgets = sorted([rule.within(profiles.leak), *budgets], key=lambda b: b.leak)
    table = Table("leak (AUC)", "expected RMSE", "", "ratings kept", "items kept")
    worst = max(budget.error for budget in budgets) / whole.error - 1
    for budget in budgets:
        more = budget.error / whole.error - 1
        chosen = budget.leak <= (profiles.leak or 1) and budget is _last(budgets, profiles.leak)
        table.add_row(
            f"{budget.leak:.2f}{' *' if chosen else ''}",
            f"{budget.error:.4f} ({more:+.1%})",
            "█" * round(WIDEST_BAR * more / max(worst, 1e-9)),
            f"{(budget.keep @ rule.revealed) / rule.revealed.sum():.0%}",
            f"{int((budget.keep > 0).sum()):,}",
        )
    console.print("What leaks to somebody who knew all errors of what is disclosed (*: chosen)")
    console.print(table)


def _last(budgets: "list[Budget]", leak: float | None) -> "Budget":
    """Return the budget that devices will keep to: the largest within what was asked."""
    return max((b for b in budgets if b.leak <= (leak or 1) + 1e-9), key=lambda b: b.leak)


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
