"""The contract of protocols: all built-in ones keep it, and one that breaks a clause is named."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.errors import MidpointError
from midpoint.protocol import PROTOCOLS, LearningProtocol, Population, Reports, check_protocol
from midpoint.protocol.contract import CLAUSES, Trial
from midpoint.protocol.full import silence
from midpoint.wire import ONE, Disclosure


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_keeps_the_contract(name: str) -> None:
    check_protocol(PROTOCOLS[name])


@pytest.mark.parametrize(
    "protocol",
    [
        LearningProtocol("dmpss", alpha=0.5),
        LearningProtocol("cmpss", alpha=0.5),
        LearningProtocol("mpssr", estimation="plain", bits=6, estimator="least-squares"),
    ],
)
def test_settings_keep_it_too(protocol: LearningProtocol) -> None:
    check_protocol(protocol)


Change = Callable[[Reports, Population], Reports]


def changing(change: Change) -> Callable[[str], LearningProtocol]:
    """Return a protocol whose reports are changed before they are sent."""

    class Changed(LearningProtocol):
        def report(self, disclosure: Any, profiles: Any, people: Population, coins: Any) -> Reports:
            return change(super().report(disclosure, profiles, people, coins), people)

    return Changed


class OtherItems(LearningProtocol):
    def disclose(self, profiles: Any) -> Disclosure:
        shown = super().disclose(profiles)
        return shown.model_copy(update={"items": tuple(f"x{j:03d}" for j in range(24))})


class Inconsistent(LearningProtocol):
    def disclose(self, profiles: Any) -> Disclosure:
        shown = super().disclose(profiles)
        rows = tuple((ONE // 2, ONE // 2) for _ in shown.reveal or ())
        return shown.model_copy(update={"reveal": rows})


class NoMessage(LearningProtocol):
    def disclose(self, profiles: Any) -> Disclosure:
        return dict(super().disclose(profiles))  # type: ignore[return-value]


class Wavering(LearningProtocol):
    def disclose(self, profiles: Any) -> Disclosure:
        shown = super().disclose(profiles)
        self.__dict__["asked"] = self.__dict__.get("asked", 0) + 1
        first = (ONE - self.__dict__["asked"], ONE)
        return shown.model_copy(update={"reveal": (first, *(shown.reveal or ())[1:])})


def doubled(sent: Reports, people: Population) -> Reports:
    twice = np.sort(np.repeat(sent.kept, 2))
    offsets = np.append(0, np.cumsum(np.bincount(people.user[twice], minlength=people.n_users)))
    item = people.item[twice].astype(np.int32)
    return Reports(twice, offsets, item, np.repeat(sent.value, 2))


def of_other_items(sent: Reports, _: Population) -> Reports:
    return replace(sent, item=(sent.item + 1) % 24)


def of_other_people(sent: Reports, _: Population) -> Reports:
    return replace(sent, user_offsets=np.roll(sent.user_offsets, 1))


def not_finite(sent: Reports, _: Population) -> Reports:
    return replace(sent, value=np.full_like(sent.value, np.nan))


def narrow(_: Reports, people: Population) -> Reports:
    return replace(silence(people.n_users), profile=np.zeros((people.n_users, 1)))


def at_random(sent: Reports, _: Population) -> Reports:
    return replace(sent, value=sent.value + np.random.default_rng().random(len(sent.value)))


def less_the_mean(sent: Reports, people: Population) -> Reports:
    return replace(sent, value=sent.value - people.value.mean())


class Borrowing(LearningProtocol):
    """Every rating is decided by the coins of the next one."""

    def report(self, disclosure: Any, profiles: Any, people: Population, coins: Any) -> Reports:
        given = coins if isinstance(coins, np.ndarray) else coins.random((len(people.item), 4))
        return super().report(disclosure, profiles, people, np.roll(given, 40, 0))


class Guessing(LearningProtocol):
    def report(self, disclosure: Any, profiles: Any, people: Population, coins: Any) -> Reports:
        wrong = (people.category < 0) | (people.category > 1)
        known = replace(people, category=np.where(wrong, 0, people.category))
        return super().report(disclosure, profiles, known, coins)


class Flat(LearningProtocol):
    def estimate(self, profiles: Any, reports: Any, disclosure: Any = None) -> Any:
        return super().estimate(profiles, reports, disclosure)[:, :1]


class Endless(LearningProtocol):
    def estimate(self, profiles: Any, reports: Any, disclosure: Any = None) -> Any:
        return super().estimate(profiles, reports, disclosure) * np.inf


class Numbered(LearningProtocol):
    def estimate(self, profiles: Any, reports: Any, disclosure: Any = None) -> Any:
        found = super().estimate(profiles, reports, disclosure)
        return found + np.arange(len(found))[:, None]


class MovesNobody(LearningProtocol):
    def moves(self, *given: Any) -> NDArray[np.int64]:
        return super().moves(*given)[:, :0]


class MovesTheSilent(LearningProtocol):
    def moves(self, *given: Any) -> NDArray[np.int64]:
        return super().moves(*given) + 1


class MovesAtRandom(LearningProtocol):
    def moves(self, *given: Any) -> NDArray[np.int64]:
        found = super().moves(*given)
        found[0] += np.random.default_rng().integers(1, 2**40)
        return found


BREAKERS: dict[str, list[tuple[Callable[[str], LearningProtocol], str, str]]] = {
    "it discloses what devices accept": [
        (OtherItems, "dmpss", "order of messages"),
        (Inconsistent, "dmpss", "no category that always reveals"),
        (NoMessage, "dmpss", "is no disclosure"),
        (Wavering, "ss", "disclosed differently"),
    ],
    "it sends only what was given": [
        (changing(doubled), "dmp", "comes twice"),
        (changing(of_other_items), "dmp", "items are not those"),
        (changing(of_other_people), "dmp", "offsets"),
        (changing(not_finite), "dmp", "finite value"),
        (changing(narrow), "dmp", "have shape"),
    ],
    "equal coins give equal reports": [(changing(at_random), "dmp", "another report")],
    "a report does not depend on others": [
        (changing(less_the_mean), "no", "others rate"),
        (Borrowing, "dmp", "others toss"),
    ],
    "nobody of unknown category is reported": [(Guessing, "dmp", "category -1")],
    "everyone is estimated": [
        (Flat, "no", "have shape"),
        (Endless, "no", "not finite"),
        (Numbered, "no", "sent nothing"),
    ],
    "moves are whole numbers": [
        (MovesNobody, "cmpss", "not int64"),
        (MovesTheSilent, "cmpss", "rated nothing"),
        (MovesAtRandom, "cmpss", "another move"),
    ],
}


@pytest.mark.parametrize("clause", CLAUSES)
def test_a_protocol_that_breaks_a_clause_is_named(clause: str) -> None:
    for make, name, why in BREAKERS[clause]:
        with pytest.raises(MidpointError, match="breaks the contract") as caught:
            check_protocol(make(name))
        assert clause in str(caught.value), make
        assert why in str(caught.value), make


def test_the_people_of_the_trial_would_show_a_difference() -> None:
    """The control: genders differ, so that a report by the wrong one is another."""
    trial = Trial(PROTOCOLS["dmpss"])
    flipped = replace(trial.people, category=1 - trial.people.category)
    sent = trial.report(flipped, np.random.default_rng(3))
    assert not np.array_equal(sent.kept, trial.reports.kept)
    assert 0.3 < len(sent.kept) / len(trial.people.item) < 0.95
    assert np.abs(Trial(PROTOCOLS["cmpss"]).moves()).max() > 8
