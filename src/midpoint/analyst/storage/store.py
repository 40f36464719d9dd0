"""Read a history; write what many requests decide in one transaction."""

import secrets
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from sqlalchemy import (
    BindParameter,
    Connection,
    Engine,
    LargeBinary,
    Select,
    any_,
    bindparam,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from midpoint.analyst.storage.connection import BUSY, connect
from midpoint.analyst.storage.records import Decision, History, KeptReport, KeptRound, Member, Work
from midpoint.analyst.storage.summary import Summary, Sums
from midpoint.analyst.storage.tables import answer, panel, pseudonym, question
from midpoint.analyst.storage.upgrade import is_current

_TOKENS: BindParameter[Any] = bindparam("tokens", expanding=True)
# One text however many there are, so that the server plans it once.
_IS_ONE_OF = pseudonym.c.token == any_(bindparam("tokens", type_=postgresql.ARRAY(LargeBinary)))
_KEPT = (
    select(
        pseudonym.c.token,
        pseudonym.c.created,
        *(question.c[name] for name in ("number", "disclosure", "solicitation", "opened")),
        *(answer.c[name] for name in ("id", "report", "received")),
    )
    .outerjoin(question, question.c.token == pseudonym.c.token)
    .outerjoin(answer, (answer.c.token == question.c.token) & (answer.c.round == question.c.number))
    .order_by(pseudonym.c.token, question.c.number)
)
_SUMMARIES = select(
    *(pseudonym.c[name] for name in ("token", "created", "mark", "summary", "model", "sums"))
)
_SUMS = select(*(pseudonym.c[name] for name in ("token", "model", "sums")))


def _of_many(query: Select[Any]) -> dict[str, Select[Any]]:
    return {
        "sqlite": query.where(pseudonym.c.token.in_(_TOKENS)),
        "postgresql": query.where(_IS_ONE_OF),
    }


_KEPT_OF_MANY, _SUMMARIES_OF_MANY, _SUMS_OF_MANY = map(_of_many, (_KEPT, _SUMMARIES, _SUMS))
_LOCKED_SUMMARIES = _of_many(_SUMMARIES.with_for_update())
_LOCK = select(pseudonym.c.token).where(_IS_ONE_OF).order_by(pseudonym.c.token).with_for_update()
_BEGIN = {
    "sqlite": sqlite.insert(pseudonym).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(pseudonym).on_conflict_do_nothing(),
}
# The same, and the row is locked if it was there: SQLite has locked all of them by then.
_LOCKED_BEGIN = _BEGIN | {
    "postgresql": postgresql.insert(pseudonym).on_conflict_do_update(
        index_elements=[pseudonym.c.token], set_={"created": pseudonym.c.created}
    )
}
_OPEN, _KEEP = insert(question), insert(answer)
_UPDATE = (
    update(pseudonym)
    .where(pseudonym.c.token == bindparam("key"), pseudonym.c.mark == bindparam("read"))
    .values({name: bindparam(f"new_{name}") for name in ("mark", "summary", "model", "sums")})
)
_ERASE = delete(pseudonym).where(pseudonym.c.token.in_(_TOKENS))
_LEAVE = delete(panel).where(panel.c.token.in_(_TOKENS))
_MEMBER = select(panel.c.joined, panel.c.disclosure, panel.c.shared).where(
    panel.c.token == bindparam("token")
)


def _joining(kind: Any) -> Any:
    """Add a member, or what she shares now; she joined when she did so first."""
    made = kind.insert(panel)
    new = {name: made.excluded[name] for name in ("disclosure", "shared")}
    return made.on_conflict_do_update(index_elements=[panel.c.token], set_=new)


_JOIN = {"sqlite": _joining(sqlite), "postgresql": _joining(postgresql)}

FAILED_FOR = 30.0
"""Seconds for which a failed write counts as a database that is not ready."""
TRIES = 3
"""How often a request is tried alone: a deadlock of two others may end it, too."""
CLASHES = frozenset({"40001", "40P01"})
"""What PostgreSQL calls transactions that exclude each other: not serializable, deadlock."""
Reply = Any
Row = dict[str, Any]


class UnavailableError(Exception):
    """The database does not answer now: locked, full, away. Asking again later may help."""


class _InTheWayError(Exception):
    """Another worker's transaction and this one cannot both be as they are."""


class Storage:
    """One worker's way to the database: a connection that writes, and some that read."""

    def __init__(self, url: str, *, busy: float = BUSY) -> None:
        self._failed: tuple[float, str] | None = None
        self._writing = connect(url, writing=True, busy=busy)
        self._reading = connect(url, writing=False, busy=busy)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._writing.dispose()
        self._reading.dispose()

    def check(self) -> None:
        """Raise unless the database answers, has the right layout, and took the last write.

        A write that failed, as on a full disk, counts for a while: without requests nothing is
        written, and nobody would see that there is space again.
        """
        if self._failed is not None and time.monotonic() < self._failed[0] + FAILED_FOR:
            raise UnavailableError(f"the last write failed ({self._failed[1]})")
        with _available(self._reading) as connection:
            if not is_current(connection):
                raise UnavailableError("the database has another layout; restart the service")

    def history(self, token: bytes) -> History | None:
        """Return all that is kept of a pseudonym, which may be much; None if it is not known."""
        with _available(self._reading) as connection:
            return _histories(connection, [token]).get(token)

    def member(self, token: bytes) -> Member | None:
        """Return what a member of the panel shared; None if she is not in it."""
        with _available(self._reading) as connection:
            row = connection.execute(_MEMBER, {"token": token}).one_or_none()
        return None if row is None else Member(row.joined, row.disclosure, bytes(row.shared))

    def summaries(self, tokens: Sequence[bytes]) -> dict[bytes, Summary]:
        """Return the summaries of those that are known."""
        with _available(self._reading) as connection:
            return _summaries(connection, tokens)[0]

    def sums(self, tokens: Sequence[bytes]) -> dict[bytes, Sums | None]:
        """Return the statistics of those that are known, where they are kept."""
        with _available(self._reading) as connection:
            rows = connection.execute(
                _SUMS_OF_MANY[connection.dialect.name], {"tokens": list(tokens)}
            )
            return {bytes(token): _sums(model, sums) for token, model, sums in rows}

    def write(self, works: Sequence[Work]) -> list[Reply | Exception]:
        """Carry out requests in one transaction; on return they are on disk.

        Each gets its reply, or the exception by which it declined. Nothing is locked while they
        decide: a summary is written only over the one that was read, and rounds and reports are
        numbered in their primary keys, so writing fails if another worker wrote first. Before
        anything is written, its pseudonyms are locked in ascending order, so that workers hardly
        ever deadlock.

        If another worker was in the way, the requests are repeated one by one, and see what it
        wrote. Each locks its pseudonym before it reads, so nobody can be in the way again.
        """
        try:
            return self._write(works)
        except _InTheWayError:
            return [self._write_one(work) for work in works]

    def _write(self, works: Sequence[Work], *, lock: bool = False) -> list[Reply | Exception]:
        try:
            with _available(self._writing) as connection:
                replies = _carry_out(connection, works, lock=lock)
        except UnavailableError as error:
            if "locked" not in str(error):  # which passes by itself
                self._failed = time.monotonic(), str(error)
            raise
        self._failed = None
        return replies

    def _write_one(self, work: Work) -> Reply | Exception:
        for _ in range(TRIES):
            try:
                return self._write([work], lock=True)[0]
            except _InTheWayError as error:
                why = error
        return UnavailableError(f"another request was in the way ({why})")


@contextmanager
def _available(engine: Engine) -> Iterator[Connection]:
    """Open a transaction and commit it; what the database fails at is that it is unavailable."""
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        clash = isinstance(error, IntegrityError) or getattr(error.orig, "sqlstate", "") in CLASHES
        raise (_InTheWayError if clash else UnavailableError)(_first_line(error)) from error
    except SQLAlchemyError as error:  # no connection came free in time
        raise UnavailableError(type(error).__name__) from error


def _first_line(error: DBAPIError) -> str:
    """Return what the database says, without the details below it: they may name a pseudonym."""
    return f"{type(error.orig).__name__}: {error.orig}".partition("\n")[0]


def _carry_out(
    connection: Connection, works: Sequence[Work], *, lock: bool
) -> list[Reply | Exception]:
    begun = {work.token: work.begins for work in works if work.begins is not None}
    _begin(connection, begun, lock=lock)
    known, marks = _summaries(connection, sorted({work.token for work in works}), lock=lock)
    batch = _Batch(known)
    replies = [batch.take(work) for work in works]
    _lock(connection, batch.changed.keys() | batch.erased)
    if batch.erased:
        connection.execute(_ERASE, {"tokens": sorted(batch.erased)})
        back = {token for token, _ in batch.rounds} & batch.erased
        marks |= _begin(connection, {token: begun[token] for token in back})
    _update(connection, batch.changed, marks)
    for statement, kept in ((_OPEN, batch.rounds), (_KEEP, batch.reports)):
        if kept:
            connection.execute(statement, [kept[key] for key in sorted(kept)])
    if batch.left:
        connection.execute(_LEAVE, {"tokens": sorted(batch.left)})
    if batch.joined:
        rows = [batch.joined[token] for token in sorted(batch.joined)]
        connection.execute(_JOIN[connection.dialect.name], rows)
    return replies


def _begin(
    connection: Connection, begun: Mapping[bytes, int], *, lock: bool = False
) -> dict[bytes, int]:
    """Make pseudonyms that are not there yet; return the marks of those that were not."""
    marks = {token: _mark() for token in sorted(begun)}
    if begun:
        rows = [{"token": t, "created": begun[t], "mark": mark} for t, mark in marks.items()]
        connection.execute((_LOCKED_BEGIN if lock else _BEGIN)[connection.dialect.name], rows)
    return marks


def _lock(connection: Connection, tokens: Collection[bytes]) -> None:
    """Lock pseudonyms in ascending order, as everybody does, so that there is no deadlock."""
    if tokens and connection.dialect.name == "postgresql":  # SQLite has locked all of them
        connection.execute(_LOCK, {"tokens": sorted(tokens)})


def _mark() -> int:
    return secrets.randbits(62)


def _update(
    connection: Connection, changed: Mapping[bytes, Summary], marks: Mapping[bytes, int]
) -> None:
    """Write summaries, each over the one that was read; if another came between, none of them."""
    if not changed:
        return
    if changed.keys() - marks.keys():
        raise _InTheWayError("a pseudonym was erased before it was read")
    rows = [_summary_row(token, marks[token], changed[token]) for token in sorted(changed)]
    if connection.execute(_UPDATE, rows).rowcount != len(rows):
        raise _InTheWayError("a summary was changed meanwhile")


class _Batch:
    """What a transaction will write; each request sees what those before it decided."""

    def __init__(self, known: dict[bytes, Summary]) -> None:
        self._known = known
        self.rounds: dict[tuple[bytes, int], Row] = {}
        self.reports: dict[tuple[bytes, int], Row] = {}
        self.changed: dict[bytes, Summary] = {}
        self.erased: set[bytes] = set()
        self.joined: dict[bytes, Row] = {}
        self.left: set[bytes] = set()

    def take(self, work: Work) -> Reply | Exception:
        """Let a request decide; if it declines, or fails, that is its reply and nothing is kept."""
        summary = self._known.get(work.token)
        try:
            decision = work.decide(summary)
        except Exception as error:  # noqa: BLE001 - a failing request must not fail its neighbours
            return error
        self._add(work.token, decision, len(summary.answered) if summary else 0)
        if summary is None and work.begins is not None:
            summary = Summary(work.begins)  # she was erased in this transaction, and is back
        after = None if summary is None else summary.after(decision)
        if after is None:
            self._known.pop(work.token, None)
            self.changed.pop(work.token, None)
        elif after is not summary:
            self._known[work.token] = self.changed[work.token] = after
        return decision.reply

    def _add(self, token: bytes, decision: Decision, number: int) -> None:
        if decision.erase:
            self.erased.add(token)
            self.rounds = {key: row for key, row in self.rounds.items() if key[0] != token}
            self.reports = {key: row for key, row in self.reports.items() if key[0] != token}
        if decision.round:
            self.rounds[token, decision.round.number] = _round_row(token, decision.round)
        if decision.report:
            self.reports[token, number] = _report_row(token, number, decision.report)
        if decision.leave:
            self.left.add(token)
            self.joined.pop(token, None)
        if decision.join:
            first = self.joined.get(token, {"joined": decision.join.joined})["joined"]
            self.joined[token] = {**_member_row(token, decision.join), "joined": first}


def _summaries(
    connection: Connection, tokens: Sequence[bytes], *, lock: bool = False
) -> tuple[dict[bytes, Summary], dict[bytes, int]]:
    """Read summaries and their marks; one that was not kept yet is made from what is."""
    query = (_LOCKED_SUMMARIES if lock else _SUMMARIES_OF_MANY)[connection.dialect.name]
    known, marks = {}, {}
    for key, created, mark, raw, model, sums in connection.execute(query, {"tokens": list(tokens)}):
        token = bytes(key)
        marks[token] = mark
        if raw is not None:
            known[token] = Summary.parse(created, bytes(raw), _sums(model, sums))
    lacking = [token for token in marks if token not in known]
    if lacking:
        made = _histories(connection, lacking).items()
        known.update({token: Summary.of(history) for token, history in made})
    return known, marks


def _sums(model: str | None, sums: bytes | None) -> Sums | None:
    return None if model is None or sums is None else Sums(model, bytes(sums))


def _histories(connection: Connection, tokens: Sequence[bytes]) -> dict[bytes, History]:
    """Read all rounds, each with its report if there is one."""
    created: dict[bytes, int] = {}
    rounds: dict[bytes, list[KeptRound]] = {}
    reports: dict[bytes, list[KeptReport]] = {}
    query = _KEPT_OF_MANY[connection.dialect.name]
    for (
        key,
        began,
        number,
        disclosure,
        solicitation,
        opened,
        name,
        report,
        received,
    ) in connection.execute(query, {"tokens": list(tokens)}):
        token = bytes(key)
        if token not in created:
            created[token], rounds[token], reports[token] = began, [], []
        if number is not None:
            rounds[token].append(KeptRound(number, disclosure, bytes(solicitation), opened))
        if name is not None:
            reports[token].append(KeptReport(number, name, bytes(report), received))
    return {
        token: History(began, tuple(rounds[token]), tuple(reports[token]))
        for token, began in created.items()
    }


def _summary_row(token: bytes, mark: int, summary: Summary) -> Row:
    return {
        "key": token,
        "read": mark,
        "new_mark": _mark(),
        "new_summary": summary.raw,
        "new_model": None if summary.sums is None else summary.sums.model,
        "new_sums": None if summary.sums is None else summary.sums.data,
    }


def _round_row(token: bytes, kept: KeptRound) -> Row:
    return {
        "token": token,
        "number": kept.number,
        "disclosure": kept.disclosure,
        "solicitation": kept.solicitation,
        "opened": kept.opened,
    }


def _member_row(token: bytes, member: Member) -> Row:
    return {
        "token": token,
        "joined": member.joined,
        "disclosure": member.disclosure,
        "shared": member.shared,
    }


def _report_row(token: bytes, number: int, kept: KeptReport) -> Row:
    return {
        "token": token,
        "number": number,
        "round": kept.round,
        "id": kept.id,
        "report": kept.report,
        "received": kept.received,
    }
