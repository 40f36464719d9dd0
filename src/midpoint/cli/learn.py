"""`midpoint learn`: a site learns from its panel and its reports, and shows the new model."""

import json
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from rich.console import Console

from midpoint import __version__
from midpoint.cli.options.expansion import expand
from midpoint.cli.options.reports import DATABASE, ReportOptions, joined_volunteers
from midpoint.cli.options.service import DatabaseOption
from midpoint.cli.options.source import DataOptions
from midpoint.cli.options.training import FitOptions
from midpoint.cli.output.bars import training_bar
from midpoint.cli.output.leak_table import show_leak
from midpoint.cli.publish import make_current
from midpoint.cli.serve import SiteArgument
from midpoint.cli.train import said, summarize
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst import ItemProfiles
    from midpoint.analyst.disclose.site import Site
    from midpoint.analyst.learn.reports import CollectedReports
    from midpoint.data import Ratings
    from midpoint.wire import Disclosure

MODEL, BASIS = "model", "basis.json"


@dataclass(frozen=True, kw_only=True)
class PanelData(DataOptions):
    """The panel's ratings: a table, and what people shared who joined at the service."""

    PANEL: ClassVar = "Panel"

    source: Annotated[
        str,
        typer.Option(
            "--panel",
            help="Ratings of people who share their feature, as `midpoint train` takes them. Unless"
            " given, those who joined at the service are the whole panel. The items of both are the"
            " ones that are disclosed.",
            show_default=False,
        ),
    ] = ""
    volunteers: Annotated[
        bool,
        typer.Option(
            "--volunteers/--no-volunteers",
            help="Whether to train on people who joined the panel at the service, too (`midpoint"
            " panel join`).",
        ),
    ] = True


@expand
def learn_command(
    *,
    site: SiteArgument,
    feature: Annotated[
        list[str] | None,
        typer.Option(help="The private feature; the site's own unless given.", show_default=False),
    ] = None,
    data: PanelData,
    fit: FitOptions,
    leak: Annotated[
        float | None,
        typer.Option(
            min=0.5,
            max=1,
            help="Leak budget, as in `midpoint train`; the one of the site's model unless given,"
            " and 1 is none.",
        ),
    ] = None,
    asked: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|all|prove",
            help="What people were asked, as in `midpoint train`; for a site of assigned sets.",
        ),
    ] = None,
    least_people: Annotated[
        int, typer.Option(min=1, help="Refuse a category of fewer people.")
    ] = 10,
    database: DatabaseOption = None,
    hold: Annotated[
        bool,
        typer.Option(
            "--hold",
            help="Train, and do not publish yet: look at the model in SITE.learned/model first. The"
            " same command without --hold goes on from there.",
        ),
    ] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, help="How many threads; unless given, one per core.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides every random draw.")] = 0,
) -> None:
    """Train from the panel and the site's reports, and switch the site to the new model.

    A running service goes on meanwhile, and no request is dropped. The scheme stays the site's. A
    trained model is kept in SITE.learned until it is published; if the command ends before that,
    run it again.
    """
    from midpoint.analyst import train
    from midpoint.analyst.disclose.site import KEY, Site
    from midpoint.analyst.disclose.specification import SchemeSpec

    console = Console(highlight=False, soft_wrap=True)
    target = Site(site)
    before = _current(target)
    if not hold and not (site / KEY).exists():
        raise MidpointError(
            f"{site / KEY} is not here, and nothing can be signed without it; learn where the key"
            " is, or train with --hold"
        )
    spec = SchemeSpec.of(before)
    if spec.assigned != (asked is not None):
        wanted = "name what they were asked, by --asked" if spec.assigned else "leave out --asked"
        raise MidpointError(
            f"people {'do not ' * spec.assigned}choose what they rate at {site}; {wanted}"
        )
    names = tuple(feature or (part.name for part in before.features))
    with console.status("Reading the panel"):
        ratings = _panel(data, target, database, names, console, seed)
    console.print(ratings.summary, markup=False)
    budget = target.profiles(before.digest).leak if leak is None else leak
    factorizer = fit.factorizer(seed, threads)
    settings = {key: value for key, value in asdict(factorizer).items() if key != "threads"}
    basis = {
        "panel": ratings.digest,
        "list": target.chain().entries[-1].digest,  # type: ignore[union-attr]
        "scheme": str(spec),
        "leak": budget,
        "asked": asked,
        "least_people": least_people,
        "factorizer": settings,
        "version": __version__,
    }
    learned = Learned(site.resolve().with_name(f"{site.resolve().name}.learned"))
    profiles = learned.model(basis)
    if profiles is None:
        with console.status("Reading reports"):
            reports = _reports(site, database)
        if reports is None:
            console.print("There are no reports yet: only the panel is used")
        started = time.perf_counter()
        with training_bar(console) as report:
            profiles = train(
                ratings,
                names,
                factorizer=factorizer,
                scheme=str(spec),
                leak=None if budget == 1 else budget,
                least_people=least_people,
                asked=asked,
                progress=report,
                reports=said(console, reports),
            )
        learned.keep(profiles, basis)
        summarize(console, profiles, time.perf_counter() - started)
        show_leak(console, profiles, ratings, factorizer)
    else:
        console.print(f"Going on from {learned.root}, which was trained on this panel")
    if hold:
        console.print(
            f"Not published; the model is in {learned.root / MODEL}. The same command without"
            " --hold publishes it."
        )
        return
    with console.status("Publishing"):
        switch = make_current(profiles, target)
    learned.remove()
    console.print(switch.words(target), markup=False)


@dataclass(frozen=True)
class Learned:
    """A trained model that is kept beside its site until it is published."""

    root: Path
    """Its directory: the model, and what it was made from."""

    def model(self, basis: dict[str, Any]) -> "ItemProfiles | None":
        """Return the model that is kept, if it was made from this; None if there is none."""
        from midpoint.analyst import ItemProfiles

        try:
            kept = json.loads((self.root / BASIS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return ItemProfiles.load(self.root / MODEL) if kept == _plain(basis) else None

    def keep(self, profiles: "ItemProfiles", basis: dict[str, Any]) -> None:
        """Keep a model; what it was made from is written last, so that half of it is none."""
        from midpoint.files import replace_file

        (self.root / BASIS).unlink(missing_ok=True)
        profiles.save(self.root / MODEL)
        replace_file(self.root / BASIS, json.dumps(_plain(basis)).encode())

    def remove(self) -> None:
        """Remove what was kept, and nothing else."""
        (self.root / BASIS).unlink(missing_ok=True)
        shutil.rmtree(self.root / MODEL, ignore_errors=True)
        if not any(self.root.iterdir()):
            self.root.rmdir()


def _plain(basis: dict[str, Any]) -> Any:
    """Return it as JSON reads it back."""
    return json.loads(json.dumps(basis))


def _current(site: "Site") -> "Disclosure":
    """Read what is current; a site that shows nothing has no scheme to stay with."""
    before = site.current()
    if before is None:
        raise MidpointError(
            f"{site.root} shows nothing yet; train a first model with `midpoint train`, which"
            " measures the scheme, and publish it there"
        )
    return before


def _panel(
    data: PanelData,
    site: "Site",
    database: str | None,
    names: tuple[str, ...],
    console: Console,
    seed: int,
) -> "Ratings":
    """Read the table, and add those who joined at the service."""
    from midpoint.analyst.learn.volunteers import Volunteers, together

    before = _current(site)
    table = data.load(seed) if data.source else None
    if table is not None:
        _require_same(table, names, before, site.root)
    volunteers = Volunteers(None)
    if data.volunteers:
        volunteers = joined_volunteers(site, database)
        if volunteers.ratings is not None or volunteers.left_out:
            console.print(str(volunteers), markup=False)
    if table is not None:
        return together(table, volunteers)
    if volunteers.ratings is None:
        raise MidpointError(
            f"nobody joined the panel at {site.root}; name a table of ratings by --panel"
        )
    return volunteers.ratings


def _require_same(
    ratings: "Ratings", names: tuple[str, ...], before: "Disclosure", site: Path
) -> None:
    """Refuse a panel that devices would refuse, before hours of training."""
    from midpoint.analyst.learn.admission import Reason, obstacle

    reason = obstacle(before, ratings.scale, ratings.feature(*names))
    if reason is Reason.OTHER_FEATURE:
        pinned = "; ".join(f"{part.name}: {', '.join(part.categories)}" for part in before.features)
        parts = ratings.feature(*names).parts
        here = "; ".join(f"{name}: {', '.join(categories)}" for name, categories in parts)
        raise MidpointError(
            f"devices hold {site} to {pinned}, and the panel has {here}; correct the table of"
            " users, or begin a new site"
        )
    if reason is Reason.OTHER_SCALE:
        raise MidpointError(
            f"devices hold {site} to another scale than the panel's ({ratings.scale}); say what a"
            " rating can be with --scale, or begin a new site"
        )


def _reports(site: Path, database: str | None) -> "CollectedReports | None":
    """Read all reports of the site; None if nobody reported anything."""
    if database is None and not (site / DATABASE).exists():
        return None
    options = ReportOptions(reports=database or str(site), reported_under=[site])
    collected = options.collect()
    return collected if collected is not None and len(collected) else None
