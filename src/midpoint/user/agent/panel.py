"""Joining the panel, and leaving it: the one step by which a category leaves the device.

A member shares her category and all ratings of this device, as they are. She does so once, when she
says so; what she rates later stays here until she shares again. The service knows her there under
another pseudonym than that of her reports, and keeps both apart.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from midpoint.errors import MidpointError
from midpoint.user.core.private import PrivateCategory
from midpoint.wire import PanelMembership, PanelRatings

if TYPE_CHECKING:
    from midpoint.user.agent.asynchronous import AsyncAgent


def to_share(agent: "AsyncAgent", names: Mapping[str, str]) -> PanelRatings:
    """Return what joining would send: her category by feature, and her ratings as they are.

    Nothing is sent here. Ratings of titles that the service no longer has are left out.
    """
    disclosure = agent.standing.accepted.disclosure
    PrivateCategory.of(disclosure, names)
    known = disclosure.index
    ratings = sorted((item, value) for item, value in agent.home.ratings.items() if item in known)
    if not ratings:
        raise MidpointError("there is nothing to share yet; rate some titles first")
    category = tuple(sorted(names.items()))
    return PanelRatings(disclosure=disclosure.digest, category=category, ratings=tuple(ratings))


async def join(agent: "AsyncAgent", names: Mapping[str, str]) -> PanelRatings:
    """Send what she agreed to share; joined before, it stands instead of what she shared then."""
    agent.home.require_remembered()
    shared = to_share(agent, names)
    await agent.as_member("POST", shared)
    return shared


async def leave(agent: "AsyncAgent") -> None:
    """Have the service erase all that she shared; her reports and this device stay as they are."""
    agent.home.require_remembered()
    await agent.as_member("DELETE")


async def membership(agent: "AsyncAgent") -> PanelMembership:
    """Ask whether people may join the panel, and what the service keeps of her there."""
    agent.home.require_remembered()
    return PanelMembership.parse(await agent.as_member("GET"))
