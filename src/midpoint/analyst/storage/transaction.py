"""The statements of a transaction: read what is kept, write what a batch of requests decided."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
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

from midpoint.analyst.storage.batch import Batch, Reply, Row
from midpoint.analyst.storage.records import History, KeptReport, KeptRound, Member, Work
from midpoint.analyst.storage.summary import Summary, Sums
from midpoint.analyst.storage.tables import answer, panel, pseudonym, question

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


class InTheWayError(Exception):
    """Another worker's transaction and this one cannot both be as they are."""


def carry_out(
    connection: Connection, works: Sequence[Work], *, lock: bool
) -> list[Reply | Exception]:
    """Let requests decide, and write that; with `lock`, their pseudonyms are locked first."""
    begun = {work.token: work.begins for work in works if work.begins is not None}
    _begin(connection, begun, lock=lock)
    known, marks = summaries_of(connection, sorted({work.token for work in works}), lock=lock)
    batch = Batch(known)
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
        raise InTheWayError("a pseudonym was erased before it was read")
    rows = [_summary_row(token, marks[token], changed[token]) for token in sorted(changed)]
    if connection.execute(_UPDATE, rows).rowcount != len(rows):
        raise InTheWayError("a summary was changed meanwhile")


def summaries_of(
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
        made = histories_of(connection, lacking).items()
        known.update({token: Summary.of(history) for token, history in made})
    return known, marks


def _sums(model: str | None, sums: bytes | None) -> Sums | None:
    return None if model is None or sums is None else Sums(model, bytes(sums))


def histories_of(connection: Connection, tokens: Sequence[bytes]) -> dict[bytes, History]:
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


def sums_of(connection: Connection, tokens: Sequence[bytes]) -> dict[bytes, Sums | None]:
    """Read the statistics that are kept."""
    rows = connection.execute(_SUMS_OF_MANY[connection.dialect.name], {"tokens": list(tokens)})
    return {bytes(token): _sums(model, sums) for token, model, sums in rows}


def member_of(connection: Connection, token: bytes) -> Member | None:
    """Read what a member of the panel shared."""
    row = connection.execute(_MEMBER, {"token": token}).one_or_none()
    return None if row is None else Member(row.joined, row.disclosure, bytes(row.shared))


def _summary_row(token: bytes, mark: int, summary: Summary) -> Row:
    return {
        "key": token,
        "read": mark,
        "new_mark": _mark(),
        "new_summary": summary.raw,
        "new_model": None if summary.sums is None else summary.sums.model,
        "new_sums": None if summary.sums is None else summary.sums.data,
    }
