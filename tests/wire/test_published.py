"""All that is published as one file: the exact bytes of its parts, and nothing checked."""

import json
from dataclasses import replace

import pytest

from midpoint.wire import Published, Refusal, RefusedError
from tests.support.devices import LATER, SHOWN, published


def test_the_parts_keep_their_exact_bytes() -> None:
    spaced = SHOWN.raw.replace(b",", b", ")  # not canonical; its digest is of these bytes
    honest = replace(published(SHOWN, LATER), disclosure=spaced, catalogue="é".encode())
    read = Published.parse(honest.raw)
    assert read == honest
    assert read.disclosure == spaced
    assert read.chain.raw == honest.chain.raw
    assert read.raw == honest.raw


def test_a_witness_is_somebody_else_and_not_in_the_file() -> None:
    seen = replace(published(), witness=published().chain.entries[0])
    assert Published.parse(seen.raw).witness is None


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"chain": None}, Refusal.MISSING_FIELD),
        ({"version": None}, Refusal.MISSING_FIELD),
        ({"version": 2}, Refusal.UNKNOWN_VERSION),
        ({"witness": "me"}, Refusal.UNKNOWN_FIELD),
        ({"disclosure": 7}, Refusal.WRONG_SHAPE),
        ({"chain": "{}"}, Refusal.MISSING_FIELD),
        ({"certificates": "["}, Refusal.NOT_JSON),
        ({"disclosure": "\ud800"}, Refusal.NOT_JSON),
    ],
)
def test_a_file_of_another_shape_is_refused(change: dict[str, object], code: Refusal) -> None:
    content = json.loads(published().raw) | change
    raw = json.dumps({name: value for name, value in content.items() if value is not None})
    with pytest.raises(RefusedError) as refused:
        Published.parse(raw.encode())
    assert refused.value.code is code
