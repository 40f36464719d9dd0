"""The wire is watched: all bytes that leave the device, how many requests, and what set them off.

Two people use the same device secret, so their pseudonym and coins are the same; they differ in the
private category. The same watch catches agents that leak on purpose.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midpoint.errors import MidpointError
from midpoint.user import AsyncAgent, DeviceSecret, Parameters, PrivateCategory, toss
from midpoint.user.agent import Channel, Home
from midpoint.user.agent import asynchronous as core
from midpoint.wire import (
    ONE,
    Disclosure,
    FeatureNames,
    Receipt,
    Refusal,
    Report,
    Solicitation,
)
from midpoint.wire.exchange import MARGIN
from tests.support.people.agents import QUICK
from tests.support.people.made_up import disclosure
from tests.support.people.unadjusted import obfuscate_unadjusted
from tests.support.sites.door import Door, Seen
from tests.support.sites.lies import (
    downgrade,
    grown,
    one_item,
    other_features,
    other_scale,
    say,
    show,
    show_newer,
    telling_levels,
)
from tests.support.sites.tiny_analyst import TinyAnalyst
from tests.support.sites.upstream import Upstream

pytestmark = pytest.mark.slow

PARTY = FeatureNames(name="allegiance", categories=("xanthic", "vermilion"))
SHOWN = disclosure("dmpss", features=(PARTY,), n_items=40, seed=5)
SECRET = bytes(range(7, 39))
FIRST, SECOND = (PrivateCategory({"allegiance": name}) for name in PARTY.categories)


Lie = Callable[[Door, AsyncAgent], None]


@dataclass(frozen=True)
class Trace:
    """What left the device at each step of a walk."""

    steps: tuple[tuple[str, tuple[bytes, ...]], ...]

    @property
    def without_reports(self) -> tuple[tuple[str, tuple[bytes, ...]], ...]:
        """The same with the content and the length of reports blanked."""
        return tuple((step, tuple(map(_blank, sent))) for step, sent in self.steps)

    @property
    def refusals(self) -> list[str]:
        """The steps that ended in an error."""
        return [step for step, _ in self.steps if "Error" in step]

    @property
    def all_bytes(self) -> bytes:
        return b"".join(raw for _, sent in self.steps for raw in sent)


def _blank(raw: bytes) -> bytes:
    seen = Seen(raw)
    if seen.line != "POST /v1/reports HTTP/1.1":
        return raw
    head = raw.split(b"\r\n\r\n")[0].split(b"\r\n")
    return b"\r\n".join(line for line in head if not line.startswith(b"Content-Length"))


async def walk(
    kind: type[AsyncAgent],
    door: Door,
    category: PrivateCategory,
    mine: Mapping[str, float],
    lies: Mapping[int, Lie],
) -> Trace:
    """Two rounds, recommendations, export, a restart, and forgetting; refusals end a step.

    `lies` are shown from the start (0) or once a round is answered (1).
    """
    home = Home.in_memory(DeviceSecret(SECRET))
    agent = kind(door.address, home, None, Channel(QUICK))
    steps: list[tuple[str, tuple[bytes, ...]]] = []

    async def step(name: str, work: Callable[[], object]) -> None:
        before = len(door.seen)
        try:
            done = work()
            if asyncio.iscoroutine(done):
                await done
        except MidpointError as error:
            name = f"{name}: {type(error).__name__} {getattr(error, 'code', '')}"
        steps.append((name, tuple(one.raw for one in door.seen[before:])))

    for number in range(2):
        if number in lies:
            lies[number](door, agent)
        await step("connect", agent.connect)
        await step("solicit", agent.solicit)
        await step("preview", lambda: agent.preview(mine, category))
        await step("answer", lambda: agent.answer(mine, category))
        await step("submit", agent.submit)
        await step("recommend", lambda: agent.recommend(5, category))
    agent = kind(door.address, home, None, Channel(QUICK))
    await step("restart", agent.connect)
    await step("export", agent.export)
    await step("forget", agent.forget)
    return Trace(tuple(steps))


def watch(
    port: int, people: Mapping[PrivateCategory, Mapping[str, float]],
    kind: type[AsyncAgent] = AsyncAgent, lies: Mapping[int, Lie] | None = None,
) -> list[Trace]:  # fmt: skip
    """Let people walk one after the other through the same door."""
    door = Door(port)
    traces = []
    for who, mine in people.items():
        traces.append(asyncio.run(walk(kind, door, who, mine, lies or {})))
        door.honest()
    door.stop()
    return traces


def outcome(shown: Disclosure, item: int, rating: int, cell: int) -> int | None:
    """Return what these coins make of one rating."""
    uniform = toss(DeviceSecret(SECRET), [shown.items[item]])
    rated = np.array([item]), np.array([rating])
    done = obfuscate_unadjusted(*rated, cell, Parameters.of(shown), uniform)
    return int(done.value[0]) if done.keep[0] else None


def twins(shown: Disclosure) -> tuple[dict[str, float], dict[str, float]]:
    """Return ratings of one person of each category that come out the same; not the same ratings.

    What one withholds, the other has not even rated.
    """
    first: dict[str, float] = {}
    second: dict[str, float] = {}
    levels = shown.scale.levels or ()
    for index, item in enumerate(shown.items):
        outcomes = [{outcome(shown, index, r, cell): r for r in levels} for cell in (0, 1)]
        common = sorted({*outcomes[0]} & {*outcomes[1]} - {None}, key=str)
        if common:
            common_answer = common[index % len(common)]
            first[item], second[item] = (
                outcomes[0][common_answer] / ONE,
                outcomes[1][common_answer] / ONE,
            )
        elif None in outcomes[0]:
            first[item] = outcomes[0][None] / ONE
        elif None in outcomes[1]:
            second[item] = outcomes[1][None] / ONE
    return first, second


@pytest.fixture(scope="module")
def quiet_analyst() -> TinyAnalyst:
    return TinyAnalyst(SHOWN)


def test_the_same_obfuscated_answers_make_the_same_bytes(quiet_analyst: TinyAnalyst) -> None:
    first, second = twins(SHOWN)
    assert first.keys() != second.keys()
    assert any(first[item] != second.get(item) for item in first)
    one, other = watch(quiet_analyst.port, {FIRST: first, SECOND: second})
    assert one == other
    assert one.all_bytes.count(b"POST /v1/reports") == 2
    assert b"DELETE /v1/pseudonym" in one.all_bytes


@settings(max_examples=4)
@given(st.dictionaries(st.sampled_from(SHOWN.items), st.integers(1, 5).map(float)))
def test_the_same_ratings_differ_in_the_report_only(
    quiet_analyst: TinyAnalyst, mine: dict[str, float]
) -> None:
    one, other = watch(quiet_analyst.port, {FIRST: mine, SECOND: mine})
    assert one.without_reports == other.without_reports


def test_the_report_does_differ(quiet_analyst: TinyAnalyst) -> None:
    """Control: the watch sees contents; with other coins and ratings the bytes are not the same."""
    mine = dict.fromkeys(SHOWN.items, 4.0)
    one, other = watch(quiet_analyst.port, {FIRST: mine, SECOND: mine})
    assert one != other


def test_nothing_names_the_feature_or_a_category(quiet_analyst: TinyAnalyst) -> None:
    mine = dict.fromkeys(SHOWN.items, 2.0)
    for trace in watch(quiet_analyst.port, {FIRST: mine, SECOND: mine}):
        for word in (PARTY.name, *PARTY.categories):
            assert word.encode() not in trace.all_bytes
    assert b"allegiance" in SHOWN.raw


class AsksMore(AsyncAgent):
    """Leaks: one category looks at its recommendations twice."""

    async def recommend(self, n: int, category: PrivateCategory):  # type: ignore[no-untyped-def]
        if category.cell_in(self.standing.accepted.disclosure) == 0:
            await super().recommend(n, category)
        return await super().recommend(n, category)


class SavesBytes(AsyncAgent):
    """Leaks: asks for a margin that fits what she rated, withheld ones included."""

    async def _scores(self, n: int):  # type: ignore[no-untyped-def]
        withheld = sum(len(one.withheld) for one in self.home.ledger.rounds)
        await self._own("GET", f"/v1/scores?top={n}&margin={withheld}", 2**20)
        return await super()._scores(n)


class KeepsQuiet(AsyncAgent):
    """Leaks: sends no report that reveals less than was rated."""

    async def submit(self) -> Receipt | None:
        if any(one.withheld for one in self.home.ledger.rounds):
            return None
        return await super().submit()


class Reorders(AsyncAgent):
    """Leaks: one category fetches in another order."""

    def answer(self, ratings: Mapping[str, float], category: PrivateCategory):  # type: ignore[no-untyped-def]
        self._cell = category.cell_in(self.standing.accepted.disclosure)
        return super().answer(ratings, category)

    async def submit(self) -> Receipt | None:
        if getattr(self, "_cell", 0):
            await self.fetch()
        return await super().submit()


@pytest.mark.parametrize("leaky", [AsksMore, SavesBytes, KeepsQuiet, Reorders])
def test_the_watch_catches_agents_that_leak(
    leaky: type[AsyncAgent], quiet_analyst: TinyAnalyst
) -> None:
    sent = [item for item, index in SHOWN.index.items() if outcome(SHOWN, index, 4 * ONE, 1)]
    mine = dict.fromkeys(sent, 4.0)  # the second person withholds nothing of it, the first does
    one, other = watch(quiet_analyst.port, {FIRST: mine, SECOND: mine}, leaky)
    assert one.without_reports != other.without_reports


LIES: dict[str, Callable[[Door, Upstream], None]] = {
    "telling levels": lambda d, up: show_newer(d, up, telling_levels(up.shown)),
    "other scheme": lambda d, up: show_newer(d, up, downgrade(up.shown, "dmp")),
    "other features": lambda d, up: show_newer(d, up, other_features(up.shown)),
    "other scale": lambda d, up: show_newer(d, up, other_scale(up.shown)),
    "fork": lambda d, up: show(d, grown((), one_item(up.shown, 0), key=up.key), up.shown),
    "cut": lambda d, _: d.change.update({"/v1/solicitation": lambda body: body[:-3]}),
    "no receipt": lambda d, _: d.change.update({"/v1/reports": lambda _: b"{}"}),
}


@pytest.mark.parametrize("name", LIES)
def test_refusals_come_at_the_same_step_whatever_the_category(
    name: str, quiet_analyst: TinyAnalyst
) -> None:
    """Once she has rated and answered: what a refusal could depend on is there."""
    up = quiet_analyst.upstream
    mine = dict.fromkeys(SHOWN.items, 5.0)
    lies: dict[int, Lie] = {1: lambda door, _: LIES[name](door, up)}
    one, other = watch(up.port, {FIRST: mine, SECOND: mine}, lies=lies)
    assert one.without_reports == other.without_reports
    assert one.refusals
    assert not any("Error" in step for step, _ in one.steps[:6])  # the first round is honest


def ask_again(up: Upstream, choose: Callable[[AsyncAgent], str]) -> Lie:
    """Ask about an item again, under other numbers that are consistent and properly published."""

    def lie(door: Door, agent: AsyncAgent) -> None:
        item = choose(agent)
        crafted = one_item(up.shown, up.shown.items.index(item))
        show_newer(door, up, crafted)
        asked = Solicitation(disclosure=crafted.digest, round=99, items=(item,), open=False)
        say(door, "/v1/solicitation", asked.raw)

    return lie


def test_other_numbers_for_a_revealed_item_are_refused_alike(quiet_analyst: TinyAnalyst) -> None:
    first, second = twins(SHOWN)

    def revealed(agent: AsyncAgent) -> str:
        return Report.parse(agent.home.ledger.rounds[0].report.encode()).answers[0][0]

    lies = {1: ask_again(quiet_analyst.upstream, revealed)}
    one, other = watch(quiet_analyst.port, {FIRST: first, SECOND: second}, lies=lies)
    assert one == other
    code = Refusal.NUMBERS_CHANGED.value
    assert one.refusals[:2] == [f"{step}: RefusedError {code}" for step in ("preview", "answer")]


def test_other_numbers_for_a_withheld_item_are_met_in_silence(quiet_analyst: TinyAnalyst) -> None:
    """What the first withholds, the second has not rated: a refusal would tell them apart."""
    first, second = twins(SHOWN)
    withheld = next(item for item in first if item not in second)
    lies = {1: ask_again(quiet_analyst.upstream, lambda _: withheld)}
    kept: list[int] = []

    class Shows(AsyncAgent):
        def answer(self, ratings: Mapping[str, float], category: PrivateCategory) -> Report:
            report = super().answer(ratings, category)
            kept.append(sum(withheld in one.withheld for one in self.home.ledger.rounds))
            return report

    one, other = watch(quiet_analyst.port, {FIRST: first, SECOND: second}, Shows, lies)
    assert kept == [1, 1, 0, 0]
    assert one == other
    assert not any(Refusal.NUMBERS_CHANGED in step for step in one.refusals)


def test_the_best_of_many_items_are_asked_for_with_the_same_margin(
    quiet_analyst: TinyAnalyst, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "ALL_UP_TO", len(SHOWN.items) - 1)
    first, second = twins(SHOWN)
    one, other = watch(quiet_analyst.port, {FIRST: first, SECOND: second})
    assert one == other
    asked = f"GET /v1/scores?top=5&margin={MARGIN} ".encode()
    assert one.all_bytes.count(asked) == one.all_bytes.count(b"GET /v1/scores") == 2
    few = dict.fromkeys(SHOWN.items[:3], 3.0)
    (fewer,) = watch(quiet_analyst.port, {FIRST: few})
    assert fewer.all_bytes.count(asked) == 2
    assert not one.refusals


@pytest.mark.slow
def test_at_the_real_service_the_same_holds(service: Upstream) -> None:
    """Its questions follow from the answers, so equal answers are asked the same next."""
    woman, man = (PrivateCategory({"gender": name}) for name in ("F", "M"))
    first, second = twins(service.shown)
    assert first != second
    one, other = watch(service.port, {woman: first, man: second})
    assert one == other
    mine = dict.fromkeys(service.shown.items[::2], 4.0)
    one, other = watch(service.port, {woman: mine, man: mine})
    assert one.without_reports == other.without_reports
    assert one != other
    one, other = watch(service.port, {woman: mine, man: mine}, AsksMore)
    assert one.without_reports != other.without_reports
