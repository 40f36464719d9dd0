"""The adversaries of an audit: who attacks, by what they know.

An adversary uses many attackers (`audit.attackers.catalogue`), and its judge combines their scores
(`audit.run.adversaries.judge`).
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from midpoint.errors import MidpointError

CLEAN = "clean"
PANEL = "panel"
PUBLISHED = "published"
OUTSIDER = "outsider"
ADVERSARIES: Mapping[str, str] = MappingProxyType(
    {
        CLEAN: "the panel's raw ratings, and not the scheme (the paper's attackers)",
        PANEL: "the panel and the scheme; trained under disclosures made without those it learns"
        " from",
        PUBLISHED: "the panel and the scheme; trained on the panel itself under the published"
        " disclosure",
        OUTSIDER: "the panel, and the category of people outside it, protected under the published"
        " disclosure",
    }
)
"""What each adversary knows."""
SPLIT_ADVERSARIES = frozenset({PUBLISHED, OUTSIDER})
"""Adversaries that learn under the published disclosure; an audit with one of them splits the
training people into panel and outsiders."""


def decisive(adversaries: Iterable[str]) -> list[str]:
    """Return the adversaries whose judges decide a verdict: those that know the scheme, if any."""
    every = list(adversaries)
    return [name for name in every if name != CLEAN] or every


def choose_adversaries(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return the named adversaries, in the order of `ADVERSARIES`; refuse unknown names."""
    asked = [names] if isinstance(names, str) else list(names)
    for name in asked:
        if name not in ADVERSARIES:
            raise MidpointError(
                f"there is no adversary {name!r}; choose from {', '.join(ADVERSARIES)}"
            )
    if not asked:
        raise MidpointError("no adversary is named: name one at least, such as panel or outsider")
    return tuple(name for name in ADVERSARIES if name in asked)
