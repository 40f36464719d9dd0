"""A malicious service is refused: a clear warning, nothing sent, nothing lost."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Route, expect

from midpoint.analyst.disclose.chain import sign_entry
from midpoint.analyst.disclose.site import Site
from midpoint.wire import ONE, Catalogue, Chain, Disclosure, Entry, Signed, SigningKey
from tests.support.page.person import Person
from tests.support.page.service import Service
from tests.web.conftest import Visit

pytestmark = pytest.mark.slow
Lie = Callable[[Site], tuple[bytes, bytes]]
STRANGER = SigningKey(b"s" * 32)


def _honest(site: Site) -> tuple[Disclosure, Chain]:
    chain = Chain.parse(site.list.read_bytes())
    (raw,) = [path.read_bytes() for path in (site.root / "disclosures").iterdir()]
    return Disclosure.parse(raw), chain


def _titles(site: Site) -> Catalogue:
    newest = Chain.parse(site.list.read_bytes()).entries[-1].open(Entry)
    return site.catalogue(newest.catalogue or "")


def _signed_again(
    site: Site, disclosure: Disclosure, key: SigningKey, titles: Catalogue | None = None
) -> tuple[bytes, bytes]:
    entry = sign_entry(disclosure, key, time=1_800_000_001, catalogue=titles or _titles(site))
    return disclosure.raw, Chain(entries=(entry,)).raw


def changed_on_the_way(site: Site) -> tuple[bytes, bytes]:
    disclosure, chain = _honest(site)
    return disclosure.raw.replace(b"65536", b"65535", 1), chain.raw


def by_a_stranger(site: Site) -> tuple[bytes, bytes]:
    disclosure, _ = _honest(site)
    return _signed_again(site, disclosure, STRANGER)


def another_past(site: Site) -> tuple[bytes, bytes]:
    disclosure, _ = _honest(site)
    return _signed_again(site, disclosure, SigningKey.load(site.root / "key.pem"))


def ratings_as_they_are(site: Site) -> tuple[bytes, bytes]:
    disclosure, _ = _honest(site)
    plain = disclosure.model_copy(update={"scheme": "no", "levels": None, "reveal": None})
    return _signed_again(site, plain, STRANGER)


def nobody_always_reveals(site: Site) -> tuple[bytes, bytes]:
    disclosure, _ = _honest(site)
    low = tuple((ONE // 2,) * disclosure.n_cells for _ in disclosure.items)
    return _signed_again(site, disclosure.model_copy(update={"reveal": low}), STRANGER)


def unsigned(site: Site) -> tuple[bytes, bytes]:
    disclosure, chain = _honest(site)
    forged = Signed(body=chain.entries[0].body, signature="0" * 128)
    return disclosure.raw, Chain(entries=(forged,)).raw


def not_json(site: Site) -> tuple[bytes, bytes]:
    return b"<html>", _honest(site)[1].raw


@contextmanager
def lied_to(she: Person, lie: tuple[bytes, bytes]) -> Iterator[None]:
    """Stand between her and the service, with another list and another disclosure."""
    disclosure, chain = lie

    def answer(route: Route) -> None:
        path = route.request.url
        body = chain if path.endswith("/v1/chain") else disclosure
        if path.endswith("/certificates"):
            body = b'{"certificates":[],"version":1}'
        route.fulfill(status=200, content_type="application/json", body=body)

    for pattern in ("**/v1/chain", "**/v1/disclosures/**"):
        she.page.route(pattern, answer)
    yield
    she.page.unroute_all()


def _expect_refusal(she: Person, code: str) -> None:
    expect(she.page.get_by_role("alert")).to_contain_text("This service was refused")
    expect(she.page.get_by_text("Nothing was sent, and nothing of yours was lost.")).to_be_visible()
    expect(she.page.get_by_text(f"Code: {code}")).to_be_visible()


@pytest.mark.parametrize(
    ("lie", "code"),
    [
        (changed_on_the_way, "wrong_digest"),
        (unsigned, "bad_signature"),
        (ratings_as_they_are, "scheme_unsafe"),
        (nobody_always_reveals, "reveal_inconsistent"),
        (not_json, "not_json"),
    ],
)
def test_a_stranger_is_refused_at_first_sight(
    visit: Visit, service: Service, lie: Lie, code: str
) -> None:
    she = visit()
    with lied_to(she, lie(Site(service.site))):
        she.open()
        _expect_refusal(she, code)
        assert she.sent == []
    she.page.get_by_role("button", name="Check again").click()
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()


@pytest.mark.parametrize(
    ("lie", "code"), [(by_a_stranger, "key_changed"), (another_past, "chain_forked")]
)
def test_a_service_that_changes_is_refused_and_loses_her_nothing(
    visit: Visit, service: Service, lie: Lie, code: str
) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    she.rate_first((5, 3, 4))
    she.wait_until_kept(3)
    before = len(she.sent)
    with lied_to(she, lie(Site(service.site))):
        she.page.reload()
        _expect_refusal(she, code)
        assert len(she.sent) == before
    she.page.get_by_role("button", name="Check again").click()
    expect(she.leaving).to_have_count(3)


def scheme_downgraded(site: Site) -> tuple[bytes, bytes]:
    disclosure, chain = _honest(site)
    weaker = disclosure.model_copy(update={"scheme": "dmp", "reveal": None})
    key = SigningKey.load(site.root / "key.pem")
    newest = chain.entries[-1].open(Entry)
    following = sign_entry(weaker, key, newest, time=newest.time + 1, catalogue=_titles(site))
    return weaker.raw, Chain(entries=(*chain.entries, following)).raw


def test_a_change_that_she_agrees_to_leaves_her_who_she_is(visit: Visit, service: Service) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    she.rate_first((5, 3, 4))
    she.send()
    she.wait_for_recommendations()
    with lied_to(she, by_a_stranger(Site(service.site))):
        she.page.reload()
        _expect_refusal(she, "key_changed")
        expect(she.page.get_by_text("Do not choose Forget me because of it")).to_be_visible()
        she.page.get_by_role("button", name="Accept the change").click()
        she.go("Ledger")
        expect(she.page.get_by_text("Answer 1", exact=True)).to_be_visible()
        she.page.reload()  # it is pinned
        expect(she.page.get_by_text("Answer 1", exact=True)).to_be_visible()
    tokens = {one.all_headers()["authorization"] for one in she.requests if one.method == "POST"}
    assert len(tokens) == 1
    she.page.reload()  # the control: from now on the former key is the stranger
    _expect_refusal(she, "key_changed")


def test_another_way_of_protecting_is_shown_and_she_decides(visit: Visit, service: Service) -> None:
    she = visit()
    she.open()
    expect(she.page.get_by_text("rated or not")).to_be_visible()
    she.choose("Female")
    with lied_to(she, scheme_downgraded(Site(service.site))):
        she.page.reload()
        _expect_refusal(she, "scheme_changed")
        expect(she.page.get_by_role("button", name="Accept the change")).to_be_visible()


def test_the_first_screen_promises_what_the_scheme_keeps(visit: Visit, service: Service) -> None:
    """Without sub-sampling, which titles were rated is seen, and the page says so."""
    she = visit()
    disclosure, _ = _honest(Site(service.site))
    weaker = disclosure.model_copy(update={"scheme": "dmp", "reveal": None})
    titles = _titles(Site(service.site)).model_copy(update={"scheme": "dmp"})
    she.page.route(
        "**/v1/catalogues/**",
        lambda route: route.fulfill(status=200, content_type="application/json", body=titles.raw),
    )
    with lied_to(she, _signed_again(Site(service.site), weaker, STRANGER, titles)):
        she.open()
        she.page.get_by_role("button", name="I agree: what I rate may be seen").click()
        expect(she.page.get_by_text("which films you rated is not hidden")).to_be_visible()
        expect(she.page.get_by_text("rated or not")).to_have_count(0)


@pytest.mark.parametrize("lie", [another_past, unsigned])
def test_what_cannot_be_meant_is_not_hers_to_accept(
    visit: Visit, service: Service, lie: Lie
) -> None:
    she = visit()
    she.open()
    she.choose("Female")
    with lied_to(she, lie(Site(service.site))):
        she.page.reload()
        expect(she.page.get_by_role("alert")).to_contain_text("This service was refused")
        expect(she.page.get_by_role("button", name="Accept the change")).to_have_count(0)


def test_a_question_about_nothing_disclosed_is_refused_and_asked_for_again(visit: Visit) -> None:
    she = visit()
    she.page.route(
        "**/v1/solicitation",
        lambda route: route.fulfill(
            status=200,
            content_type="application/json",
            body=re.sub(r'"items":\["[^"]+"', '"items":["0000"', route.fetch().text()),
        ),
    )
    she.open()
    she.page.get_by_role("radio", name="Female", exact=True).check()
    she.page.get_by_role("button", name="Start rating").click()
    _expect_refusal(she, "unknown_item")
    she.page.unroute_all()
    she.page.get_by_role("button", name="Check again").click()
    she.rows.first.wait_for()
    assert she.sent == ["POST /v1/solicitation"] * 2


def test_titles_that_the_list_does_not_name_are_refused(visit: Visit, service: Service) -> None:
    titles = _titles(Site(service.site))
    swapped = titles.model_copy(update={"titles": tuple(reversed(titles.titles))})
    she = visit()
    she.page.route(
        "**/v1/catalogues/**",
        lambda route: route.fulfill(status=200, content_type="application/json", body=swapped.raw),
    )
    she.open()
    _expect_refusal(she, "wrong_titles")
    assert she.sent == []
    she.page.unroute_all()
    she.page.get_by_role("button", name="Check again").click()
    expect(she.page.get_by_role("button", name="Start rating")).to_be_visible()


def test_a_certificate_that_does_not_hold_is_refused(visit: Visit) -> None:
    she = visit()
    she.page.route(
        "**/certificates",
        lambda route: route.fulfill(
            status=200,
            content_type="application/json",
            body=route.fetch().text().replace("563000", "500000"),
        ),
    )
    she.open()
    _expect_refusal(she, "wrong_shape")
    assert she.sent == []


def test_plain_http_beyond_this_machine_is_warned_about(visit: Visit, service: Service) -> None:
    she = visit(url=f"http://midpoint.test:{service.port}", may_fail=True)
    she.open()
    expect(she.page.get_by_text("came over plain HTTP")).to_be_visible()
    she.choose("Female")
    she.rate_first((4, 4, 2))
    she.send()
    she.wait_for_recommendations()
    here = visit()
    here.open()
    expect(here.page.get_by_role("button", name="Start rating")).to_be_visible()
    expect(here.page.get_by_text("came over plain HTTP")).to_have_count(0)
