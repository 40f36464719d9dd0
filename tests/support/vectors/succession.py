"""The vectors of keys that are succeeded: the old one vouches for the new one, or did not."""

from collections.abc import Iterator

from midpoint.user import check_disclosure
from midpoint.wire import Refusal
from tests.support.people.made_up import HEIR, STRANGER, disclosure, inherited
from tests.support.vectors.parts import Listed


def changes_of_keys() -> Iterator[Listed]:
    """Lists in which another key signs from some entry on."""
    shown = [disclosure(seed=seed) for seed in range(2)]
    good = inherited(shown[:1], shown[1:])
    first = check_disclosure(shown[0].raw, good[:1], None).pin
    named = check_disclosure(shown[0].raw, good[:2], None).pin
    last = check_disclosure(shown[1].raw, good, None).pin
    assert (named.successor, last.key) == (HEIR.public, HEIR.public)
    changed, new = Refusal.KEY_CHANGED, shown[1]
    silent = inherited(shown[:1], shown[1:], successor=None)
    stolen = inherited(shown[:1], shown[1:], by=STRANGER)
    yield from (
        ("succeeded key, first use", new, good, None, None, last),
        ("succeeded key, from the start", new, good, first, None, last),
        ("succeeded key, after the pinned entry", new, good[1:], first, None, last),
        ("succeeded key, known by name", new, good[2:], named, None, last),
        ("succeeded key, nothing new", new, good, last, None, last),
        ("succeeded key, named and not used yet", shown[0], good[:2], first, None, named),
        ("new key that nobody vouched for", new, silent, first, None, changed),
        ("new key that nobody vouched for, first use", new, silent, None, None, changed),
        ("new key, and the vouching entry is missing", new, good[2:], first, None, changed),
        ("new key that a stranger vouched for", new, stolen, first, None, changed),
        ("former key after its successor", new, [*good[:2], *silent[1:]], named, None, changed),
    )
