"""`midpoint demo`: one person, from her ratings to recommendations; then a service."""

import shlex
import sys
from itertools import zip_longest
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst import ItemProfiles
    from midpoint.analyst.analyst import Analyst
    from midpoint.data import Ratings
    from midpoint.user.agent.device import Device
    from midpoint.wire import Report

SOURCE = "movielens-100k"
FALLBACK = "simulated-movielens-1m"
FEATURE = "gender"
RAW = "no"
"""The scheme of raw ratings."""
MOST_RATED = 120
"""Items that the person may have rated, at most: a public number."""
SHOWN = 12
"""Ratings of the person that are shown line by line."""


def demo_command(
    top: Annotated[int, typer.Option(min=1, help="How many recommendations to print.")] = 10,
    seed: Annotated[
        int, typer.Option(help="Decides who the person is, and what her coins show.")
    ] = 0,
    serve: Annotated[
        bool, typer.Option("--serve/--no-serve", help="At the end, start a service to try it out.")
    ] = True,
    site: Annotated[
        Path | None,
        typer.Option(help="Site directory of the service; a temporary one unless given."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; 0 takes any that is free.")
    ] = 0,
) -> None:
    """Train on MovieLens 100K, protect one person's gender, recommend films, start a service."""
    from midpoint.data import hold_out, split_ratings, user_folds

    console = Console(highlight=False)
    ratings = _ratings(console)
    fold = hold_out(ratings, user_folds(ratings.n_users, 10, seed=seed), 0)
    analyst = _train(console, fold.training)
    given, hidden = split_ratings(fold.held_out, 0.7, seed=seed)
    _one_person(console, analyst, given, hidden, top=top, seed=seed)
    _attacked(console, analyst.profiles)
    _everyone(console, analyst.profiles, given, hidden, seed=seed)
    if serve:
        with TemporaryDirectory(prefix="midpoint-demo-") as directory:
            _serve(console, analyst, site or Path(directory) / "site", port)


def _ratings(console: Console) -> "Ratings":
    """Load MovieLens 100K, downloading it if needed; without a network, simulated ratings."""
    from midpoint.data import load
    from midpoint.data.sources.acquisition import get

    try:
        with console.status(f"Looking for {SOURCE}"):
            get(SOURCE)
        ratings = load(SOURCE)
    except (MidpointError, OSError) as error:
        console.print(f"{SOURCE} cannot be loaded: {error}", markup=False, soft_wrap=True)
        console.print(f"[bold]The ratings below are simulated[/bold] ({FALLBACK}).\n")
        ratings = load(FALLBACK)
    return ratings


def _train(console: Console, training: "Ratings") -> "Analyst":
    from midpoint.analyst.analyst import Analyst

    console.rule("[bold]1  The service learns from people who shared their gender", align="left")
    analyst = Analyst.train(training, FEATURE)
    profiles = analyst.profiles
    console.print(
        f"{training.n_users:,} people, {training.n_items:,} titles, {len(training):,} ratings."
        f" The service learns {profiles.dimension - 1} numbers about each title, and how women and"
        " men differ on it.",
        soft_wrap=True,
    )
    return analyst


def _one_person(
    console: Console,
    analyst: "Analyst",
    given: "Ratings",
    hidden: "Ratings",
    *,
    top: int,
    seed: int,
) -> None:
    """Walk the protocol of Figure 2 once: disclosure, report, estimate, scores, correction."""
    person, feature = _pick(given, seed), given.features[FEATURE]
    device = _device(analyst, feature.categories[feature.codes[person]], seed)
    rated = _by_item(given, person)
    report = device.protect(rated)

    console.rule("[bold]2  One person's device: what was rated, and what leaves", align="left")
    console.print(_leaving(rated, report, device))
    console.print(
        f"{len(report.answers)} of {len(rated)} ratings leave, in one report of"
        f" {len(report.raw)} bytes. The gender stays on the device."
    )
    if 2 * len(report.answers) < len(rated) and analyst.disclosure.prior is not None:
        console.print(
            "Most answers of everybody are withheld, because few answers reveal little. The device"
            f" still ranks by all {len(rated)} ratings.",
            soft_wrap=True,
        )

    console.rule("[bold]3  The service estimates a taste; the device ranks", align="left")
    scores = analyst.score(report, top=top, margin=MOST_RATED)
    truth, ranked = _by_item(hidden, person), device.rank(scores)[:top]
    later = ["stars given later"] if any(best.item in truth for best in ranked) else []
    table = Table("recommended", "predicted stars", "give or take", *later)
    for best in ranked:
        rating = [f"{truth[best.item]:g}" if best.item in truth else ""] if later else []
        table.add_row(best.title, f"{best.stars:.1f}", f"{best.deviation:.1f}", *rating)
    console.print(table)


def _device(analyst: "Analyst", category: str, seed: int) -> "Device":
    """Make a device in memory whose coins the seed decides: a person's own are secret."""
    import numpy as np

    from midpoint.user import DeviceSecret, PrivateCategory
    from midpoint.user.agent.device import Device, accept_and_keep
    from midpoint.user.agent.home import Home
    from midpoint.user.agent.standing import Terms

    home = Home.in_memory(DeviceSecret(np.random.default_rng(seed).bytes(32)))
    standing = accept_and_keep(analyst.published, home, Terms())
    return Device.of(home, standing, PrivateCategory.of(analyst.disclosure, {FEATURE: category}))


def _by_item(ratings: "Ratings", person: int) -> dict[str, float]:
    """Return one person's ratings by item."""
    rows = ratings.of_user(person)
    items = ratings.item_ids[ratings.item[rows]].tolist()
    return dict(zip(items, ratings.value[rows].tolist(), strict=True))


def _pick(given: "Ratings", seed: int) -> int:
    """Pick somebody with a fair number of ratings, of the category that has most people.

    That category withholds most, since it rates most items more often.
    """
    import numpy as np

    count, feature = np.diff(given.user_offsets), given.features[FEATURE]
    common = feature.codes == feature.counts.argmax()
    fit = np.flatnonzero((count >= 40) & (count <= MOST_RATED) & common)
    return int(np.random.default_rng(seed).choice(fit))


def _leaving(rated: dict[str, float], report: "Report", device: "Device") -> Table:
    """Line by line what leaves the device, every fate among it."""
    from midpoint.wire import ONE

    sent = {item: value / ONE for item, value in report.answers}
    table = Table("title", "rating", "what leaves")
    for item, value in _sample(rated, sent):
        changed = "" if sent.get(item) == value else ", [yellow]changed[/yellow]"
        leaves = f"{sent[item]:g}{changed}" if item in sent else "[dim]withheld[/dim]"
        table.add_row(escape(device.titles[item]), f"{value:g}", leaves)
    if len(rated) > SHOWN:
        table.add_row(f"[dim]and {len(rated) - SHOWN} more[/dim]", "", "")
    return table


def _sample(rated: dict[str, float], sent: dict[str, float]) -> list[tuple[str, float]]:
    """Take as many ratings of each fate as of the others, where there are: withheld, changed, same.

    A round takes one of each fate that has any left.
    """
    fates: tuple[list[tuple[str, float]], ...] = ([], [], [])
    for item, value in rated.items():
        fates[0 if item not in sent else 1 if sent[item] != value else 2].append((item, value))
    rounds = zip_longest(*fates)
    taken = [pair for row in rounds for pair in row if pair is not None][:SHOWN]
    return [pair for fate in fates for pair in fate if pair in taken]


def _attacked(console: Console, profiles: "ItemProfiles") -> None:
    """Say what leaks to the strongest attack before and after, as training measured it."""
    console.rule("[bold]4  What leaks to an attacker", align="left")
    choice = profiles.choice
    before = None if choice is None else choice.row(RAW)
    after = None if choice is None else choice.row(profiles.scheme or RAW)
    if choice is None or before is None or after is None:
        console.print("There were too few people to measure it; `midpoint audit` needs more.")
        return
    table = Table("an attacker who sees", "picks the right one of a woman and a man")
    for who, row in (("raw ratings", before), ("what leaves the devices", after)):
        table.add_row(who, f"{100 * row.leak:.0f} times in 100")
    table.add_row("nothing", "50 times in 100")
    console.print(table)
    console.print(
        f"The attacker knows the scheme, and the ratings and gender of the other people. Measured"
        f" on the {choice.people} people that the service learned from; each of them was protected"
        " by a model learned without them. With so few people, up to"
        f" {100 * choice.luck:.0f} can be luck. `midpoint audit` tries more attackers, and an"
        " adversary who knows the gender of users outside the panel.",
        soft_wrap=True,
        markup=False,
    )


def _everyone(
    console: Console, profiles: "ItemProfiles", given: "Ratings", hidden: "Ratings", *, seed: int
) -> None:
    """Compare all held-out people with and without protection."""
    import numpy as np

    from midpoint.analyst import itemwise_scheme
    from midpoint.audit.run.plan import read_scheme
    from midpoint.protocol import Population, squared_errors

    known = given.features[FEATURE].known
    given, hidden = given.select_users(known), hidden.select_users(known)
    category = given.features[FEATURE].codes
    people = Population(given.user, given.item, given.value, category)
    table = Table(
        f"all {given.n_users} held-out people", "error in stars (RMSE)", "ratings that leave"
    )
    for scheme, name in (
        ("no", "without protection"),
        (profiles.scheme or itemwise_scheme(profiles.scale), "protected"),
    ):
        learning = read_scheme(scheme)
        disclosure = learning.disclose(profiles)
        reports = learning.report(disclosure, profiles, people, np.random.default_rng(seed))
        x = learning.estimate(profiles, reports, disclosure)
        given_by = people, np.random.default_rng(seed), reports
        rows = hidden.user, hidden.item
        shown = learning.predictions(disclosure, profiles, *given_by, x, *rows)
        errors = squared_errors(shown, hidden.value, hidden.user, hidden.n_users)
        rmse = float(np.sqrt(errors.sum() / len(hidden)))
        table.add_row(name, f"{rmse:.4f}", f"{len(reports.kept) / len(given):.0%}")
    console.rule("[bold]5  What protection costs", align="left")
    console.print(table)


def _command() -> str:
    """Return how to start this program from anywhere: by name if it is found so, else by path."""
    path = Path(sys.argv[0])
    if path.stem == "__main__":
        return f"{shlex.quote(sys.executable)} -m midpoint"
    by_name = which("midpoint")
    if path.stem != "midpoint" or not path.exists():  # started in another way, as tests do
        return "midpoint"
    if by_name is not None and Path(by_name).resolve() == path.resolve():
        return "midpoint"
    return shlex.quote(str(path.absolute()))


def _serve(console: Console, analyst: "Analyst", site: Path, port: int) -> None:
    """Publish what was learned, and serve it until it is stopped."""
    from midpoint.analyst.service.server import Address, listening, prepare, run
    from midpoint.analyst.service.settings import Settings
    from midpoint.analyst.storage.connection import sqlite_url
    from midpoint.cli.serve import DATABASE

    console.rule("[bold]6  A service of your own", align="left")
    analyst.publish(site)
    settings = Settings(str(site), sqlite_url(site / DATABASE), log=False)
    prepare(settings)
    address = Address(port=port)
    with listening(address) as (opened, url):
        console.print(f"It listens at {url}, for this machine only. Try it:", highlight=False)
        console.print(f"  in a browser             {url}", markup=False)
        console.print(
            f"  in another terminal      {_command()} answer {url}", markup=False, soft_wrap=True
        )
        console.print(f"  the public disclosure    {url}/v1/disclosure", markup=False)
        console.print("Press Ctrl-C to end it.")
        run(settings, address, opened)
