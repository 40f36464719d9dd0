"""People, and how agents for them are made."""

from collections.abc import Callable

from midpoint.user import PrivateCategory
from midpoint.user.agent import Agent, Patience

WOMAN = PrivateCategory({"gender": "F"})
MAN = PrivateCategory({"gender": "M"})
QUICK = Patience(attempt=10, total=30, tries=3, first_wait=0.02)
"""Patient with a busy machine, and soon back when the answer was none."""

MakeAgent = Callable[..., Agent]
