from typing import Any

import numpy as np
import pytest

from midpoint.user import DeviceSecret, Ledger, PrivateCategory, decide
from midpoint.wire import (
    GRAIN,
    ONE,
    SCHEMES,
    Disclosure,
    Refusal,
    RefusedError,
    as_rows,
)
from midpoint.wire.numbers import check_numbers
from tests.support.people.made_up import (
    accepted,
    disclosure,
    entries,
    sealed,
    solicitation,
)
from tests.support.sites.published import code_of


@pytest.mark.parametrize("scheme", SCHEMES)
def test_consistent_numbers_pass(scheme: str) -> None:
    check_numbers(disclosure(scheme, seed=5))


def first_row(column: str, row: Any) -> dict[str, Any]:
    scheme = {"offset": "mpr", "levels": "dmp", "reveal": "dmpss", "average": "fa"}[column]
    shown = disclosure(scheme)
    return {"scheme": scheme, column: (row, *getattr(shown, column)[1:])}


BAD_ROWS = [
    (Refusal.OFFSET_TOO_LARGE, first_row("offset", (-5 * ONE, 5 * ONE))),
    (Refusal.OFFSET_TOO_LARGE, first_row("offset", (-3 * ONE, 3 * ONE))),
    (Refusal.OFFSET_NOT_CENTRED, first_row("offset", (ONE, ONE))),
    (Refusal.OFFSET_NOT_CENTRED, first_row("offset", (3, 0))),
    (Refusal.BAD_DISTRIBUTION, first_row("levels", ((ONE, 0, 0, 0, 0), (ONE - 1, 0, 0, 0, 0)))),
    (Refusal.BAD_DISTRIBUTION, first_row("levels", ((ONE + 1, -1, 0, 0, 0), (ONE, 0, 0, 0, 0)))),
    (Refusal.REVEAL_OUT_OF_RANGE, first_row("reveal", (0, ONE))),
    (Refusal.REVEAL_OUT_OF_RANGE, first_row("reveal", (ONE + 1, ONE))),
    (Refusal.REVEAL_INCONSISTENT, first_row("reveal", (ONE - 1, ONE // 2))),
    (Refusal.AVERAGE_OUT_OF_RANGE, first_row("average", (ONE - 1, 2 * ONE))),
    (Refusal.TOO_TELLING, first_row("offset", (2 * ONE, -2 * ONE))),
    (Refusal.TOO_TELLING, first_row("levels", ((ONE - 1, 0, 0, 0, 1), (1, 0, 0, 0, ONE - 1)))),
    (Refusal.TOO_TELLING, first_row("reveal", (1, ONE))),
]


@pytest.mark.parametrize(("code", "change"), BAD_ROWS)
def test_inconsistent_numbers_are_refused(code: Refusal, change: dict[str, Any]) -> None:
    bad = disclosure(**change)
    assert code_of(bad.raw, sealed(entries([bad])), None) == code
    with pytest.raises(RefusedError, match="'item-00'"):
        check_numbers(bad)


AT_THE_LIMIT: list[tuple[str, Any, Any]] = [
    ("offset", (3 * ONE // 2, -3 * ONE // 2), (3 * ONE // 2 + 1, -3 * ONE // 2 - 1)),
    ("reveal", (ONE, ONE // 64), (ONE, ONE // 64 - 1)),
    (
        "levels",
        ((ONE // 4 * 3, 0, 0, 0, ONE // 4), (0, 0, 0, 0, ONE)),
        ((ONE // 4 * 3 + 1, 0, 0, 0, ONE // 4 - 1), (0, 0, 0, 0, ONE)),
    ),
]


@pytest.mark.parametrize(("column", "within", "beyond"), AT_THE_LIMIT)
def test_the_limits_of_what_is_too_telling(column: str, within: Any, beyond: Any) -> None:
    check_numbers(disclosure(**first_row(column, within)))
    with pytest.raises(RefusedError) as caught:
        check_numbers(disclosure(**first_row(column, beyond)))
    assert caught.value.code == Refusal.TOO_TELLING


def test_quantised_offsets_may_be_off_centre_by_a_step() -> None:
    rows = tuple((ONE // 4, 0) for _ in range(12))
    check_numbers(disclosure("mpr", offset=rows, bits=4))
    with pytest.raises(RefusedError):
        check_numbers(disclosure("mpr", offset=rows))


def test_a_lie_about_the_statistics_passes() -> None:
    """Consistency, not truth: numbers drawn at random pass, and the texts say so."""
    rng = np.random.default_rng(0)
    lie = rng.integers(-ONE, ONE, 12).tolist()
    check_numbers(disclosure("mpr", offset=tuple((v, -v) for v in lie)))


def test_false_rates_that_cancel_over_all_items_pass_and_show_the_category() -> None:
    """The threat model says so. Control: rates that are alike."""
    made = disclosure("cmpss", n_items=54)
    assert made.prior is not None
    still = as_rows(0 * np.array(made.prior.mean))
    false = [[4 * GRAIN, -4 * GRAIN], [-4 * GRAIN, 4 * GRAIN]] * 27
    seen = {}
    for name, rate in (("false", np.array(false)), ("alike", np.zeros((54, 2)))):
        columns = {"rate": as_rows(rate), "prior": made.prior.model_copy(update={"mean": still})}
        shown = Disclosure.parse(made.model_copy(update=columns).raw)
        asked = solicitation(shown, items=shown.items[::2])  # those that women are said to rate
        ratings = dict.fromkeys(asked.items[:9], 3 * ONE)
        for who in ("F", "M"):
            person = PrivateCategory({"gender": who}), Ledger(DeviceSecret(b"x" * 32))
            report = decide(ratings, asked, accepted(shown), *person)
            seen[name, who] = len(report.answers)
    assert seen["alike", "F"] >= 8
    assert seen["alike", "M"] >= 8
    assert seen["false", "F"] <= 1
    assert seen["false", "M"] == 9
