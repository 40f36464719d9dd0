"""Headers of every response."""

import httpx

from tests.support.sites.serving import Person


def test_every_response_is_confined_and_sets_no_cookie(client: httpx.Client, ann: Person) -> None:
    for response in (
        client.get("/v1/chain"),
        client.get("/"),
        client.get("/x"),
        ann.get("/v1/scores"),
    ):
        policy = response.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in response.headers
        assert "server" not in response.headers


def test_what_is_personal_is_never_cached_nor_read_by_other_sites(ann: Person) -> None:
    for response in (ann.get("/v1/scores"), ann.get("/v1/pseudonym"), ann.solicit("0" * 64)):
        assert response.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in response.headers
    shown = ann.client.get("/v1/chain/head")
    assert shown.headers["access-control-allow-origin"] == "*"
