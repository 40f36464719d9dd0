"""Spark while one command runs: its session, its notes, how far it has come."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

from midpoint.cli.output.notes import show_notes
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def spark(master: str | None) -> Iterator["SparkSession"]:
    """Run Spark for one command; a session that ran before goes on after it."""
    from pyspark.errors import PythonException
    from pyspark.sql import SparkSession

    from midpoint.analyst.engines.spark import open_session

    running = SparkSession.getActiveSession()
    show_notes()
    with Console(stderr=True).status("Starting Spark"):
        session = open_session(master)
    try:
        yield session
    except PythonException as error:
        missing = re.search(r"ModuleNotFoundError: (.*)", str(error))
        if missing is None:
            raise
        raise MidpointError(
            f"a worker of Spark lacks what this machine has ({missing[1]}); install"
            " midpoint[spark] on every machine, and name its Python by PYSPARK_PYTHON"
        ) from error
    finally:
        if running is None:
            session.stop()


@contextmanager
def at_work(session: "SparkSession", what: str) -> Iterator[None]:
    """Show what Spark does, and how far its job has come."""
    from midpoint.analyst.engines.spark import followed

    with Console(stderr=True).status(what) as status:

        def report(share: float) -> None:
            status.update(f"{what}, {share:.0%}")

        with followed(session.sparkContext, report):
            yield
