"""Joining the panel and leaving it, request by request, against a running service."""

import json
from collections.abc import Iterator

import httpx
import pytest

from midpoint.analyst import Training
from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service.state.membership import Join, Leave
from midpoint.analyst.storage.collection import kept_panel, kept_reports
from midpoint.wire import ONE, PanelRatings
from tests.support.sites.serving import JSON, Person, code_of, published, running, settings_of


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, trained_stars: Training) -> Site:
    return published(tmp_path_factory.mktemp("site"), trained_stars.items)


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[httpx.Client]:
    with running(settings_of(site, panel=True)) as opened:
        yield opened


def shared_of(site: Site, stars: int = 4, count: int = 5, category: str = "F") -> PanelRatings:
    current = site.current()
    assert current is not None
    ratings = tuple((item, stars * ONE) for item in current.items[:count])
    return PanelRatings(
        disclosure=current.digest, category=(("gender", category),), ratings=ratings
    )


def join(person: Person, shared: PanelRatings | bytes) -> httpx.Response:
    raw = shared if isinstance(shared, bytes) else shared.raw
    return person.client.post("/v1/panel", headers=person.headers, content=raw)


def leave(person: Person) -> httpx.Response:
    return person.client.delete("/v1/panel", headers=person.headers)


def members(site: Site) -> list[PanelRatings]:
    return [shared for _, shared in kept_panel(settings_of(site).database)]


def test_what_is_shared_is_kept_shown_replaced_and_erased(client: httpx.Client, site: Site) -> None:
    ann = Person(client)
    assert ann.get("/v1/panel").json() == {"open": True, "version": 1}
    assert join(ann, shared_of(site, 2)).status_code == 204
    joined = ann.get("/v1/panel").json()["joined"]
    assert join(ann, shared_of(site, 5)).status_code == 204
    kept = ann.get("/v1/panel").json()
    assert PanelRatings.parse(kept["shared"].encode()) == shared_of(site, 5)
    assert kept["joined"] == joined
    assert members(site) == [shared_of(site, 5)]
    assert leave(ann).status_code == 204
    assert leave(ann).status_code == 204
    assert ann.get("/v1/panel").json() == {"open": True, "version": 1}
    assert members(site) == []


def test_panel_and_reports_do_not_know_of_each_other(client: httpx.Client, site: Site) -> None:
    """Also with one token for both, which no device has: each is erased by itself."""
    ann = Person(client)
    report = ann.answer()
    ann.send(report)
    join(ann, shared_of(site))
    assert b"shared" not in ann.get("/v1/pseudonym").content
    assert b"gender" not in ann.get("/v1/pseudonym").content
    assert json.loads(ann.get("/v1/pseudonym").content)["reports"] != []
    leave(ann)
    assert report in [kept for _, kept in kept_reports(settings_of(site).database)]


@pytest.mark.parametrize(
    "change",
    [
        {"category": (("gender", "X"),)},
        {"category": (("age", "F"),)},
        {"category": (("age", "1"), ("gender", "F"))},
        {"ratings": (("nothing", ONE),)},
        {"ratings": (("0001", ONE + 1),)},
        {"ratings": (("0001", 6 * ONE),)},
    ],
)
def test_what_no_device_sends_is_declined(
    client: httpx.Client, site: Site, change: dict[str, object]
) -> None:
    ann = Person(client)
    response = join(ann, shared_of(site).model_copy(update=change))
    assert code_of(response) == (400, "malformed")
    assert "X" not in response.json()["message"]
    unknown = shared_of(site).model_copy(update={"disclosure": "0" * 64})
    assert code_of(join(ann, unknown)) == (409, "unknown_disclosure")
    padded = shared_of(site).raw.replace(b",", b", ")
    assert code_of(join(ann, padded)) == (400, "malformed")
    assert members(site) == []


def test_a_service_takes_nobody_unless_its_operator_says_so(
    site: Site, client: httpx.Client
) -> None:
    """Off by default; members may see what is kept of them, and leave, all the same."""
    ann = Person(client)
    assert join(ann, shared_of(site)).status_code == 204
    with running(settings_of(site)) as closed:
        bob = Person(closed)
        assert code_of(join(bob, shared_of(site))) == (409, "panel_closed")
        assert bob.get("/v1/panel").json() == {"open": False, "version": 1}
        there = Person(closed, token=ann.token)
        assert there.get("/v1/panel").status_code == 200
        assert leave(there).status_code == 204
        assert leave(bob).status_code == 204
    assert members(site) == []


def test_a_token_is_needed(client: httpx.Client, site: Site) -> None:
    for response in (
        client.get("/v1/panel"),
        client.delete("/v1/panel"),
        client.post("/v1/panel", content=shared_of(site).raw, headers=JSON),
    ):
        assert code_of(response) == (401, "token_needed")


def test_the_rules_begin_no_pseudonym(site: Site) -> None:
    current = site.current()
    assert current is not None
    work = Join.of(b"t", shared_of(site), current, 7)
    assert work.begins is Leave(b"t").begins is None
    assert work.decide(None).join is work.member
    assert Leave(b"t").decide(None).leave
