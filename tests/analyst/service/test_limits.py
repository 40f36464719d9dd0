"""How often a token may come."""

import pytest

from midpoint.analyst.service.http.problems import DeclinedError
from midpoint.analyst.service.limits import Rate


def test_a_token_may_come_so_often_a_minute() -> None:
    now = [0.0]
    rate = Rate(60, clock=lambda: now[0])
    for _ in range(60):
        rate.take(b"ann")
    with pytest.raises(DeclinedError) as caught:
        rate.take(b"ann")
    assert (caught.value.status, caught.value.retry_after) == (429, 2)
    rate.take(b"bob")  # others are not held up
    now[0] = 1.01
    rate.take(b"ann")
    with pytest.raises(DeclinedError):
        rate.take(b"ann")
    for _ in range(1000):
        Rate(0).take(b"ann")


def test_only_so_many_tokens_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midpoint.analyst.service.limits.REMEMBERED", 10)
    rate = Rate(5, clock=lambda: 0.0)
    for n in range(100):
        rate.take(str(n).encode())
    assert len(rate._buckets) == 10


def test_a_request_that_costs_as_much_as_many_is_waited_for_as_long() -> None:
    now = [0.0]
    rate = Rate(60, clock=lambda: now[0])
    rate.take(b"ann", 0)
    rate.take(b"ann", 180)
    with pytest.raises(DeclinedError) as caught:
        rate.take(b"ann")
    assert caught.value.retry_after == 122
    rate.take(b"bob", 59)
    rate.take(b"bob")  # the control: no more than was there
    now[0] = 121.5
    rate.take(b"ann")


def test_who_comes_back_in_time_is_not_declined_for_what_her_request_costs_beside() -> None:
    now = [0.0]
    rate = Rate(30, clock=lambda: now[0])

    def ask() -> None:
        rate.take(b"ann")
        rate.take(b"ann", 5, least=0)

    rate.take(b"ann", 30)
    with pytest.raises(DeclinedError) as caught:
        ask()
    assert caught.value.retry_after == 3
    now[0] += 3
    ask()
    with pytest.raises(DeclinedError):  # the control: of many at once, one is let pass
        rate.take(b"ann", 5, least=0)
