"""Rounds, reports, scores, export and erasure, request by request, against a running service."""

import json
from pathlib import Path

import httpx
import pytest

from midpoint.analyst import Scorer, Training, disclose
from midpoint.analyst.disclose.site import Site
from midpoint.wire import (
    ONE,
    Receipt,
    Report,
    Scores,
    Solicitation,
    digest,
)
from tests.support.sites.serving import Person, code_of


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
    for person, items in zip(people, (asked[:2], asked[:2], asked[4:]), strict=True):
        answers = tuple((item, 4 * ONE) for item in items)
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
    kept = Receipt.parse(receipt.content)
    assert (kept.report, kept.answers) == (report.digest, len(report.answers))
    again = ann.send(report)
    assert (again.status_code, again.content) == (200, receipt.content)


def test_answers_of_several_rounds_add_up_and_more_may_be_added(ann: Person) -> None:
    first = ann.answer(more={"0001": 2 * ONE})
    ann.send(first)
    second = ann.answer()
    receipt = Receipt.parse(ann.send(second).content)
    assert receipt.answers == len(dict(first.answers) | dict(second.answers))


def test_another_report_of_the_same_round_is_refused(ann: Person) -> None:
    report = ann.answer()
    ann.send(report)
    renamed = report.model_copy(update={"id": "f" * 32})
    moved = report.model_copy(update={"round": 1, "answers": ()})
    for changed in (renamed, report.model_copy(update={"answers": ()}), moved):
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
    export = json.loads(ann.get("/v1/pseudonym").content)
    assert set(export) == {"version", "created", "rounds", "reports"}
    assert [kept["report"].encode() for kept in export["reports"]] == [reports[0].raw]
    assert [kept["number"] for kept in export["rounds"]] == [0, 1]
    assert ann.token not in json.dumps(export)
    for _ in range(2):
        gone = client.delete("/v1/pseudonym", headers=ann.headers)
        assert (gone.status_code, gone.content) == (204, b"")
    assert code_of(ann.get("/v1/pseudonym")) == (404, "not_found")
    assert code_of(ann.send(reports[0])) == (409, "round_unknown")
    assert bob.get("/v1/pseudonym").status_code == 200


def test_operators_see_health_and_figures(client: httpx.Client, ann: Person) -> None:
    assert client.get("/health/live").json() == {"status": "live"}
    assert client.get("/health/ready").json() == {"status": "ready"}
    report = ann.answer()
    ann.send(report)
    assert client.get(f"/v1/disclosures/{report.disclosure}").status_code == 200
    shown = client.get("/metrics").text
    assert 'midpoint_reports_total{kind="new"}' in shown
    assert 'route="/v1/disclosures/{digest}"' in shown
    assert ann.token not in shown
    for name in ("midpoint_commit_requests", "midpoint_commit_seconds", "midpoint_profile_error"):
        assert f"{name}_bucket" in shown


def test_the_database_holds_no_token(client: httpx.Client, site: Site) -> None:
    ann = Person(client)
    ann.send(ann.answer())
    files = [path for path in Path(site.root).iterdir() if path.name.startswith("midpoint.sqlite")]
    kept = b"".join(path.read_bytes() for path in files)
    assert bytes.fromhex(digest(bytes.fromhex(ann.token))) in kept
    assert ann.token.encode() not in kept
    assert bytes.fromhex(ann.token) not in kept


@pytest.mark.parametrize(
    "path", ["/", "/v1/chain", "/v1/disclosure", "/health/live", "/health/ready", "/assets.json"]
)
def test_head_is_answered_as_get_without_a_body(client: httpx.Client, path: str) -> None:
    whole, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers.get("etag") == whole.headers.get("etag")
    assert client.head("/v1/nothing").status_code == 404
