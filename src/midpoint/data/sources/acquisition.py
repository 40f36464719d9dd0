"""Get a known data set into the platform's data directory."""

import logging
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from midpoint.data.sources.catalogue import KnownSource, find_source, known_source, own_directory
from midpoint.data.sources.download import Progress, fetch, fetch_text, md5_in
from midpoint.data.sources.wheel import movielens_100k_from_wheel
from midpoint.errors import MidpointError

Route = Literal["official", "wheel"]
"""Where a data set comes from: its publisher, or a Python package that carries it."""
WHEEL_DIRECTORY = "ml-100k-recbole"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Obtained:
    """A data set that is here now."""

    path: Path
    """Where it is."""
    route: Route | None
    """How it came; None if it was here before."""


def get(
    name: str,
    *,
    route: Route | None = None,
    again: bool = False,
    progress: Progress | None = None,
) -> Obtained:
    """Download a known data set, unless it is here already.

    Args:
        name: Its name in the catalogue.
        route: Where to take it from; where not given the publisher, then the package.
        again: Download it even if it is here.
        progress: Called with how far the download is.
    """
    source = known_source(name)
    present = find_source(source)
    if present is not None and not again and route is None:
        return Obtained(present, None)
    if source.url is None:
        raise MidpointError(f"{name}: {source.obtain} The data directory is {own_directory()}")
    if route == "wheel" and not source.from_wheel:
        raise MidpointError(f"no Python package carries {name}; leave the source open")
    if route == "wheel":
        return _from_wheel()
    try:
        return _from_publisher(source, source.url, progress)
    except MidpointError as error:
        if route == "official" or not source.from_wheel:
            raise
        logger.warning("%s. Trying the Python package that carries %s", error, name)
        try:
            return _from_wheel()
        except MidpointError as second:
            raise MidpointError(f"{error}. And from the package: {second}") from second


def _from_publisher(source: KnownSource, url: str, progress: Progress | None) -> Obtained:
    target = own_directory() / url.rsplit("/", 1)[-1]
    published = fetch_text(url + ".md5")
    checksum = md5_in(published) if published else None
    if checksum is None:
        logger.warning("%s.md5 holds no checksum; only the zip's own are checked", url)
    # The zip is tried under a name of its own, so that a broken one never replaces a whole one.
    arrived = target.with_name(target.name + ".new")
    fetch(url, arrived, checksum=checksum, progress=progress)
    try:
        with zipfile.ZipFile(arrived) as archive:
            damaged = archive.testzip()
    except zipfile.BadZipFile as error:
        damaged = str(error)
    if damaged is not None:
        arrived.unlink()
        raise MidpointError(f"{url} is not a whole zip ({damaged}); {source.name} was not kept")
    arrived.replace(target)
    return Obtained(target, "official")


def _from_wheel() -> Obtained:
    target = own_directory() / WHEEL_DIRECTORY
    movielens_100k_from_wheel(target)
    return Obtained(target, "wheel")
