"""Requests that the service declines, and how it says so."""

import gzip
import json
from collections.abc import Iterator

import httpx
import pytest

from midpoint.wire import (
    Message,
    Problem,
    Report,
    SolicitationRequest,
)
from tests.support.sites.serving import JSON, Person, code_of


@pytest.mark.parametrize(
    "value",
    [None, "", "Bearer", "Bearer " + "0" * 63, "Bearer " + "0" * 65, "Bearer " + "A" * 64,
     "Basic " + "0" * 64, "Bearer  " + "0" * 64, "Bearer " + "0" * 64 + " "],
)  # fmt: skip
def test_a_token_is_needed_and_has_one_form(client: httpx.Client, value: str | None) -> None:
    headers = {} if value is None else {"Authorization": value}
    if value is not None and value.strip() != value:  # the server strips what is around a value
        return
    for method, path in (
        ("GET", "/v1/scores"),
        ("GET", "/v1/pseudonym"),
        ("DELETE", "/v1/pseudonym"),
        ("POST", "/v1/reports"),
        ("POST", "/v1/solicitation"),
    ):
        assert code_of(client.request(method, path, headers=headers)) == (401, "token_needed")


def test_unknown_parameters_are_refused_everywhere(client: httpx.Client, ann: Person) -> None:
    for path in (
        *("/v1/catalogue", "/v1/disclosure", "/v1/chain", "/v1/chain/head", "/v1/scores"),
        *("/v1/pseudonym", f"/v1/disclosures/{'0' * 64}"),
    ):
        assert code_of(ann.get(f"{path}?gender=F")) == (400, "malformed")
    for query in ("top=0", "top=-1", "top=x", "top=1&top=2", "margin=3", "top=1e3", "top=٣"):
        assert code_of(ann.get(f"/v1/scores?{query}")) == (400, "malformed")
    assert code_of(client.post("/v1/reports?x=1", headers=ann.headers)) == (400, "malformed")


def test_bodies_are_messages_and_nothing_else(client: httpx.Client, ann: Person) -> None:
    report = ann.answer()
    private = json.dumps({**json.loads(report.raw), "gender": "F"}).encode()
    for raw in (b"", b"{}", b"[]", private, report.raw[:-1], b"\xff", b'{"a":NaN}'):
        assert code_of(ann.send(raw)) == (400, "malformed")
    body = SolicitationRequest(disclosure=report.disclosure).raw
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        headers = {**ann.headers, "Content-Type": kind}
        found = client.post("/v1/solicitation", headers=headers, content=body)
        assert code_of(found) == (415, "media_type")
    squeezed = client.post(
        "/v1/reports",
        headers={**ann.headers, "Content-Encoding": "gzip"},
        content=gzip.compress(report.raw),
    )
    assert code_of(squeezed) == (415, "media_type")
    assert ann.send(report).status_code == 201


def test_large_bodies_are_refused_before_they_are_read(ann: Person) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(10_000):
            yield b" " * 1024

    for body in (b" " * (2**20 + 1), endless()):
        found = ann.client.post("/v1/reports", headers=ann.headers, content=body)
        assert code_of(found) == (413, "too_large")
    big = ann.client.post("/v1/solicitation", headers=ann.headers, content=b" " * 1025)
    assert code_of(big) == (413, "too_large")


def test_every_refusal_is_a_problem(client: httpx.Client, ann: Person) -> None:
    found = [
        client.get("/nothing"),
        client.put("/v1/reports"),
        client.patch("/v1/chain"),
        ann.get("/v1/scores?x=1"),
        client.get("/v1/scores"),
        client.get("/assets/none.js"),
    ]
    assert [r.status_code for r in found] == [404, 405, 405, 400, 401, 404]
    for response in found:
        assert response.headers["content-type"] == "application/json"
        assert Problem.parse(response.content).message
    assert found[1].headers["allow"] == "POST"


def test_messages_are_refused_by_one_rule(client: httpx.Client, ann: Person) -> None:
    """The service reads as strictly as a device does: the same refusals, word for word."""
    kinds: tuple[tuple[str, type[Message]], ...] = (
        ("/v1/reports", Report),
        ("/v1/solicitation", SolicitationRequest),
    )
    for path, kind in kinds:
        found = client.post(path, headers=ann.headers, content=b'{"version":1,"version":1}')
        problem = Problem.parse(found.content)
        assert problem.message == "the key 'version' appears twice in one object [duplicate_key]"
        assert kind.__name__ not in problem.message
    assert JSON["Content-Type"] == "application/json"
