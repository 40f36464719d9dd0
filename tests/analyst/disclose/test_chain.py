import pytest

from midpoint.analyst import Training, disclose, publish
from midpoint.errors import MidpointError
from midpoint.user import check_disclosure
from midpoint.wire import Entry, Refusal, RefusedError, SigningKey

KEY, OTHER = SigningKey(bytes(32)), SigningKey(bytes(range(32)))


def test_devices_accept_the_list_and_follow_it(trained_stars: Training) -> None:
    first, second = (disclose(trained_stars.items, bits=bits) for bits in (None, 8))
    begun = publish(first, KEY, time=7)
    entry = begun.open(Entry)
    assert (entry.sequence, entry.time, entry.key) == (0, 7, KEY.public)
    accepted = check_disclosure(first.raw, [begun], None)
    following = publish(second, KEY, entry, time=8)
    assert check_disclosure(second.raw, [following], accepted.pin).entry.sequence == 1
    # The control: an entry that does not go on from the accepted one is refused.
    fork = publish(second, KEY, publish(second, KEY, time=7).open(Entry), time=8)
    with pytest.raises(RefusedError) as refused:
        check_disclosure(second.raw, [fork], accepted.pin)
    assert refused.value.code is Refusal.CHAIN_FORKED


def test_another_key_is_refused_before_devices_do(trained_stars: Training) -> None:
    told = disclose(trained_stars.items)
    entry = publish(told, KEY, time=1).open(Entry)
    publish(told, KEY, entry, time=2)
    with pytest.raises(MidpointError, match="another key"):
        publish(told, OTHER, entry, time=2)
