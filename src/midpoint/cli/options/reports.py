"""What a service kept, for training: reports beside a panel, and people who joined the panel."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst.disclose.site import Site
    from midpoint.analyst.learn.reports import CollectedReports
    from midpoint.analyst.learn.volunteers import Volunteers
    from midpoint.wire import Disclosure

DATABASE = "midpoint.sqlite"
"""The database that a service keeps in its site unless another is named."""


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What people reported who did not share their feature."""

    PANEL: ClassVar = "Reports"

    reports: Annotated[
        str | None,
        typer.Option(
            help="Protected reports of other people, to learn items from beside the panel: a site"
            " that `midpoint serve` serves, the URL of its database, or your own CSV or Parquet"
            " table with the columns pseudonym, disclosure (its digest), item and value. How"
            " categories differ is learned from the panel alone.",
            metavar="<site, URL or table>",
            show_default=False,
        ),
    ] = None
    reported_under: Annotated[
        list[Path] | None,
        typer.Option(
            help="Where the disclosures are that the reports answer: a site, or files as `midpoint"
            " disclose` writes them. For a table or a database; a site has its own.",
            metavar="<site or file>",
            show_default=False,
        ),
    ] = None

    def collect(self) -> "CollectedReports | None":
        """Read the reports, if any are named."""
        from midpoint.analyst.learn.reports import CollectedReports

        if self.reports is None:
            if self.reported_under:
                raise MidpointError("--reported-under goes with --reports; name them, or leave it")
            return None
        path = Path(self.reports)
        where = list(self.reported_under or ([path] if path.is_dir() else []))
        if not where:
            raise MidpointError(
                f"--reports {self.reports}: say which disclosures were answered, by"
                " --reported-under SITE, or by the files that `midpoint disclose` wrote"
            )
        disclosures = [disclosure for source in where for disclosure in _disclosures(source)]
        if "://" not in self.reports and not (path / "list.json").exists():
            return CollectedReports.read(path, disclosures)
        from midpoint.analyst.storage.collection import kept_reports
        from midpoint.analyst.storage.connection import sqlite_url

        url = self.reports if "://" in self.reports else sqlite_url(path / DATABASE)
        name = "the database" if "://" in self.reports else str(path)
        return CollectedReports.of(kept_reports(url), disclosures, name)


def _disclosures(path: Path) -> "tuple[Disclosure, ...]":
    """Read the disclosures of a site, or one from a file."""
    from midpoint.analyst.disclose.site import Site
    from midpoint.cli.options.messages import read_message
    from midpoint.wire import Disclosure

    if path.is_dir():
        return Site(path).disclosures()
    return (read_message(path, Disclosure),)


def joined_volunteers(site: "Site", database: str | None) -> "Volunteers":
    """Read all who joined the panel at a service."""
    from midpoint.analyst.learn.volunteers import Volunteers
    from midpoint.analyst.storage.collection import kept_panel
    from midpoint.analyst.storage.connection import sqlite_url
    from midpoint.wire import Entry

    before, chain = site.current(), site.chain()
    if (
        before is None
        or chain is None
        or (database is None and not (site.root / DATABASE).exists())
    ):
        return Volunteers(None)
    shown = chain.entries[-1].open(Entry).catalogue
    titles = {} if shown is None else _titles(site, shown)
    url = database or sqlite_url(site.root / DATABASE)
    published = {disclosure.digest: disclosure for disclosure in site.disclosures()}
    return Volunteers.of(kept_panel(url), published, before, titles)


def _titles(site: "Site", digest: str) -> dict[str, str]:
    catalogue = site.catalogue(digest)
    return dict(zip(catalogue.items, catalogue.titles, strict=True))
