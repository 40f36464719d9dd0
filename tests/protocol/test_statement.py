from dataclasses import astuple

from midpoint.protocol import (
    PROTOCOLS,
    STATEMENTS,
    state,
)
from midpoint.wire import SCHEMES


def test_all_schemes_and_the_three_non_solutions_have_a_statement() -> None:
    assert list(PROTOCOLS) == ["nothing", "full", *SCHEMES]
    assert set(STATEMENTS) == set(PROTOCOLS)
    for statement in STATEMENTS.values():
        assert all(len(text) > 3 for text in astuple(statement))
    assert {name for name, s in STATEMENTS.items() if s.reach == "nothing"} == {
        "no",
        "mpr",
    }


def test_less_is_said_of_values_that_do_not_shift() -> None:
    for name in ("cmp", "cmpss"):
        shifted, still = state(name, discrete=True), state(name, discrete=True, shift=False)
        assert "Values are distributed alike, jointly" in shifted.guarantees
        assert "Values are distributed alike, jointly" not in still.guarantees
        assert "measured only" in still.guarantees
    assert state("dmp", discrete=True, shift=False) == STATEMENTS["dmp"]  # it never shifts


def test_nothing_is_guaranteed_for_stars_that_are_shifted_or_ratings_mixed_in() -> None:
    for name, says in STATEMENTS.items():
        assert state(name, discrete=False) == says
        assert state(name, discrete=True, alpha=0.9).reach == "nothing"
        void = name in {"full", "mp", "mpss"}
        on_stars = state(name, discrete=True)
        assert (on_stars != says) == void
        if void:
            assert on_stars.reach == "nothing"
            assert "independent" not in on_stars.guarantees
