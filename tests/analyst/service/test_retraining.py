"""A new model becomes current under load: nobody is dropped, nobody is asked again."""

import json
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from midpoint.analyst import Factorizer, ItemProfiles, disclose, publish, train
from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service.http.documents import Document
from midpoint.analyst.service.state.publication import load
from midpoint.data import Simulation
from midpoint.errors import MidpointError
from midpoint.files import replace_file
from midpoint.wire import (
    ONE,
    Catalogue,
    Chain,
    Receipt,
    Scores,
    SigningKey,
    Solicitation,
    digest,
)
from tests.support.sites.serving import START, Person, code_of, published, running, settings_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def models(stars: Simulation) -> list[ItemProfiles]:
    """Two models: the second was trained again, on more dimensions, and lacks some items."""
    ratings = stars.ratings
    quick = Factorizer(dimension=3, iterations=3, validation=0.0)
    first = train(ratings, "gender", factorizer=quick, scheme="dmpss")
    fewer = ratings.select_items(np.arange(5, ratings.n_items))
    wider = replace(quick, dimension=4, seed=2)
    second = train(fewer, "gender", factorizer=wider, scheme="dmpss")
    assert disclose(first).digest != disclose(second).digest
    return [first, second]


def test_a_switch_drops_nothing_and_asks_nothing_again(
    models: list[ItemProfiles], tmp_path: Path
) -> None:
    now = int(time.time())
    site = published(tmp_path, models[0], at=now)
    with running(settings_of(site)) as client:
        ann, bob = Person(client), Person(client)
        report, old = ann.answer(), ann.accept().disclosure
        ann.send(report)
        late = bob.answer()  # answered before the switch, sent after it
        statuses, stop = Counter[int](), threading.Event()

        def hammer() -> None:
            while not stop.is_set():
                for path in ("/v1/disclosure", "/v1/chain", "/v1/scores", "/v1/catalogue"):
                    statuses[ann.get(path).status_code] += 1

        threads = [threading.Thread(target=hammer) for _ in range(4)]
        for thread in threads:
            thread.start()
        site.publish(models[1], disclose(models[1]), time=now + 1)
        new = ann.accept().disclosure
        time.sleep(0.3)
        stop.set()
        for thread in threads:
            thread.join()
        assert set(statuses) == {200}
        assert new.digest == disclose(models[1]).digest != old.digest
        assert code_of(ann.solicit(old.digest)) == (409, "not_current")
        assert bob.send(late).status_code == 201
        assert client.get(f"/v1/disclosures/{old.digest}").content == old.raw
        assert len(Chain.parse(client.get("/v1/chain").content).entries) == 2

        asked = Solicitation.parse(ann.solicit(new.digest).content)
        before = {r["solicitation"] for r in json.loads(ann.get("/v1/pseudonym").content)["rounds"]}
        earlier = {
            i for text in before for i in json.loads(text)["items"] if text.encode() != asked.raw
        }
        assert earlier
        assert not set(asked.items) & (earlier | set(dict(report.answers)))
        assert ann.send(ann.answer()).status_code == 201
        scores = Scores.parse(ann.get("/v1/scores").content)
        assert scores.items == new.items
        assert scores.disclosure == new.digest


def test_scores_are_estimated_again_from_the_reports_that_are_kept(
    models: list[ItemProfiles], tmp_path: Path
) -> None:
    site = published(tmp_path, models[0])
    gone = str(models[0].item_ids[0])
    with running(settings_of(site)) as client:
        ann, nobody = Person(client), Person(client)
        receipt = Receipt.parse(ann.send(ann.answer(5, more={gone: ONE})).content)
        assert receipt.answers > 5
        site.publish(models[1], disclose(models[1]), time=START + 1)
        assert gone not in Catalogue.parse(client.get("/v1/catalogue").content).items
        mine, blank = (
            Scores.parse(person.get("/v1/scores").content).score for person in (ann, nobody)
        )
        assert np.abs(np.subtract(mine, blank)).max() > ONE // 20


def test_a_superseded_disclosure_is_taken_for_a_while_and_then_retired(
    models: list[ItemProfiles], tmp_path: Path
) -> None:
    now = int(time.time())
    for age, expected in ((10, 201), (1000, 409)):
        site = published(tmp_path / str(age), models[0], at=now - 2000)
        with running(settings_of(site, grace=100)) as client:
            ann = Person(client)
            kept, report = Person(client), ann.answer()
            earlier = kept.answer()
            kept.send(earlier)
            site.publish(models[1], disclose(models[1]), time=now - age)
            ann.accept()
            found = ann.send(report)
            assert found.status_code == expected
            if expected == 409:
                assert code_of(found) == (409, "retired_disclosure")
            assert kept.send(earlier).status_code == 200  # what is kept is kept


def test_what_is_retired_is_shown_without_any_work(
    models: list[ItemProfiles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger who asked for many old ones kept a core busy, and others waited behind him.

    What has just been replaced is still ready, too, in a worker that showed it.
    """
    now, worked = int(time.time()), []
    of = Document.of

    def counted(raw: bytes, **how: Any) -> Document:
        worked.append(raw)
        return of(raw, **how)

    def work_for(client: httpx.Client, old: bytes, titles: bytes) -> int:
        with monkeypatch.context() as patched:
            patched.setattr(Document, "of", counted)
            worked.clear()
            for _ in range(2):
                assert client.get(f"/v1/disclosures/{digest(old)}").content == old
                assert client.get(f"/v1/catalogues/{digest(titles)}").content == titles
        return len(worked)

    for age, work in ((10, 2), (1000, 0)):
        site = published(tmp_path / str(age), models[0], at=now - 2000)
        settings = settings_of(site, grace=100)
        with running(settings) as client:
            old, titles = client.get("/v1/disclosure").content, client.get("/v1/catalogue").content
            assert work_for(client, old, titles) == 0
            site.publish(models[1], disclose(models[1]), time=now - age)
            assert client.get("/v1/disclosure").content != old
            assert work_for(client, old, titles) == 0
        with running(settings) as client:  # a worker that never showed it
            assert work_for(client, old, titles) == work


def test_a_site_that_cannot_be_read_keeps_showing_the_last_model(
    models: list[ItemProfiles], tmp_path: Path
) -> None:
    site = published(tmp_path, models[0])
    with running(settings_of(site)) as client:
        shown = client.get("/v1/disclosure").content
        good = site.list.read_bytes()
        site.list.write_bytes(b"{")
        assert client.get("/v1/disclosure").content == shown
        assert code_of(client.get("/health/ready")) == (503, "unavailable")
        assert client.get("/health/live").status_code == 200
        site.list.write_bytes(good)
        assert client.get("/v1/disclosure").content == shown


def test_the_same_model_is_published_once(models: list[ItemProfiles], tmp_path: Path) -> None:
    site = Site(tmp_path)
    disclosure = disclose(models[0])
    assert [site.publish(models[0], disclosure, time=START + n).fresh for n in range(2)] == [
        True,
        False,
    ]
    other = replace(models[0], noise_variance=2 * models[0].noise_variance)
    assert site.publish(other, disclosure, time=START + 9).fresh
    assert site.profiles(disclosure.digest).noise_variance == other.noise_variance
    assert site.publish(models[1], disclose(models[1]), time=START + 10).entry.sequence == 2


def test_titles_are_published_with_the_model(models: list[ItemProfiles], tmp_path: Path) -> None:
    """Another title alone is another entry; the older ones stay where devices may ask for them."""
    site, disclosure = published(tmp_path, models[0]), disclose(models[0])
    names = models[0].item_names.astype("U80").copy()
    names[0] = "Another title"
    renamed = replace(models[0], item_names=names)
    with running(settings_of(site)) as client:
        before = client.get("/v1/catalogue").content
        done = site.publish(renamed, disclosure, time=START + 1)
        assert done.fresh
        after = client.get("/v1/catalogue").content
        assert digest(after) == done.entry.catalogue
        assert b"Another title" in after
        assert client.get(f"/v1/catalogues/{digest(before)}").content == before
    assert not site.publish(renamed, disclosure, time=START + 2).fresh


def test_a_site_from_before_titles_were_signed_is_published_again(
    models: list[ItemProfiles], tmp_path: Path
) -> None:
    site, disclosure = published(tmp_path, models[0]), disclose(models[0])
    key = SigningKey.load(site.root / "key.pem")
    replace_file(site.list, Chain(entries=(publish(disclosure, key, time=START),)).raw)
    with pytest.raises(MidpointError, match=r"names no titles.*midpoint publish"):
        load(site, 5)
    assert site.publish(models[0], disclosure, time=START + 1).entry.sequence == 1
    assert load(site, 5).catalogues.keys() == {digest(load(site, 5).catalogue.raw)}


def test_whatever_is_wrong_with_a_new_state_the_old_one_is_served(
    models: list[ItemProfiles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also an error that nobody thought of; and it is not tried for every request."""
    tried = []

    def fail(*_: object) -> None:
        tried.append(1)
        raise ZeroDivisionError

    site = published(tmp_path, models[0])
    with running(settings_of(site)) as client:
        shown = client.get("/v1/disclosure").content
        monkeypatch.setattr("midpoint.analyst.service.state.publication.load", fail)
        site.publish(models[1], disclose(models[1]), time=START + 1)
        assert [client.get("/v1/disclosure").content for _ in range(5)] == [shown] * 5
        assert len(tried) == 1
        assert code_of(client.get("/health/ready")) == (503, "unavailable")


def test_what_devices_would_refuse_is_not_published(
    models: list[ItemProfiles], tmp_path: Path
) -> None:
    site = published(tmp_path, models[0])
    renamed = replace(models[0], features=(("gender", ("X", "M")),))
    with pytest.raises(MidpointError, match="features are not those published before"):
        site.publish(renamed, disclose(renamed), time=START)
    (tmp_path / "key.pem").rename(tmp_path / "elsewhere.pem")
    with pytest.raises(MidpointError, match="restore the key"):
        site.publish(models[1], disclose(models[1]), time=START)
    (tmp_path / "elsewhere.pem").rename(tmp_path / "key.pem")
    (tmp_path / "key.pem").chmod(0o644)
    with pytest.raises(MidpointError, match="chmod 600"):
        site.publish(models[1], disclose(models[1]), time=START)
