import pytest

from midpoint.analyst import Training, disclose, publish
from midpoint.analyst.disclose.chain import require_publishable, sign_entry
from midpoint.errors import MidpointError
from midpoint.user import check_disclosure
from midpoint.wire import (
    ONE,
    Disclosure,
    Entry,
    FeatureNames,
    RatingScale,
    Refusal,
    RefusedError,
    SigningKey,
)

KEY, OTHER = SigningKey(bytes(32)), SigningKey(bytes(range(32)))


def test_devices_accept_the_list_and_follow_it(trained_stars: Training) -> None:
    first, second = (disclose(trained_stars.items, bits=bits) for bits in (None, 8))
    begun = publish(first, KEY, time=7)
    entry = begun.open(Entry)
    assert (entry.sequence, entry.time, entry.key) == (0, 7, KEY.public)
    accepted = check_disclosure(first.raw, [begun], None)
    following = publish(second, KEY, entry, time=8, current=first)
    assert check_disclosure(second.raw, [following], accepted.pin).entry.sequence == 1
    # The control: an entry that does not go on from the accepted one is refused.
    fork = sign_entry(second, KEY, sign_entry(second, KEY, time=7).open(Entry), time=8)
    with pytest.raises(RefusedError) as refused:
        check_disclosure(second.raw, [fork], accepted.pin)
    assert refused.value.code is Refusal.CHAIN_FORKED


def test_another_key_is_refused_before_devices_do(trained_stars: Training) -> None:
    shown = disclose(trained_stars.items)
    entry = publish(shown, KEY, time=1).open(Entry)
    publish(shown, KEY, entry, time=2, current=shown)
    with pytest.raises(MidpointError, match="another key"):
        publish(shown, OTHER, entry, time=2, current=shown)


def test_what_the_list_goes_on_from_has_to_be_shown(trained_stars: Training) -> None:
    shown, other = disclose(trained_stars.items), disclose(trained_stars.items, bits=8)
    entry = publish(shown, KEY, time=1).open(Entry)
    for current in (None, other):
        with pytest.raises(MidpointError, match="give the disclosure of entry 0"):
            publish(other, KEY, entry, time=2, current=current)


def changes(shown: Disclosure) -> dict[str, Disclosure]:
    """Return disclosures that devices refuse after this one, by what the error says."""
    levels = tuple(range(ONE, 7 * ONE, ONE))
    wider = RatingScale(low=ONE, high=6 * ONE, levels=levels)
    assert shown.levels is not None
    assert shown.reveal is not None
    more = tuple(tuple((*row, 0) for row in rows) for rows in shown.levels)
    first = tuple((2 * ONE, *row[1:]) for row in shown.reveal)
    renamed = (FeatureNames(name="gender", categories=("X", "M")),)
    return {
        "features are not those": shown.model_copy(update={"features": renamed}),
        "scale are not those": shown.model_copy(update={"scale": wider, "levels": more}),
        "scheme 'dmp' is not 'dmpss'": shown.model_copy(update={"scheme": "dmp", "reveal": None}),
        "reveal probability out of range": shown.model_copy(update={"reveal": first}),
        "leaves the category readable": shown.model_copy(update={"scheme": "ss", "levels": None}),
    }


def test_what_devices_refuse_is_not_published(trained_stars: Training) -> None:
    shown = disclose(trained_stars.items)
    begun = publish(shown, KEY, time=1)
    entry, pin = begun.open(Entry), check_disclosure(shown.raw, [begun], None).pin
    for said, changed in changes(shown).items():
        with pytest.raises(MidpointError, match=said):
            publish(changed, KEY, entry, time=2, current=shown)
        # And devices do refuse it, were it signed all the same.
        forced = sign_entry(changed, KEY, entry, time=2)
        with pytest.raises(RefusedError):
            check_disclosure(changed.raw, [forced], pin)
    publish(disclose(trained_stars.items, "dmp"), KEY, entry, time=2, current=shown,
            change_scheme=True)  # fmt: skip


def test_what_is_published_first_may_be_of_any_scheme_that_protects(
    trained_stars: Training, trained: Training
) -> None:
    for scheme in ("dmp", "dmpss", "mpr", "mpssr", "ia", "ssfa"):
        require_publishable(disclose(trained_stars.items, scheme), None)
    require_publishable(disclose(trained.items, "mpss"), None)
    for scheme in ("no", "ss", "mp", "mpss"):
        with pytest.raises(MidpointError, match="leaves the category readable"):
            require_publishable(disclose(trained_stars.items, scheme), None)
