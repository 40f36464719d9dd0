"""Public documents: exact bytes, revalidated, compressed."""

import gzip

import brotli  # type: ignore[import-untyped]
import httpx
import pytest

from midpoint.analyst.disclose.site import Site
from midpoint.wire import (
    Catalogue,
    Certificates,
    Chain,
    Disclosure,
    Entry,
    Signed,
    digest,
)
from tests.support.sites.serving import Person, code_of


def test_everyone_sees_the_same_exact_bytes(client: httpx.Client, site: Site) -> None:
    chain = Chain.parse(client.get("/v1/chain").content)
    assert chain.raw == site.list.read_bytes()
    head = Signed.parse(client.get("/v1/chain/head").content)
    assert head == chain.entries[-1]
    current = head.open(Entry).disclosure
    raw = client.get("/v1/disclosure").content
    assert digest(raw) == current
    assert client.get(f"/v1/disclosures/{current}").content == raw
    shown = Disclosure.parse(raw)
    catalogue = Catalogue.parse(client.get("/v1/catalogue").content)
    assert catalogue.items == shown.items
    assert catalogue.digest == head.open(Entry).catalogue
    assert client.get(f"/v1/catalogues/{catalogue.digest}").content == catalogue.raw
    found = client.get(f"/v1/disclosures/{current}/certificates").content
    assert Certificates.parse(found).certificates == ()


@pytest.mark.parametrize("path", ["catalogue", "disclosure", "chain", "chain/head"])
def test_public_answers_are_revalidated_by_their_digest(client: httpx.Client, path: str) -> None:
    first = client.get(f"/v1/{path}")
    assert first.headers["etag"] == f'"{digest(first.content)}"'
    assert first.headers["cache-control"] == "no-store"
    for held in (first.headers["etag"], f'"x", W/{first.headers["etag"]}'):
        again = client.get(f"/v1/{path}", headers={"If-None-Match": held})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
    assert client.get(f"/v1/{path}", headers={"If-None-Match": '"x"'}).status_code == 200


def test_what_is_named_by_its_digest_never_changes(client: httpx.Client, ann: Person) -> None:
    entry = ann.accept().entry
    for kind, name in (("disclosures", entry.disclosure), ("catalogues", entry.catalogue)):
        found = client.get(f"/v1/{kind}/{name}")
        assert found.headers["cache-control"] == "no-store"
        for missing in ("0" * 64, "x", "..%2flist"):
            assert code_of(client.get(f"/v1/{kind}/{missing}")) == (404, "not_found")


def test_a_certificate_that_cannot_be_read_is_a_503(
    client: httpx.Client, ann: Person, site: Site
) -> None:
    digest_of = ann.accept().disclosure.digest
    path = site.root / "certificates" / digest_of / f"{'0' * 64}.json"
    path.parent.mkdir(parents=True)
    for content in (b"{", site.list.read_bytes()):
        path.write_bytes(content)
        found = client.get(f"/v1/disclosures/{digest_of}/certificates")
        assert code_of(found) == (503, "unavailable")
    path.unlink()
    assert client.get(f"/v1/disclosures/{digest_of}/certificates").status_code == 200


@pytest.mark.parametrize(
    ("accepts", "used"),
    [("gzip", "gzip"), ("br", "br"), ("gzip, br;q=0.5", "br"), ("br;q=0, gzip", "gzip"),
     ("identity", None), ("br;q=0.0", None), ("zstd", None)],
)  # fmt: skip
def test_bodies_are_compressed_as_the_client_likes(
    client: httpx.Client, ann: Person, accepts: str, used: str | None
) -> None:
    plain = client.get("/v1/disclosure", headers={"Accept-Encoding": "identity"}).content
    for path, expected in (("/v1/disclosure", plain), ("/v1/scores", None)):
        with client.stream(
            "GET", path, headers={**ann.headers, "Accept-Encoding": accepts}
        ) as found:
            raw = b"".join(found.iter_raw())
        assert found.headers.get("content-encoding") == used
        opened = {"gzip": gzip.decompress, "br": brotli.decompress, None: bytes}[used](raw)
        assert expected in (None, opened)


def test_a_disclosure_is_packed_as_small_as_can_be_done_in_seconds(client: httpx.Client) -> None:
    """Phones load it before anything is checked; titles are packed in a moment."""
    for path, quality, other in (("disclosure", 11, 9), ("catalogue", 9, 11)):
        with client.stream("GET", f"/v1/{path}", headers={"Accept-Encoding": "br"}) as answer:
            sent = b"".join(answer.iter_raw())
        raw = brotli.decompress(sent)
        assert sent == brotli.compress(raw, quality=quality)
        assert sent != brotli.compress(raw, quality=other)
