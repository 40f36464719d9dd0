"""The agent for programs that wait: the same core, each step run to its end."""

import asyncio
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self, TypeVar

from midpoint.user.agent import panel
from midpoint.user.agent.asynchronous import AsyncAgent
from midpoint.user.agent.channel import Channel
from midpoint.user.agent.home import Home
from midpoint.user.agent.preview import Line
from midpoint.user.agent.standing import Standing, Terms
from midpoint.user.core.correction import Recommendation
from midpoint.user.core.private import PrivateCategory
from midpoint.wire import PanelMembership, PanelRatings, Published, Receipt, Report, Solicitation

T = TypeVar("T")


class Agent:
    """A person's agent at one service; every method is that of `AsyncAgent`, and waits."""

    def __init__(self, inner: AsyncAgent) -> None:
        self.inner = inner

    @classmethod
    def open(
        cls,
        address: str,
        root: Path | None = None,
        terms: Terms | None = None,
        channel: Channel | None = None,
    ) -> Self:
        """Keep secret, ledger, pin and ratings in a directory, by default the user's own."""
        return cls(AsyncAgent.open(address, root, terms, channel))

    @classmethod
    def in_memory(
        cls, address: str, terms: Terms | None = None, channel: Channel | None = None
    ) -> Self:
        """Keep all in memory: when the program ends, nobody can answer or erase as this person."""
        return cls(AsyncAgent.in_memory(address, terms, channel))

    @property
    def home(self) -> Home:
        """What is kept on this device."""
        return self.inner.home

    @property
    def standing(self) -> Standing:
        """What passed the checks last."""
        return self.inner.standing

    def connect(self) -> Standing:
        """Send what was decided and not acknowledged, then fetch, check and pin."""
        return _finish(self.inner.connect())

    def fetch(self) -> Published:
        """Ask for all that is public, without a pseudonym."""
        return _finish(self.inner.fetch())

    def check(self, published: Published) -> Standing:
        """Accept what was fetched and pin it, or refuse it and change nothing."""
        return self.inner.check(published)

    def solicit(self) -> Solicitation:
        """Be asked about some items."""
        return _finish(self.inner.solicit())

    def preview(self, ratings: Mapping[str, float], category: PrivateCategory) -> tuple[Line, ...]:
        """Show what an answer to the open round would send and withhold; nothing is decided."""
        return self.inner.preview(ratings, category)

    def answer(self, ratings: Mapping[str, float], category: PrivateCategory) -> Report:
        """Decide the open round for good; the report waits on the device until `submit`."""
        return self.inner.answer(ratings, category)

    def submit(self) -> Receipt | None:
        """Send every decided report that was not acknowledged."""
        return _finish(self.inner.submit())

    def recommend(self, n: int, category: PrivateCategory) -> tuple[Recommendation, ...]:
        """Return her n best items that she has not rated."""
        return _finish(self.inner.recommend(n, category))

    def to_share(self, names: Mapping[str, str]) -> PanelRatings:
        """Return what joining the panel would send; nothing is sent."""
        return panel.to_share(self.inner, names)

    def join_panel(self, names: Mapping[str, str]) -> PanelRatings:
        """Join the panel: share her category and her ratings, as they are."""
        return _finish(panel.join(self.inner, names))

    def leave_panel(self) -> None:
        """Leave the panel: the service erases all that she shared."""
        _finish(panel.leave(self.inner))

    def membership(self) -> PanelMembership:
        """Ask whether people may join the panel, and what the service keeps of her there."""
        return _finish(panel.membership(self.inner))

    def export(self) -> bytes:
        """Return all that the service and this device keep about her, as JSON."""
        return _finish(self.inner.export())

    def forget(self, *, only_here: bool = False) -> None:
        """Erase her at the service, in its panel too, then here."""
        _finish(self.inner.forget(only_here=only_here))

    def close(self) -> None:
        """Let another program use the directory."""
        self.home.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _finish(step: Coroutine[Any, Any, T]) -> T:
    """Run a step to its end, in a thread of its own where a loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(step)
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, step).result()
