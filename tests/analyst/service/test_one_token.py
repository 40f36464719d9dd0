"""One token, however much it sends, takes no more than its share."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from sqlalchemy import text
from starlette.responses import Response

from midpoint.analyst import Training
from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service.http import routes
from midpoint.analyst.service.settings import Settings
from midpoint.analyst.storage import transaction
from midpoint.analyst.storage.connection import connect
from midpoint.wire import Report, Scores, Solicitation
from tests.support.sites.serving import Person, code_of, published, running, settings_of


@pytest.fixture
def site(tmp_path: Path, trained_stars: Training) -> Site:
    return published(tmp_path / "site", trained_stars.items)


@pytest.fixture
def settings(site: Site) -> Settings:
    return settings_of(site)


@pytest.fixture
def client(settings: Settings) -> Iterator[httpx.Client]:
    with running(settings) as opened:
        yield opened


def execute(settings: Settings, statement: str) -> list[tuple[object, ...]]:
    engine = connect(settings.database, writing=True)
    with engine.begin() as connection:
        found = connection.execute(text(statement))
        rows = [tuple(row) for row in found] if found.returns_rows else []
    engine.dispose()
    return rows


def numbers(response: httpx.Response) -> np.ndarray:
    parsed = Scores.parse(response.content)
    return np.array([parsed.score, parsed.deviation])


def test_a_report_in_another_form_is_refused(client: httpx.Client) -> None:
    """White space would be kept with it, a megabyte each time."""
    ann = Person(client)
    raw = ann.answer().raw
    content = json.loads(raw)
    forms = {
        "padded": raw + b" " * 1000,
        "spaced": raw.replace(b",", b", "),
        "unsorted": json.dumps(dict(reversed(content.items())), separators=(",", ":")).encode(),
        "escaped": raw.replace(b'"id"', b'"\\u0069d"'),
    }
    for name, form in forms.items():
        assert Report.parse(form).answers == Report.parse(raw).answers, name  # they say the same
        assert code_of(ann.send(form)) == (400, "malformed"), name
    assert ann.send(raw).status_code == 201  # the control


def test_no_more_is_kept_of_a_token_than_may_be(settings: Settings) -> None:
    with running(replace(settings, kept=2048)) as client:
        ann, sent = Person(client), []
        accepted = ann.accept()
        while ann.solicit(accepted.disclosure.digest).status_code == 200:
            report = ann.answer()
            found = ann.send(report)
            if found.status_code != 201:
                assert code_of(found) == (409, "space_used_up")
                break
            sent.append(report)
        else:
            assert code_of(ann.solicit(accepted.disclosure.digest)) == (409, "space_used_up")
        assert sent
        assert ann.send(sent[-1]).status_code == 200  # what is kept is still acknowledged
        assert ann.get("/v1/scores").status_code == 200
        bob = Person(client)
        assert bob.send(bob.answer()).status_code == 201  # others have their own share
    kept = execute(
        settings,
        "SELECT sum(length(report)) + (SELECT sum(length(solicitation)) FROM round) FROM report",
    )
    assert len(sent) > 0
    assert int(str(kept[0][0])) <= 2 * 2048
    with running(settings) as client:
        ann.client = client
        assert ann.send(ann.answer()).status_code == 201  # the control: with the usual limit


def test_only_an_export_reads_all_reports(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request used to read all of them: with 150 rounds strangers waited for seconds."""
    ann, read = Person(client), []
    ann.send(ann.answer())
    whole = transaction.histories_of

    def counted(*arguments: object) -> object:
        read.append(arguments)
        return whole(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(transaction, "histories_of", counted)
    for _ in range(3):
        assert ann.send(ann.answer()).status_code == 201
        assert ann.get("/v1/scores").status_code == 200
        assert ann.get("/v1/scores?top=3&margin=2").status_code == 200
    assert read == []
    assert len(ann.get("/v1/pseudonym").json()["reports"]) == 4
    assert len(read) == 1  # the control: it would be seen


def test_what_is_shown_of_a_token_counts_by_its_length(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export of all that may be kept took 0.3 s of the one thread that serves everybody."""
    written = []
    exported = routes._exported

    def noted(*arguments: Any) -> Response:
        written.append(threading.current_thread().name)
        return exported(*arguments)

    monkeypatch.setattr(routes, "_exported", noted)
    with running(replace(settings, rate=50)) as client:
        ann, bob = Person(client), Person(client)
        for person in (ann, bob):
            person.send(person.answer())
        assert [ann.get("/v1/pseudonym").status_code for _ in range(3)] == [200] * 3  # the control
        monkeypatch.setattr(routes, "PIECE", 4)
        assert ann.get("/v1/pseudonym").status_code == 200
        assert code_of(ann.get("/v1/pseudonym")) == (429, "too_many")
        assert code_of(ann.get("/v1/scores")) == (429, "too_many")
        assert bob.get("/v1/pseudonym").status_code == 200
    with running(replace(settings, rate=3)) as client:
        ann = Person(client)
        ann.send(ann.answer())
        assert ann.get("/v1/pseudonym").status_code == 200  # the last of three, and its length
        assert code_of(ann.get("/v1/pseudonym")) == (429, "too_many")
    assert len(written) == 6
    assert all(name.startswith("reader") for name in written)  # nobody else's request waits for it


def test_repeated_answers_do_not_make_a_summary_longer(
    client: httpx.Client, settings: Settings
) -> None:
    """An open round may answer everything again, so bytes of reports grow with their number."""
    ann = Person(client)
    digest = ann.accept().disclosure.digest
    answers = ann.answer().answers
    lengths = []
    for number in range(6):
        asked = Solicitation.parse(ann.solicit(digest).content)
        report = Report(id=f"{number:032x}", disclosure=digest, round=asked.round, answers=answers)
        assert ann.send(report).status_code == 201
        lengths.append(int(str(execute(settings, "SELECT length(summary) FROM pseudonym")[0][0])))
    asked_more = max(len(item) for item in ann.accept().disclosure.items) * settings.ask * 2
    assert np.diff(lengths).max() < 200 + asked_more


def test_scores_are_computed_from_what_is_kept(client: httpx.Client, settings: Settings) -> None:
    ann = Person(client)
    ann.send(ann.answer(stars=1))
    kept = numbers(ann.get("/v1/scores"))
    execute(settings, "UPDATE pseudonym SET model = 'another model'")
    again = numbers(ann.get("/v1/scores"))
    assert np.abs(kept - again).max() <= 1  # another model's sums are not used
    execute(settings, "UPDATE pseudonym SET model = NULL, sums = NULL, summary = NULL, mark = 0")
    from_reports = numbers(ann.get("/v1/scores"))
    assert np.abs(kept - from_reports).max() <= 1
    ann.send(ann.answer(stars=5))
    stranger = Person(client)
    stranger.send(stranger.answer(stars=5))
    execute(
        settings,
        "UPDATE pseudonym SET sums = (SELECT max(sums) FROM pseudonym),"
        " model = (SELECT max(model) FROM pseudonym)",
    )
    mixed = [numbers(person.get("/v1/scores")) for person in (ann, stranger)]
    assert (mixed[0] == mixed[1]).all()  # the control: sums are all that is read


def test_erasing_takes_the_statistics_as_well(client: httpx.Client, settings: Settings) -> None:
    ann = Person(client)
    nobody = numbers(ann.get("/v1/scores"))
    ann.send(ann.answer(stars=1))
    assert execute(settings, "SELECT count(sums), count(summary) FROM pseudonym") == [(1, 1)]
    assert (numbers(ann.get("/v1/scores")) != nobody).any()
    assert client.delete("/v1/pseudonym", headers=ann.headers).status_code == 204
    assert execute(settings, "SELECT count(*) FROM pseudonym") == [(0,)]
    assert (numbers(ann.get("/v1/scores")) == nobody).all()
