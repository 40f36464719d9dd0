import json

import pytest
from pydantic import ValidationError

from midpoint.wire import (
    Catalogue,
    Chain,
    Entry,
    Problem,
    Refusal,
    Signed,
)
from tests.support.sites.messages import ENTRY, KEY, code_of


def test_a_message_inside_another_is_whole_and_has_its_own_bytes() -> None:
    chain = Chain.parse(Chain(entries=(Signed.seal(ENTRY, KEY),)).raw)
    assert chain.entries[0].raw == Signed.seal(ENTRY, KEY).raw
    assert chain.entries[0].open(Entry) == ENTRY
    for field, code in (
        ("version", Refusal.MISSING_FIELD),
        ("signature", Refusal.MISSING_FIELD),
        ("more", Refusal.UNKNOWN_FIELD),
    ):
        content = json.loads(chain.raw)
        if content["entries"][0].pop(field, None) is None:
            content["entries"][0][field] = 1
        assert code_of(Chain, content) == code


def test_a_list_is_never_empty_and_columns_are_equally_long() -> None:
    with pytest.raises(ValidationError):
        Chain(entries=())
    for titles, ratings in ((("A",), (1, 2)), (("A", "B"), (1,))):
        with pytest.raises(ValidationError, match="differ in length"):
            Catalogue(items=("a", "b"), titles=titles, ratings=ratings)
    with pytest.raises(ValidationError, match="ascending"):
        Catalogue(items=("b", "a"), titles=("A", "B"), ratings=(1, 2))
    with pytest.raises(ValidationError, match="differ in length"):
        Catalogue(items=("a", "b"), titles=("A", "B"), ratings=(1, 2), genres=("Drama",))


def test_a_link_leads_nowhere_but_to_another_page() -> None:
    def shown(link: str) -> Catalogue:
        return Catalogue(items=("a",), titles=("A",), ratings=(1,), links=(link,))

    for fine in ("", "https://example.org/a?b=c#d"):
        assert Catalogue.parse(shown(fine).raw).links == (fine,)
    for bad in ("javascript:alert(1)", "http://example.org", "https://x y", "https://x\n", '"'):
        with pytest.raises(ValidationError):
            shown(bad)
    absent = Catalogue(items=("a",), titles=("A",), ratings=(1,))
    assert b"links" not in absent.raw


@pytest.mark.parametrize("text", ["a\nb", "\x1b[2J", "a\x7f", "a\x85", "a\u2028b", "a\u202eb", ""])
def test_titles_and_problems_print_as_one_line(text: str) -> None:
    with pytest.raises(ValidationError):
        Catalogue(items=("a",), titles=(text,), ratings=(1,))
    if text:
        with pytest.raises(ValidationError):
            Problem(code="malformed", message=text)
    for long in (1, 500, 501):
        content = {"items": ["a"], "titles": ["é" * long], "ratings": [1], "version": 1}
        assert code_of(Catalogue, content) == (Refusal.WRONG_SHAPE if long > 500 else None)
