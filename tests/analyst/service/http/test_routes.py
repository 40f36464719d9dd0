"""The interface, request by request, against a running service."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import httpx
import pytest

from midpoint.analyst import Scorer, Training, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.wire import (
    ONE,
    Catalogue,
    Certificates,
    Chain,
    Disclosure,
    Entry,
    Message,
    Problem,
    Receipt,
    Report,
    Scores,
    Signed,
    Solicitation,
    SolicitationRequest,
    digest,
)
from tests.support.serving import JSON, Person, code_of, published, running, settings_of


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, trained_stars: Training) -> Site:
    return published(tmp_path_factory.mktemp("site"), trained_stars.items)


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[httpx.Client]:
    with running(settings_of(site)) as opened:
        yield opened


@pytest.fixture
def ann(client: httpx.Client) -> Person:
    return Person(client)


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
    assert first.headers["cache-control"] == "public, no-cache"
    for held in (first.headers["etag"], f'"x", W/{first.headers["etag"]}'):
        again = client.get(f"/v1/{path}", headers={"If-None-Match": held})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
    assert client.get(f"/v1/{path}", headers={"If-None-Match": '"x"'}).status_code == 200


def test_what_is_named_by_its_digest_never_changes(client: httpx.Client, ann: Person) -> None:
    entry = ann.accept().entry
    for kind, name in (("disclosures", entry.disclosure), ("catalogues", entry.catalogue)):
        found = client.get(f"/v1/{kind}/{name}")
        assert found.headers["cache-control"] == "public, max-age=31536000, immutable"
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


def test_a_round_is_the_same_until_it_is_answered_and_then_another(ann: Person) -> None:
    current = ann.accept().disclosure.digest
    first = ann.solicit(current)
    assert ann.solicit(current).content == first.content
    asked = Solicitation.parse(first.content)
    assert (asked.round, asked.open, len(asked.items)) == (0, True, 8)
    assert ann.send(ann.answer()).status_code == 201
    second = Solicitation.parse(ann.solicit(current).content)
    assert second.round == 1
    assert not set(second.items) & set(asked.items)


def test_the_first_question_is_the_same_for_all_and_the_next_depends_on_answers(
    client: httpx.Client,
) -> None:
    people = [Person(client) for _ in range(3)]
    current = people[0].accept().disclosure.digest
    first = {p.solicit(current).content for p in people}
    assert len(first) == 1
    asked = Solicitation.parse(first.pop()).items
    for person, told in zip(people, (asked[:2], asked[:2], asked[4:]), strict=True):
        answers = tuple((item, 4 * ONE) for item in told)
        report = Report(id="0" * 32, disclosure=current, round=0, answers=answers)
        assert person.send(report).status_code == 201
    second = [p.solicit(current).content for p in people]
    assert second[0] == second[1] != second[2]


def test_all_items_are_asked_once_and_then_none(client: httpx.Client, site: Site) -> None:
    ann, seen = Person(client), list[str]()
    for _ in range(20):
        report = ann.answer()
        asked = Solicitation.parse(
            json.loads(ann.get("/v1/pseudonym").content)["rounds"][-1]["solicitation"].encode()
        )
        assert not set(asked.items) & set(seen)
        seen += asked.items
        assert ann.send(report).status_code == 201
        if not asked.items:
            break
    shown = site.disclosure(report.disclosure)
    assert 70 < len(seen) <= len(shown.items)
    assert asked.items == ()
    assert asked.open


def test_a_report_is_kept_once_and_says_so_again(ann: Person) -> None:
    report = ann.answer()
    receipt = ann.send(report)
    assert receipt.status_code == 201
    told = Receipt.parse(receipt.content)
    assert (told.report, told.answers) == (report.digest, len(report.answers))
    again = ann.send(report)
    assert (again.status_code, again.content) == (200, receipt.content)


def test_answers_of_several_rounds_add_up_and_more_may_be_told(ann: Person) -> None:
    first = ann.answer(more={"0001": 2 * ONE})
    ann.send(first)
    second = ann.answer()
    told = Receipt.parse(ann.send(second).content)
    assert told.answers == len(dict(first.answers) | dict(second.answers))


def test_another_report_in_the_same_place_is_refused(ann: Person) -> None:
    report = ann.answer()
    ann.send(report)
    spaced = report.raw.replace(b",", b", ")
    renamed = report.model_copy(update={"id": "f" * 32})
    moved = report.model_copy(update={"round": 1, "answers": ()})
    for changed in (spaced, renamed, report.model_copy(update={"answers": ()}), moved):
        assert code_of(ann.send(changed)) == (409, "report_changed")
    assert ann.send(report).status_code == 200
    # An item that was answered keeps its answer in later rounds.
    ann.answer()
    item, value = report.answers[0]
    fresh = {"id": "e" * 32, "round": 1}
    other = report.model_copy(update={**fresh, "answers": ((item, 6 * ONE - value),)})
    if 6 * ONE - value != value:
        assert code_of(ann.send(other)) == (409, "report_changed")
    same = report.model_copy(update={**fresh, "answers": ((item, value),)})
    assert ann.send(same).status_code == 201


def test_a_report_belongs_to_a_round_of_this_token(client: httpx.Client, ann: Person) -> None:
    report = ann.answer()
    assert code_of(Person(client).send(report)) == (409, "round_unknown")
    later = report.model_copy(update={"round": 9})
    assert code_of(ann.send(later)) == (409, "round_unknown")
    unknown = report.model_copy(update={"disclosure": "0" * 64})
    assert code_of(ann.send(unknown)) == (409, "unknown_disclosure")
    assert ann.send(report).status_code == 201


@pytest.mark.parametrize(
    "answers",
    [(("nothing", ONE),), (("0001", ONE + 1),), (("0001", 0),), (("0001", 6 * ONE),),
     (("0001", -(2**53) + 1),)],
)  # fmt: skip
def test_what_no_device_sends_is_refused(ann: Person, answers: tuple[tuple[str, int], ...]) -> None:
    report = ann.answer().model_copy(update={"answers": answers})
    assert code_of(ann.send(report)) == (400, "malformed")


def test_a_solicitation_is_for_the_current_disclosure(ann: Person) -> None:
    assert code_of(ann.solicit("0" * 64)) == (409, "not_current")


def test_scores_are_what_the_library_computes(ann: Person, trained_stars: Training) -> None:
    profiles, shown = trained_stars.items, ann.accept().disclosure
    reports = []
    for stars in (5, 2):
        reports.append(ann.answer(stars))
        ann.send(reports[-1])
    scorer = Scorer(profiles, shown)
    for path, expected in (
        ("/v1/scores", scorer.scores(reports)),
        ("/v1/scores?top=3&margin=5", scorer.top(reports, top=3, margin=5)),
    ):
        found = Scores.parse(ann.get(path).content)
        assert found.items == expected.items
        assert found.disclosure == shown.digest
        for name in ("score", "deviation"):
            pairs = zip(getattr(found, name), getattr(expected, name), strict=True)
            assert max(abs(a - b) for a, b in pairs) <= 1  # the last bit, by another order of sums


def test_nobody_has_to_be_known_to_get_scores(
    client: httpx.Client, trained_stars: Training
) -> None:
    somebody = Person(client)
    profiles = trained_stars.items
    blank = Scorer(profiles, disclose(profiles)).scores([])
    found = Scores.parse(somebody.get("/v1/scores").content)
    assert max(abs(a - b) for a, b in zip(found.score, blank.score, strict=True)) <= 1
    assert code_of(somebody.get("/v1/pseudonym")) == (404, "not_found")


def test_export_holds_everything_and_erase_leaves_nothing(client: httpx.Client) -> None:
    ann, bob = Person(client), Person(client)
    reports = [ann.answer(), bob.answer()]
    for person, report in zip((ann, bob), reports, strict=True):
        person.send(report)
    ann.solicit(ann.accept().disclosure.digest)
    told = json.loads(ann.get("/v1/pseudonym").content)
    assert set(told) == {"version", "created", "rounds", "reports"}
    assert [kept["report"].encode() for kept in told["reports"]] == [reports[0].raw]
    assert [kept["number"] for kept in told["rounds"]] == [0, 1]
    assert ann.token not in json.dumps(told)
    for _ in range(2):
        gone = client.delete("/v1/pseudonym", headers=ann.headers)
        assert (gone.status_code, gone.content) == (204, b"")
    assert code_of(ann.get("/v1/pseudonym")) == (404, "not_found")
    assert code_of(ann.send(reports[0])) == (409, "round_unknown")
    assert bob.get("/v1/pseudonym").status_code == 200


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


def test_operators_see_health_and_figures(client: httpx.Client, ann: Person) -> None:
    assert client.get("/health/live").json() == {"status": "live"}
    assert client.get("/health/ready").json() == {"status": "ready"}
    ann.send(ann.answer())
    shown = client.get("/metrics").text
    assert 'midpoint_reports_total{kind="new"}' in shown
    assert 'route="/v1/disclosures/{digest}"' in shown
    assert ann.token not in shown
    for name in ("midpoint_commit_requests", "midpoint_commit_seconds", "midpoint_profile_error"):
        assert f"{name}_bucket" in shown


def test_the_interface_is_described(client: httpx.Client) -> None:
    told = client.get("/v1/openapi.json").json()
    assert set(told["paths"]) == {
        "/v1/catalogue",
        "/v1/catalogues/{digest}",
        "/v1/disclosure",
        "/v1/disclosures/{digest}",
        "/v1/disclosures/{digest}/certificates",
        "/v1/chain",
        "/v1/chain/head",
        "/v1/solicitation",
        "/v1/reports",
        "/v1/scores",
        "/v1/pseudonym",
    }
    report = told["paths"]["/v1/reports"]["post"]
    schema = report["requestBody"]["content"]["application/json"]["schema"]
    assert set(schema["properties"]) == set(Report.model_fields)
    assert schema["additionalProperties"] is False
    assert {"200", "201", "400", "401", "409", "413", "415", "429", "503"} <= set(
        report["responses"]
    )


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


def test_the_database_holds_no_token(client: httpx.Client, site: Site) -> None:
    ann = Person(client)
    ann.send(ann.answer())
    files = [path for path in Path(site.root).iterdir() if path.name.startswith("midpoint.sqlite")]
    kept = b"".join(path.read_bytes() for path in files)
    assert bytes.fromhex(digest(bytes.fromhex(ann.token))) in kept
    assert ann.token.encode() not in kept
    assert bytes.fromhex(ann.token) not in kept
