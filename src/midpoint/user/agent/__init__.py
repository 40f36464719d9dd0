"""The agent: what talks to a service on a person's behalf, and the state it keeps."""

from midpoint.user.agent.agent import Agent
from midpoint.user.agent.asynchronous import AsyncAgent
from midpoint.user.agent.channel import AwayError, Channel, Patience, ServiceError
from midpoint.user.agent.home import Home, Notes
from midpoint.user.agent.preview import Fate, Line, preview
from midpoint.user.agent.standing import Standing, Terms
from midpoint.wire.exchange import UnusableError

__all__ = [
    "Agent",
    "AsyncAgent",
    "AwayError",
    "Channel",
    "Fate",
    "Home",
    "Line",
    "Notes",
    "Patience",
    "ServiceError",
    "Standing",
    "Terms",
    "UnusableError",
    "preview",
]
