from itertools import product
from math import log2

import numpy as np
import pytest

from midpoint.protocol import (
    PROTOCOLS,
    LearningProtocol,
    bits_per_item,
    derive,
    discloses_at_least_as_much,
    discloses_strictly_more,
)
from midpoint.user import check_numbers
from midpoint.wire import ONE
from tests.support.people.invented import WIDE, ready, world

MADE = world(M=8, seed=1)

STRICTLY_MORE = [
    ("mp", "no"),
    ("full", "mp"),
    ("mpss", "mp"),
    ("mpss", "ss"),
    ("dmp", "fa"),
    ("fa", "mp"),
    ("dmpss", "mpss"),
    ("dmpss", "dmp"),
    ("ssfa", "mpssr"),
    ("dmpss", "ssfa"),
    ("ia", "nothing"),
]


@pytest.mark.parametrize(("more", "less"), STRICTLY_MORE)
def test_what_can_be_had_from_what(more: str, less: str) -> None:
    a, b = PROTOCOLS[more], PROTOCOLS[less]
    assert discloses_strictly_more(a, b)
    assert not discloses_at_least_as_much(b, a)
    assert bits_per_item(a.disclose(MADE.profiles)) > bits_per_item(b.disclose(MADE.profiles))


def test_the_same_is_not_strictly_more_and_some_cannot_be_compared() -> None:
    for first, second in (("mp", "mpr"), ("mpss", "mpssr"), ("no", "nothing")):
        a, b = PROTOCOLS[first], PROTOCOLS[second]
        assert discloses_at_least_as_much(a, b)
        assert discloses_at_least_as_much(b, a)
        assert not discloses_strictly_more(a, b)
    for first, second in (("mp", "ss"), ("ia", "fa"), ("dmp", "ss"), ("full", "fa"), ("ia", "mp")):
        assert derive(PROTOCOLS[first], PROTOCOLS[second]) is None
        assert derive(PROTOCOLS[second], PROTOCOLS[first]) is None


def test_being_derivable_is_reflexive_and_transitive() -> None:
    names = list(PROTOCOLS)
    can = {(a, b): derive(PROTOCOLS[a], PROTOCOLS[b]) is not None for a, b in product(names, names)}
    assert all(can[a, a] for a in names)
    for a, b, c in product(names, names, names):
        if can[a, b] and can[b, c]:
            assert can[a, c], (a, b, c)


DERIVABLE = [(a, b) for a, b in product(PROTOCOLS, PROTOCOLS) if derive(PROTOCOLS[a], PROTOCOLS[b])]


@pytest.mark.parametrize(("a", "b"), DERIVABLE)
def test_the_map_is_code_and_yields_the_others_disclosure(a: str, b: str) -> None:
    """From plain estimates: exact where a column is kept, within rounding where it is computed."""
    first, second = LearningProtocol(a, estimation="plain"), LearningProtocol(b, estimation="plain")
    phi = derive(first, second)
    assert phi is not None
    profiles = ready(MADE, a)
    had, wanted = phi(first.disclose(profiles)), second.disclose(profiles)
    check_numbers(had)
    assert had.scheme == wanted.scheme
    assert had.items == wanted.items
    for column in wanted.obfuscation.columns:
        ours, theirs = (np.array(getattr(disclosure, column)) for disclosure in (had, wanted))
        tolerance = 0 if column in first.scheme.columns else 16
        assert np.abs(ours - theirs).max() <= tolerance, column


def test_where_people_lie_follows_from_nothing_else() -> None:
    for name in ("cmp", "cmpss"):
        assert {a for a, b in DERIVABLE if b == name} == {name}
    assert derive(PROTOCOLS["cmpss"], LearningProtocol("cmpss", estimation="plain")) is None
    assert derive(PROTOCOLS["cmpss"], PROTOCOLS["dmp"]) is not None  # by the same levels
    assert derive(PROTOCOLS["cmpss"], PROTOCOLS["dmpss"]) is None  # rates are not ratios


def test_positions_are_counted_among_the_bits() -> None:
    """Each column by the numbers that devices accept: 2 categories, 2 and 2 factors."""
    disclosures = {
        name: PROTOCOLS[name].disclose(ready(MADE, name)) for name in ("dmp", "cmp", "cmpss")
    }
    bits = {name: bits_per_item(one) for name, one in disclosures.items()}
    base, taste = 2 * log2(3 * 4 * 256 + 1), 2 * log2(4 * 4 * 256 + 1)
    logits = log2(2 * 32 * 256 + 1)
    assert bits["cmp"] == pytest.approx(bits["dmp"] + base + taste)
    assert bits["cmpss"] == pytest.approx(bits["cmp"] + 2 * logits + 2 * logits)


def test_coarse_numbers_follow_from_the_finest_and_not_from_each_other() -> None:
    made = world(M=8, scale=WIDE)
    fine, coarse, other = (LearningProtocol("mpss", bits=bits) for bits in (None, 3, 5))
    phi = derive(fine, coarse)
    assert phi is not None
    assert phi(fine.disclose(made.profiles)) == coarse.disclose(made.profiles)
    assert discloses_strictly_more(fine, coarse)
    assert derive(other, coarse) is None
    assert derive(LearningProtocol("dmp"), LearningProtocol("dmp", bits=3)) is None
    assert derive(LearningProtocol("dmp", bits=3), LearningProtocol("mp", bits=3)) is None
    assert derive(LearningProtocol("mp", estimation="plain"), LearningProtocol("mp")) is None


def test_bits_count_the_rows_that_a_disclosure_could_hold() -> None:
    """Counted one by one for two bits, two categories and five levels."""
    span, step = 4 * ONE, ONE
    offsets = range(-span, span + 1, step)
    reveals = [r for r in product(range(1, 5), repeat=2) if max(r) == 4]
    levels = [r for r in product(range(5), repeat=5) if sum(r) == 4]
    averages = range(0, span + 1, step)
    counted = {
        "no": 0.0,
        "mp": log2(len(offsets)),
        "ss": log2(len(reveals)),
        "mpss": log2(len(offsets)) + log2(len(reveals)),
        "dmp": 2 * log2(len(levels)),
        "ia": log2(len(averages)),
        "fa": 2 * log2(len(averages)),
    }
    for name, bits in counted.items():
        disclosure = LearningProtocol(name, bits=2).disclose(MADE.profiles)
        assert bits_per_item(disclosure) == pytest.approx(bits), name
    fine = [
        bits_per_item(LearningProtocol("dmpss", bits=b).disclose(MADE.profiles)) for b in (2, 6, 16)
    ]
    assert fine == sorted(fine)
    assert fine[-1] == bits_per_item(LearningProtocol("dmpss").disclose(MADE.profiles))
