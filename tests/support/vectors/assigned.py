"""The vectors of what a device refuses where items are assigned."""

from collections.abc import Iterator

from midpoint.user import DeviceSecret, Ledger, PrivateCategory, decide
from midpoint.wire import Refusal
from tests.support.people.made_up import (
    accepted,
    disclosure,
    entries,
    ratings,
    sealed,
    solicitation,
)
from tests.support.vectors.parts import KEY, Case, Listed, pinned, text


def changes_of_sets() -> Iterator[Listed]:
    """Whether items are assigned is pinned, like the scheme."""
    free, assigned = disclosure("dmp"), disclosure("dmp", sets="assigned")
    first = entries([assigned])[0]
    yield "items assigned", assigned, sealed([first]), None, None, pinned(first, assigned)
    for name, before, later in (
        ("items assigned later", free, assigned),
        ("items no longer assigned", assigned, free),
    ):
        both, held = entries([before, later]), pinned(entries([before])[0], before)
        yield name, later, sealed(both), held, None, Refusal.SCHEME_CHANGED


def open_where_assigned() -> Case:
    """A first round is answered; a second leaves the choice to her."""
    shown = disclosure("dmp", sets="assigned")
    rated, first = ratings(shown), solicitation(shown, 1)
    category = PrivateCategory({"gender": "M"})
    report = decide(rated, first, accepted(shown), category, Ledger(DeviceSecret(KEY)))
    return {
        "name": "open, where items are assigned",
        "secret": KEY.hex(),
        "category": {"gender": "M"},
        "ratings": rated,
        "first": {
            "disclosure": text(shown),
            "solicitation": text(first),
            "report": text(report),
        },
        "second": {
            "disclosure": text(shown),
            "solicitation": text(solicitation(shown, 2, (), more=True)),
        },
        "code": Refusal.QUESTION_OPEN,
    }
