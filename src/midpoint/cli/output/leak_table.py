"""What the errors of a disclosure leak, and what leak budgets cost."""

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.table import Table

from midpoint.cli.output.bars import training_bar

if TYPE_CHECKING:
    from midpoint.analyst import Factorizer, ItemProfiles
    from midpoint.data import Ratings

WIDEST_BAR = 17
"""Characters of the longest bar."""
TAUGHT: Final = MappingProxyType({1.0: 0.009, 0.5: 0.024, 0.25: 0.035})
"""By the share that devices reveal, the error of a site that learned from reports, above that of
everyone's raw ratings: MovieLens 1M, a panel of 500, `cmpss`
(`benchmarks/training/panel_and_reports.py`).
"""


def show_leak(
    console: Console,
    profiles: "ItemProfiles",
    ratings: "Ratings | None",
    factorizer: "Factorizer",
) -> None:
    """Print what leaks to somebody who knew all errors, and under a budget the curve of budgets."""
    from midpoint.analyst.disclose.leak import LeakBudget
    from midpoint.analyst.disclose.specification import SchemeSpec
    from midpoint.analyst.disclose.waiting import waiting

    spec = SchemeSpec.read(profiles.scheme) if profiles.scheme else None
    if spec is None or not spec.scheme.sub_samples:
        return
    if profiles.leak is None:
        reached = LeakBudget(profiles, spec.share).everything().leak
        line = (
            "The disclosed numbers are estimates. Somebody who knew all their errors would reach an"
            f" AUC of {reached:.2f}; real attackers reach less. --leak limits it, and prints what"
            " that costs."
        )
        console.print(line, highlight=False, soft_wrap=True)
        return
    choice = profiles.choice
    measured = choice is not None and choice.row(choice.scheme) is not None
    if choice is not None and measured and SchemeSpec.read(choice.scheme).leak == profiles.leak:
        more = ", or a little more with counterparts" * spec.scheme.counterparts
        line = (
            f"Devices keep to a leak budget of {profiles.leak:g}: somebody who knew all errors of"
            f" the disclosed numbers would reach that AUC at most{more}. --leak names another one,"
            " and prints what budgets cost."
        )
        console.print(line, highlight=False, soft_wrap=True)
    elif ratings is not None:
        _show_budgets(console, profiles, ratings, factorizer)
    said = waiting(profiles, profiles.leak).words(profiles.item_names)
    if said:
        console.print(said, highlight=False, markup=False, soft_wrap=True)


def show_shares(console: Console, profiles: "ItemProfiles") -> None:
    """Print what the share that devices reveal leaks, and teaches the site, beside other shares."""
    from midpoint.analyst.disclose.leak import LeakBudget
    from midpoint.analyst.disclose.specification import SchemeSpec

    spec = SchemeSpec.read(profiles.scheme) if profiles.scheme else None
    if spec is None or spec.keep is None:
        return
    bounded = spec.scheme.sub_samples
    table = Table("devices reveal", *["bound (AUC)"] * bounded, "error after learning from reports")
    for share in sorted({*TAUGHT, spec.keep}, reverse=True):
        reached = LeakBudget(profiles, share).everything().leak
        cells = [f"{min(reached, profiles.leak or 1.0):.2f}"] * bounded
        taught = f"{TAUGHT[share]:+.1%}" if share in TAUGHT else ""
        table.add_row(f"{share:.0%}{' *' if share == spec.keep else ''}", *cells, taught)
    console.print(
        "A site that learns from reports learns from the share that devices reveal (*: this model)"
    )
    console.print(table)
    bound = "Bound: of somebody who knew all errors of these disclosed numbers. " * bounded
    console.print(
        f"{bound}Error: of new people on MovieLens 1M, with a panel of 500, above that of"
        " everyone's raw ratings. `midpoint train --share` sets a smallest share.",
        highlight=False,
        soft_wrap=True,
    )


def _show_budgets(
    console: Console, profiles: "ItemProfiles", ratings: "Ratings", factorizer: "Factorizer"
) -> None:
    """Print the curve of budgets, each with what it costs people."""
    from midpoint.analyst.disclose.leak import SHOWN, LeakBudget
    from midpoint.analyst.disclose.scheme_choice import budget_costs
    from midpoint.analyst.disclose.specification import SchemeSpec

    spec, asked = SchemeSpec.read(str(profiles.scheme)), profiles.leak or 1.0
    rule = LeakBudget(profiles, spec.share)
    whole = rule.everything().leak
    leaks = [leak for leak in sorted({*SHOWN, asked}) if leak < whole] + [1.0]
    with training_bar(console) as report:
        costs = budget_costs(
            ratings,
            *(name for name, _ in profiles.features),
            scheme=str(profiles.scheme),
            leaks=leaks,
            factorizer=factorizer,
            progress=report,
        )
    costly = max(costs) > 0
    table = Table("bound (AUC)", "cost", *[""] * costly, "ratings kept", "items kept")
    for leak, cost in zip(leaks, costs, strict=True):
        keep = (rule.within(leak) if leak < 1 else rule.everything()).keep
        chosen = leak == asked or (leak == 1 and asked >= whole)
        table.add_row(
            f"{min(leak, whole):.2f}{' *' if chosen else ''}",
            f"{cost:+z.1%}",
            *["█" * round(WIDEST_BAR * max(cost, 0) / max(costs))] * costly,
            f"{(keep @ rule.revealed) / rule.revealed.sum():.0%}",
            f"{int((keep > 0).sum()):,}",
        )
    console.print(
        "What leaks to somebody who knew all errors of the disclosed numbers (*: asked for)"
    )
    console.print(table)
    what = "NDCG@10" if profiles.scale.is_unary else "RMSE of what people see"
    console.print(
        f"Cost: {what}, against raw ratings. Each third of the people is predicted by a model"
        " learned from the other two thirds.",
        highlight=False,
        soft_wrap=True,
    )
