"""All that a service kept, one after the other, for training: reports, and its panel."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.exc import SQLAlchemyError

from midpoint.analyst.storage.connection import connect, parsed
from midpoint.analyst.storage.tables import answer, panel
from midpoint.errors import MidpointError
from midpoint.wire import PanelRatings, Report

AT_ONCE = 1000
"""Rows that are fetched together."""
_REPORTS = select(answer.c.token, answer.c.report).order_by(answer.c.token, answer.c.number)
_PANEL = select(panel.c.joined, panel.c.shared).order_by(panel.c.joined, panel.c.token)


def kept_reports(url: str) -> Iterator[tuple[str, Report]]:
    """Read every report with the pseudonym that sent it, in the order in which each sent hers."""
    for token, report in _rows(url, _REPORTS):
        yield bytes(token).hex(), Report.parse(bytes(report))


def kept_panel(url: str) -> Iterator[tuple[int, PanelRatings]]:
    """Read when each member of the panel joined, and what she shares; the first comes first."""
    for joined, shared in _rows(url, _PANEL):
        yield int(joined), PanelRatings.parse(bytes(shared))


def _rows(url: str, query: Select[Any]) -> Iterator[Any]:
    """Read rows in one transaction that only reads; the service may go on meanwhile."""
    address = parsed(url)
    if address.get_backend_name() == "sqlite" and not Path(str(address.database)).exists():
        raise MidpointError(f"there is no database {address.database}; name the one of the service")
    engine = connect(url, writing=False)
    try:
        with engine.connect().execution_options(yield_per=AT_ONCE) as connection:
            yield from connection.execute(query)
    except SQLAlchemyError as error:
        raise MidpointError(
            f"the database cannot be read ({type(error).__name__}); check its address, and that"
            " `midpoint serve` of this version was started on it once, which upgrades its tables"
        ) from error
    finally:
        engine.dispose()
