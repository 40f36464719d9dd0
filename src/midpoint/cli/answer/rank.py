"""`midpoint rank`: scores in, her own ranking out; all by files."""

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from midpoint.cli.answer.category import CategoryOptions, category_of
from midpoint.cli.answer.terminal import Terminal
from midpoint.cli.options.expansion import expand
from midpoint.cli.options.messages import AsJson, read_message
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.user.agent import Home, Standing
    from midpoint.wire import Scores


@expand
def rank_command(
    *,
    scores: Annotated[
        Path, typer.Option(help="What the service scored, as `midpoint recommend --out` wrote it.")
    ],
    home: Annotated[Path, typer.Option(help="Directory that `midpoint protect` used.")],
    top: Annotated[int, typer.Option(min=1, max=1000, help="How many titles to show.")] = 10,
    category: CategoryOptions,
    as_json: AsJson = False,
) -> None:
    """Rank the scores for you: add your category's part, and leave out what you rated.

    The titles and numbers are those that `midpoint protect` accepted last. Nothing is written that
    is to be sent.
    """
    from midpoint.cli.answer.tables import recommendation_table
    from midpoint.user.agent.device import Device, device_home, has_device
    from midpoint.wire import Scores

    received, named = read_message(scores, Scores), category.named()
    if not has_device(home):
        raise MidpointError(f"there is no device in {home}; run `midpoint protect` first")
    terminal = Terminal(Console(highlight=False, stderr=as_json))
    with closing(device_home(home)) as kept:
        standing = _standing(kept, received, scores)
        shown = standing.accepted.disclosure
        hers = category_of(kept, shown, terminal, named, remember=category.remember)
        best = Device.of(kept, standing, hers).rank(received)[:top]
    if as_json:
        rows = [
            {"item": r.item, "title": r.title}
            | ({} if r.sets else {"stars": r.stars, "deviation": r.deviation})
            | {name: text for name, text in (("genre", r.genre), ("link", r.link)) if text}
            for r in best
        ]
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    terminal.say(recommendation_table(best, standing.mark))


def _standing(home: "Home", scores: "Scores", path: Path) -> "Standing":
    """Check again what she accepted last; refuse scores that go with something else."""
    from midpoint.user.agent import Terms
    from midpoint.user.agent.standing import accept
    from midpoint.wire import Refusal, RefusedError

    home.require_remembered()
    published = home.published
    if published is None:
        raise MidpointError(
            f"nothing was accepted in {home.directory}; run `midpoint protect` first"
        )
    standing = accept(
        published, home, Terms(without_witness=True)
    )  # it was checked, and nothing leaves
    if scores.disclosure != (digest := standing.accepted.disclosure.digest):
        raise RefusedError(
            Refusal.WRONG_DIGEST,
            f"{path} goes with disclosure {scores.disclosure[:12]}, and you accepted {digest[:12]}"
            " last; ask for scores that go with that one",
        )
    return standing
