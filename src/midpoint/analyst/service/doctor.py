"""What `midpoint doctor` looks at: everything that a service needs, without changing any of it."""

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from midpoint.analyst.disclose.chain import verified_entries
from midpoint.analyst.disclose.site import KEY, Site
from midpoint.analyst.storage.connection import connect, parsed
from midpoint.analyst.storage.tables import panel, pseudonym
from midpoint.analyst.storage.upgrade import is_current
from midpoint.errors import MidpointError
from midpoint.wire import Entry, SigningKey

FULL, TIGHT = 100 * 2**20, 2**30
"""Bytes of free space below which a disk counts as full, and as getting full."""
DRIFT = 5
"""Seconds by which the clock may differ from the database's."""


class Level(StrEnum):
    """How a check ended."""

    FINE = "ok"
    NOTE = "note"
    """It works, and somebody should know."""
    FAULT = "fault"
    """It does not work, or will soon not."""


Check = Callable[[], tuple[Level, str]]


@dataclass(frozen=True)
class Finding:
    """What a check says."""

    check: str
    """Its name: key, permissions, database, disk, chain or clock."""
    level: Level
    """How it ended."""
    sentence: str
    """What was seen, and what to do about it."""


def examine(site: Site, database: str, now: int | None = None) -> Iterator[Finding]:
    """Yield what is right and wrong with a site and its database; nothing is written.

    Args:
        site: The directory that `midpoint serve` is to serve.
        database: URL of its database.
        now: The time, in whole seconds since 1970; by the clock unless given.
    """
    if not site.root.is_dir():
        sentence = f"{site.root} is no directory; run: midpoint publish MODEL {site.root}"
        yield Finding("site", Level.FAULT, sentence)
        return
    time_now = int(time.time()) if now is None else now
    checks: dict[str, Check] = {
        "key": lambda: _key(site),
        "permissions": lambda: _permissions(site, database),
        "database": lambda: _database(database),
        "disk": lambda: _disk(site, database),
        "chain": lambda: _chain(site),
        "clock": lambda: _clock(site, database, time_now),
    }
    for name, check in checks.items():
        try:
            level, sentence = check()
        except (MidpointError, OSError) as error:
            level, sentence = Level.FAULT, str(error)
        except SQLAlchemyError as error:
            sentence = str(getattr(error, "orig", None) or error)
            level, sentence = Level.FAULT, f"the database does not answer ({sentence.strip()})"
        yield Finding(name, level, sentence)


def _key(site: Site) -> tuple[Level, str]:
    """Look whether the key is there, for its owner only, and the one that signed the list."""
    path = site.root / KEY
    newest = _newest(site)
    if not path.exists():
        return Level.NOTE, f"{path} is not here: this machine can serve, and not publish"
    if not os.access(path, os.R_OK):
        return Level.NOTE, f"{path} is another user's: this one can serve, and not publish"
    key = SigningKey.load(path)
    if newest is not None and newest.next_key != key.public:
        return Level.FAULT, f"{path} is not the key of the list; restore the one that devices know"
    return Level.FINE, f"{path} signs as {key.public[:16]}...; keep a copy of it offline"


def _permissions(site: Site, database: str) -> tuple[Level, str]:
    """Look for files that others may change, or that this user cannot use."""
    if os.name != "posix":
        return Level.NOTE, "not looked at on this system"
    paths = (site.root, *sorted(site.root.rglob("*")))
    changeable = [path for path in paths if _mode(path) & 0o002 and not path.is_symlink()]
    if changeable:
        return Level.FAULT, f"anybody may change {changeable[0]}; run: chmod -R o-w {site.root}"
    unreadable = [path for path in paths if path.suffix != ".pem" and not os.access(path, os.R_OK)]
    if unreadable:
        return Level.FAULT, f"{unreadable[0]} cannot be read; run as its owner, or chown it"
    file = _sqlite_file(database)
    return (Level.FINE, "nobody else may change the site") if file is None else _file(file)


def _file(file: Path) -> tuple[Level, str]:
    """Look who may use an SQLite file."""
    if not os.access(file.parent, os.W_OK) or (file.exists() and not os.access(file, os.W_OK)):
        return Level.FAULT, f"{file} cannot be written; run as its owner, or chown {file.parent}"
    if file.exists() and _mode(file) & 0o077:
        return Level.FAULT, f"others may read {file}; run: chmod 600 {file}*"
    return Level.FINE, "nobody else may change the site, or read the database"


def _database(url: str) -> tuple[Level, str]:
    """Open a transaction that writes, look at the layout, and take it back."""
    file = _sqlite_file(url)
    if file is not None and not file.exists():
        return Level.NOTE, f"{file} is not made yet; `midpoint serve` makes it"
    engine = connect(url, writing=True)
    try:
        with engine.connect() as connection:
            kind = connection.dialect.name
            if file is not None:
                damage = connection.execute(text("PRAGMA quick_check(1)")).scalar()
                if damage != "ok":
                    return Level.FAULT, f"{file} is damaged ({damage}); restore it from a copy"
            elif _is_read_only(connection):
                return Level.FAULT, "the database takes no writes; name the primary server"
            if not is_current(connection):
                sentence = f"{kind} answers; `midpoint serve` makes its tables or upgrades them"
                return Level.NOTE, sentence
            people, members = (
                connection.execute(select(func.count()).select_from(table)).scalar()
                for table in (pseudonym, panel)
            )
            kept = f"pseudonyms kept: {people:,}; members of the panel: {members:,}"
            return Level.FINE, f"{kind} answers and takes writes; {kept}"
    finally:
        engine.dispose()


def _disk(site: Site, database: str) -> tuple[Level, str]:
    """Look how much space is left where the site and an SQLite file are."""
    file = _sqlite_file(database)
    paths = {site.root, *([] if file is None else [file.parent])}
    free = {path: shutil.disk_usage(path).free for path in sorted(paths)}
    path = min(free, key=lambda path: free[path])
    said = f"{free[path] / 2**30:.1f} GiB free at {path}"
    if free[path] < FULL:
        return Level.FAULT, f"{said}; free some, reports are declined on a full disk"
    return (Level.NOTE, f"{said}; free some soon") if free[path] < TIGHT else (Level.FINE, said)


def _chain(site: Site) -> tuple[Level, str]:
    """Read all that the list names, as devices will; the model behind the newest entry, too."""
    chain = site.chain()
    if chain is None:
        return Level.FAULT, f"nothing is published; run: midpoint publish MODEL {site.root}"
    entries = verified_entries(chain)
    for entry in entries:
        site.disclosure(entry.disclosure)
        if entry.catalogue is not None:
            site.catalogue(entry.catalogue)
    newest = entries[-1]
    certificates = len(site.certificates(newest.disclosure).certificates)
    site.profiles(newest.disclosure)
    sentence = f"entries signed and linked: {len(entries)}; certificates of the newest:"
    return Level.FINE, f"{sentence} {certificates}"


def _clock(site: Site, database: str, now: int) -> tuple[Level, str]:
    """Compare the clock with the list's times, and with the database's clock."""
    chain = site.chain()
    times = [] if chain is None else [signed.open(Entry).time for signed in chain.entries]
    ahead = max(times, default=now) - now
    if ahead > DRIFT:
        return Level.FAULT, (
            f"the newest entry was signed {ahead:,} s from now: set the clock, by NTP; grace is"
            " counted from that time"
        )
    if _sqlite_file(database) is not None:
        return Level.FINE, "not before the newest entry of the list"
    engine = connect(database, writing=False)
    try:
        with engine.connect() as connection:
            there = connection.execute(text("SELECT extract(epoch FROM clock_timestamp())"))
            drift = abs(float(there.scalar() or 0) - now)
    finally:
        engine.dispose()
    if drift > DRIFT:
        return Level.FAULT, f"{drift:.0f} s from the database's clock: set both, by NTP"
    return Level.FINE, "not before the newest entry of the list, and as the database's"


def _newest(site: Site) -> Entry | None:
    chain = site.chain()
    return None if chain is None else chain.entries[-1].open(Entry)


def _sqlite_file(url: str) -> Path | None:
    address = parsed(url)
    return Path(str(address.database)) if address.get_backend_name() == "sqlite" else None


def _is_read_only(connection: Connection) -> bool:
    return connection.execute(text("SHOW transaction_read_only")).scalar() == "on"


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
