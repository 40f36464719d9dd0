"""`midpoint solicit`: which items to ask a person about, so that her profile is known best."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from midpoint.cli.options.expansion import expand
from midpoint.cli.options.messages import AsJson, Estimator, ModelOptions, read_message


class Method(StrEnum):
    """How items are chosen."""

    greedy = "greedy"
    random = "random"
    most_rated = "most-rated"


@expand
def solicit_command(
    *,
    budget: Annotated[int, typer.Option(min=1, help="How many items to ask about.")] = 30,
    report: Annotated[
        list[Path] | None, typer.Option(help="A report that she sent before; repeatable.")
    ] = None,
    model: ModelOptions,
    method: Annotated[
        Method,
        typer.Option(
            help="`greedy`: one item after the other, then exchanges, for the smallest expected"
            " error. The others are for comparison."
        ),
    ] = Method.greedy,
    weighted: Annotated[
        bool,
        typer.Option(help="Prefer items that more people rate, as the service does; or not."),
    ] = True,
    seed: Annotated[int, typer.Option(help="Decides a random choice.")] = 0,
    number: Annotated[
        int | None,
        typer.Option("--round", min=0, help="Number of the round; the next one unless given."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the solicitation for her device to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Choose which items to ask a person about next.

    It takes the items whose answers are expected to leave the smallest error in her profile, given
    her earlier reports (A-optimal, Sec. 6.2 of the paper), and says how far from the best choice
    it can be.
    """
    from midpoint.analyst import Scorer
    from midpoint.analyst.solicit.questions import Questions
    from midpoint.files import replace_file
    from midpoint.wire import Report, Solicitation

    with Console(stderr=True).status("Choosing items"):
        profiles, disclosure = model.load()
        scorer = Scorer(profiles, disclosure, estimator=model.estimator.value)
        reports = [read_message(path, Report) for path in report or []]
        answers = scorer.answers(reports)
        questions = Questions(
            profiles,
            disclosure,
            report_weights=scorer.weights,
            with_prior=model.estimator is Estimator.map,
            weighted=weighted or method is Method.most_rated,
        )
        chosen = questions.choose(
            budget,
            information=scorer.sum_up(answers).information if answers else None,
            answers=len(answers),
            touched=answers,
            method=method.value,
            seed=seed,
            certified=True,
        )
    rows = [
        {"item": str(profiles.item_ids[j]), "title": str(profiles.item_names[j])}
        for j in chosen.items
    ]
    if out is not None:
        items = tuple(sorted(row["item"] for row in rows))
        following = 1 + max((earlier.round for earlier in reports), default=-1)
        asked = following if number is None else number
        solicitation = Solicitation(
            disclosure=disclosure.digest, round=asked, items=items, open=False
        )
        replace_file(out, solicitation.raw)
    noise = profiles.noise_variance
    loss, bound = noise * chosen.loss, noise * chosen.bound
    if as_json:
        figures: dict[str, Any] = {"loss": loss, "bound": bound, "gap": chosen.gap}
        finite = {name: value if value < float("inf") else None for name, value in figures.items()}
        typer.echo(json.dumps({"items": rows, "answered": len(answers), **finite}, indent=2))
        return
    table = Table("item", "title")
    for row in rows:
        table.add_row(row["item"], row["title"])
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    console.print(
        f"Expected squared error of the profile after these {len(rows)} answers: {loss:.4f}.\n"
        f"No choice of {len(rows)} items gets below {bound:.4f}: the gap is at most"
        f" {chosen.gap:.2%}."
    )
