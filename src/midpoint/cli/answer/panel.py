"""`midpoint panel`: share a category and ratings with a service on purpose, and take that back."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from midpoint.cli.answer.category import CategoryOptions, ask_names, named_category
from midpoint.cli.answer.options import TrustOptions
from midpoint.cli.answer.terminal import Terminal
from midpoint.cli.options.expansion import expand
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.user.agent import Agent

app = typer.Typer(
    name="panel",
    help="Join the panel of a service: share your category and your ratings, to protect others.",
    no_args_is_help=True,
)
Url = Annotated[str, typer.Argument(help="Address of the service.", show_default=False)]
Home = Annotated[
    Path | None,
    typer.Option(
        help="Where your secret, ledger and ratings are. Default: in your data directory."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]

WHAT_IT_MEANS = (
    "Joining the panel gives up your protection at this service. You share {secret} and {ratings},"
    " as they are: also those that were withheld or changed before.\n"
    "What for: from its panel the service learns how categories differ, and so how to protect"
    " everybody else. People who are not in the panel need not share anything.\n"
    "Who sees it: the people who run the service, and anybody who gets at its database. It is kept"
    " apart from your reports, under another pseudonym; but from the titles alone the service could"
    " find out which reports are yours.\n"
    "What is published: sums over the whole panel. Somebody who has your answers anyway may find"
    " out that you took part.\n"
    "Later: what you answer from now on is not shared until you join again. You can leave at any"
    " time (`midpoint panel leave`): all that you shared is erased, and the next training does not"
    " use it. What was published before stays public."
)


@app.command("join")
@expand
def join_command(
    *,
    url: Url,
    home: Home = None,
    category: Annotated[
        list[str] | None,
        typer.Option(
            help="FEATURE=CATEGORY to share; repeatable. Unless given, the remembered category is"
            " shared, or you are asked."
        ),
    ] = None,
    named: CategoryOptions,
    trust: TrustOptions,
    yes: Yes = False,
) -> None:
    """Share your category and all ratings that you entered here, as they are; then end.

    You are shown what that means and all that would be sent, and nothing is sent before you agree.
    """
    with _opened(url, home, trust) as (agent, terminal):
        names = named_category(category, "--category") if category else named.named()
        agent.connect()
        join(agent, terminal, names, yes=yes)


@app.command("leave")
@expand
def leave_command(*, url: Url, home: Home = None, trust: TrustOptions) -> None:
    """Have the service erase all that you shared; the next training does not use it.

    Your reports and your device stay as they are. What was published before stays public.
    """
    with _opened(url, home, trust) as (agent, terminal):
        leave(agent, terminal)


@app.command("show")
@expand
def show_command(*, url: Url, home: Home = None, trust: TrustOptions) -> None:
    """Show whether you are in the panel, and what the service keeps of you there."""
    with _opened(url, home, trust) as (agent, terminal):
        agent.connect()
        show(agent, terminal)


def join(
    agent: "Agent", terminal: Terminal, names: Mapping[str, str] | None, *, yes: bool = False
) -> bool:
    """Say what joining means, show all that would be sent, and send it only if she agrees."""
    from midpoint.cli.answer.tables import shared_table

    if not agent.membership().open:
        raise MidpointError("this service takes nobody into its panel now; ask its operator")
    disclosure = agent.standing.accepted.disclosure
    if names is None:
        kept = agent.home.notes.category
        names = dict(kept) if kept is not None else ask_names(disclosure, terminal)
    shared = agent.to_share(names)
    secret = " and ".join(f"your {feature.name}" for feature in disclosure.features)
    count, mark = len(shared.ratings), agent.standing.mark
    one, many = ("title", "titles") if mark else ("rating", "ratings")
    given = f"gave as {mark}" if mark else "entered"
    ratings = f"all {count} {many}" if count > 1 else f"the one {one}"
    ratings += f" that you {given} here"
    terminal.say(WHAT_IT_MEANS.format(secret=secret, ratings=ratings))
    terminal.say(shared_table(shared, agent.standing.titles, mark))
    if not yes and not terminal.console.is_terminal:
        terminal.say("Nothing was sent; add --yes to join.")
        return False
    if not (yes or terminal.sure("Share all of this, and join the panel?")):
        terminal.say("Nothing was sent, and you are not in the panel.")
        return False
    agent.join_panel(names)
    terminal.say("You are in the panel. `midpoint panel leave` takes it back.")
    return True


def leave(agent: "Agent", terminal: Terminal) -> None:
    """Erase what she shared, and say what that does."""
    agent.leave_panel()
    terminal.say(
        "You are not in the panel: the service erased all that you shared, and its next training"
        " does not use it. What was published before stays public."
    )


def show(agent: "Agent", terminal: Terminal) -> bool:
    """Say whether she is in the panel, and what is kept of her there."""
    from midpoint.cli.answer.tables import shared_table

    member = agent.membership()
    shared = member.ratings
    if shared is None or member.joined is None:
        terminal.say("You are not in the panel of this service.")
        return False
    when = datetime.fromtimestamp(member.joined, tz=UTC)
    terminal.say(f"You joined the panel on {when:%d %B %Y}. The service keeps of you there:")
    terminal.say(shared_table(shared, agent.standing.titles, agent.standing.mark))
    return True


def panel_menu(agent: "Agent", terminal: Terminal) -> None:
    """Let her join or leave, in a session that goes on."""
    if not show(agent, terminal):
        join(agent, terminal, None)
    elif terminal.sure("Leave the panel?"):
        leave(agent, terminal)


@contextmanager
def _opened(url: str, home: Path | None, trust: TrustOptions) -> "Iterator[tuple[Agent, Terminal]]":
    """Open what this device has at a service; somebody who never answered there has nothing."""
    from platformdirs import user_data_path

    from midpoint.user.agent.address import address_of, directory_name

    root = home or user_data_path("midpoint", appauthor=False)
    if not (root / directory_name(address_of(url, plain_http=True))).exists():
        raise MidpointError(
            f"nothing of {url} is in {root}; rate some titles there first (`midpoint answer`)"
        )
    with trust.agent(url, home) as agent:
        yield agent, Terminal(Console(highlight=False))
