"""All reports that a service kept, one after the other, for training on them."""

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from midpoint.analyst.storage.connection import connect, parsed
from midpoint.analyst.storage.tables import answer
from midpoint.errors import MidpointError
from midpoint.wire import Report

AT_ONCE = 1000
"""Reports that are fetched together."""
_ALL = select(answer.c.token, answer.c.report).order_by(answer.c.token, answer.c.number)


def kept_reports(url: str) -> Iterator[tuple[str, Report]]:
    """Read every report with the pseudonym that sent it, in the order in which each sent hers.

    The service may go on meanwhile: this is one transaction that only reads.
    """
    address = parsed(url)
    if address.get_backend_name() == "sqlite" and not Path(str(address.database)).exists():
        raise MidpointError(f"there is no database {address.database}; name the one of the service")
    engine = connect(url, writing=False)
    try:
        with engine.connect().execution_options(yield_per=AT_ONCE) as connection:
            for token, report in connection.execute(_ALL):
                yield bytes(token).hex(), Report.parse(bytes(report))
    except SQLAlchemyError as error:
        raise MidpointError(
            f"the database cannot be read ({type(error).__name__}); check its address, and that it"
            " is the service's"
        ) from error
    finally:
        engine.dispose()
