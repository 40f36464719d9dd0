"""The parts of the service one by one."""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.analyst import (
    ItemProfiles,
    Scorer,
    Training,
    disclose,
)
from midpoint.analyst.disclose.catalogue import catalogue_of
from midpoint.analyst.service.http.problems import STATUS, DeclinedError
from midpoint.analyst.service.http.static import Page, security_headers
from midpoint.analyst.service.limits import Rate
from midpoint.analyst.service.server import Place
from midpoint.analyst.service.settings import Settings
from midpoint.analyst.service.state.acceptance import receipt
from midpoint.analyst.service.state.group_commit import Committer, Readers
from midpoint.analyst.service.state.model import Model
from midpoint.analyst.storage import Storage, UnavailableError, Work
from midpoint.wire import ONE, Problem, Receipt, Scores, digest


@pytest.fixture(scope="module")
def profiles(trained_stars: Training) -> ItemProfiles:
    return trained_stars.items


@pytest.fixture(scope="module")
def model(profiles: ItemProfiles) -> Model:
    return Model(profiles, disclose(profiles))


def test_scores_are_the_bytes_of_a_checked_message(model: Model) -> None:
    items = model.disclosure.items
    _, belief = model.estimate(dict.fromkeys(items[:5], 4 * ONE))
    for top in (None, 3):
        raw = model.scores(belief, top, 4)
        told = Scores.parse(raw)
        again = Scores(
            disclosure=told.disclosure, items=told.items, score=told.score, deviation=told.deviation
        )
        assert raw == again.raw


def test_a_receipt_is_the_bytes_of_a_checked_message() -> None:
    assert receipt(b"abc", 7) == Receipt(report=digest(b"abc"), answers=7).raw


def test_many_estimates_are_each_ones_own(model: Model, profiles: ItemProfiles) -> None:
    items, rng = model.disclosure.items, np.random.default_rng(0)
    many = [
        {items[j]: int(rng.integers(1, 6)) * ONE for j in rng.choice(len(items), n, replace=False)}
        for n in (0, 1, 30, 7)
    ]
    scorer = Scorer(profiles, model.disclosure)
    for answers, (evidence, belief) in zip(many, model.estimates(many), strict=True):
        expected = scorer.solve(scorer.sum_up(answers))
        assert evidence.count == len(answers)
        np.testing.assert_allclose(belief.mean, expected.mean, atol=1e-9)
        np.testing.assert_allclose(belief.covariance, expected.covariance, atol=1e-9)


def test_a_long_list_is_estimated_in_blocks(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    items = model.disclosure.items
    many = [dict.fromkeys(items[:n], 3 * ONE) for n in range(9)]
    whole = model.estimates(many)
    monkeypatch.setattr("midpoint.analyst.service.state.model.BLOCK", 10)
    for (_, one), (_, other) in zip(whole, model.estimates(many), strict=True):
        np.testing.assert_allclose(one.mean, other.mean, atol=1e-12)


def test_answers_about_items_that_are_gone_do_not_count(model: Model) -> None:
    _, without = model.estimate({})
    evidence, belief = model.estimate({"gone": 5 * ONE})
    assert evidence.count == 0
    np.testing.assert_array_equal(belief.mean, without.mean)
    assert "gone" not in model.ask({"gone": ONE}, ["gone"], 5)


def test_scores_are_those_of_the_library(model: Model, profiles: ItemProfiles) -> None:
    answers = dict.fromkeys(model.disclosure.items[::7], 2 * ONE)
    _, belief = model.estimate(answers)
    scorer = Scorer(profiles, model.disclosure)
    estimate = scorer.solve(scorer.sum_up(answers))
    for top, expected in (
        (None, scorer.scores_of(estimate)),
        (3, scorer.top_of(estimate, top=3, margin=4)),
    ):
        found = Scores.parse(model.scores(belief, top, 4))
        assert found.items == expected.items
        assert np.abs(np.subtract(found.score, expected.score)).max() <= 1
        assert np.abs(np.subtract(found.deviation, expected.deviation)).max() <= 1


def test_titles_are_made_to_print(profiles: ItemProfiles) -> None:
    names = profiles.item_names.astype("U600").copy()
    names[:3] = ["a\nb\x1b[2J", "", "x" * 600]
    told = catalogue_of(replace(profiles, item_names=names), disclose(profiles))
    shown = dict(zip(told.items, told.titles, strict=True))
    ids = profiles.item_ids
    assert shown[ids[0]] == "a b [2J"
    assert shown[ids[1]] == ids[1]
    assert shown[ids[2]] == "x" * 500
    assert sum(told.ratings) > 0


def test_a_token_may_come_so_often_a_minute() -> None:
    now = [0.0]
    rate = Rate(60, clock=lambda: now[0])
    for _ in range(60):
        rate.take(b"ann")
    with pytest.raises(DeclinedError) as caught:
        rate.take(b"ann")
    assert (caught.value.status, caught.value.retry_after) == (429, 2)
    rate.take(b"bob")  # others are not held up
    now[0] = 1.01
    rate.take(b"ann")
    with pytest.raises(DeclinedError):
        rate.take(b"ann")
    for _ in range(1000):
        Rate(0).take(b"ann")


def test_only_so_many_tokens_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midpoint.analyst.service.limits.REMEMBERED", 10)
    rate = Rate(5, clock=lambda: 0.0)
    for n in range(100):
        rate.take(str(n).encode())
    assert len(rate._buckets) == 10


@given(st.sampled_from(sorted(STATUS)), st.text(max_size=700))
def test_whatever_a_request_said_a_problem_is_one_line(code: str, sentence: str) -> None:
    problem = DeclinedError(code, sentence).problem
    assert Problem.parse(problem.raw).code == code
    assert problem.message.isprintable()


def test_settings_survive_the_way_to_a_worker() -> None:
    settings = Settings(site="s", database="d", witnesses=("https://a", "https://b"), patience=2.5)
    assert Settings.from_json(settings.to_json()) == settings


@pytest.mark.parametrize(
    ("place", "exposed"),
    [
        (Place("127.0.0.1"), False),
        (Place("::1"), False),
        (Place("localhost"), False),
        (Place("0.0.0.0"), True),  # noqa: S104
        (Place("example.org"), True),
        (Place("0.0.0.0", certificate=Path("x"), key=Path("y")), False),  # noqa: S104
    ],
)
def test_listening_beyond_this_machine_without_tls_is_noticed(place: Place, exposed: bool) -> None:
    assert place.is_exposed is exposed


def test_the_page_is_served_from_memory_with_its_digests(tmp_path: Path) -> None:
    assert Page(tmp_path).file("index.html") is None
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>")
    (tmp_path / "assets" / "a-1.js").write_text("'x'")
    (tmp_path / ".hidden").write_text("secret")
    page = Page(tmp_path)
    index, script = page.file("index.html"), page.file("assets/a-1.js")
    assert index is not None
    assert script is not None
    assert (index.media, index.cache) == ("text/html", "public, no-cache")
    assert (script.media, "immutable" in script.cache) == ("text/javascript", True)
    assert page.file("../index.html") is None
    told = json.loads(page.listed.raw)["files"]
    assert told == {"index.html": digest(b"<!doctype html>"), "assets/a-1.js": digest(b"'x'")}


def test_the_page_may_ask_its_witnesses_and_nobody_else() -> None:
    told = dict(security_headers(("https://witness.example",)))
    policy = told[b"content-security-policy"].decode()
    assert "connect-src 'self' https://witness.example;" in policy
    assert "connect-src 'self';" in dict(security_headers(()))[b"content-security-policy"].decode()


def require(*, fine: bool) -> None:
    if not fine:
        raise RuntimeError("waited too long")


class Slow(Storage):
    """A database that answers when it is told to."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.wait: Callable[[], None] = lambda: None
        self.error: Exception | None = None

    def write(self, works: Sequence[Work]) -> list[Any]:
        self.wait()
        self.batches.append(len(works))
        if self.error:
            raise self.error
        return list(works)


def commits(
    storage: Slow,
    body: Callable[[Committer], Coroutine[Any, Any, None]],
    *,
    waiting: int = 100,
    patience: float = 5.0,
    settle: Callable[[Sequence[Any], float], None] = lambda _replies, _seconds: None,
) -> None:
    committer = Committer(storage, waiting=waiting, patience=patience, settle=settle)
    committer.start()
    try:
        asyncio.run(body(committer))
    finally:
        committer.stop()


def test_requests_that_wait_share_a_commit_and_each_gets_its_own_reply() -> None:
    storage = Slow()

    async def body(committer: Committer) -> None:
        gate = threading.Event()
        storage.wait = lambda: require(fine=gate.wait(5))
        tasks = [asyncio.create_task(committer.submit(n)) for n in range(50)]  # type: ignore[arg-type]
        await asyncio.sleep(0.05)
        storage.wait = lambda: None
        gate.set()
        assert await asyncio.gather(*tasks) == list(range(50))

    commits(storage, body)
    assert sum(storage.batches) == 50
    assert len(storage.batches) <= 3


def test_a_database_that_fails_fails_all_who_wait_and_then_recovers() -> None:
    storage = Slow()

    async def body(committer: Committer) -> None:
        storage.error = UnavailableError("away")
        tasks = [committer.submit(n) for n in range(10)]  # type: ignore[arg-type]
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(reply) for reply in found} == {UnavailableError}
        storage.error = None
        assert await committer.submit(1) == 1  # type: ignore[arg-type]

    commits(storage, body)


def test_no_more_wait_than_may_and_none_for_ever() -> None:
    storage = Slow()

    async def body(committer: Committer) -> None:
        gate = threading.Event()
        storage.wait = lambda: require(fine=gate.wait(5))
        tasks = [asyncio.create_task(committer.submit(n)) for n in range(9)]  # type: ignore[arg-type]
        found = await asyncio.gather(*tasks, return_exceptions=True)
        said = sorted({str(reply) for reply in found})
        assert said == [
            "the database did not answer in time",
            "too many requests wait for the database",
        ]
        gate.set()

    commits(storage, body, waiting=3, patience=0.2)


def test_who_has_left_or_was_told_to_come_back_is_not_written() -> None:
    """Or a question would begin a pseudonym anew that was erased meanwhile, by another worker."""
    storage = Slow()

    async def body(committer: Committer) -> None:
        gate = threading.Event()
        storage.wait = lambda: require(fine=gate.wait(5))
        first = asyncio.create_task(committer.submit(0))  # type: ignore[arg-type]
        await asyncio.sleep(0.05)  # it is being written
        late = [asyncio.create_task(committer.submit(n)) for n in range(1, 9)]  # type: ignore[arg-type]
        await asyncio.sleep(0)
        late[0].cancel()
        found = await asyncio.gather(first, *late[1:], return_exceptions=True)
        assert {type(reply) for reply in found} == {UnavailableError}
        storage.wait = lambda: None
        gate.set()
        assert await committer.submit(9) == 9  # type: ignore[arg-type]
        assert committer._waiting == 0

    commits(storage, body, patience=0.2)
    assert storage.batches == [1, 1]


def test_no_reply_is_held_once_it_is_given() -> None:
    """Neither replies nor timers pile up while requests come one after the other."""
    storage = Slow()

    async def body(committer: Committer) -> None:
        for n in range(50):
            await committer.submit(n)  # type: ignore[arg-type]
        assert len(committer._pending) == 0
        loop = asyncio.get_running_loop()
        assert len([one for one in loop._scheduled if not one.cancelled()]) == 1  # type: ignore[attr-defined]

    commits(storage, body)


def test_what_fails_after_the_commit_is_not_told_to_those_who_waited() -> None:
    storage, told = Slow(), []

    def settle(replies: Sequence[Any], seconds: float) -> None:
        told.append((list(replies), seconds >= 0))
        raise ZeroDivisionError

    async def body(committer: Committer) -> None:
        assert await committer.submit(1) == 1  # type: ignore[arg-type]
        assert await committer.submit(2) == 2  # type: ignore[arg-type]

    commits(storage, body, settle=settle)
    assert told == [([1], True), ([2], True)]


def test_readers_take_no_more_than_they_can() -> None:
    async def body() -> None:
        readers = Readers(waiting=2, patience=0.2)
        gate = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wait() -> None:
            asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(5)

        tasks = [asyncio.create_task(readers.call(wait)) for _ in range(3)]
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert sorted(map(str, found)) == ["this took too long"] * 2 + [
            "too many requests wait to be read"
        ]
        gate.set()
        assert await readers.call(lambda: 7) == 7
        readers.stop()

    asyncio.run(body())
