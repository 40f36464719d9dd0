"""`midpoint learn`: a site learns while it serves, and a command that was cut short goes on."""

import fcntl
import secrets
import threading
from collections import Counter
from pathlib import Path

import httpx
import numpy as np
import pytest

from midpoint import analyst
from midpoint.analyst import disclose, train
from midpoint.analyst.disclose.site import KEY, LOCK, Site
from midpoint.data import Ratings
from midpoint.errors import MidpointError
from midpoint.wire import ONE, PanelRatings
from tests.support.models.small_model import run
from tests.support.sites.serving import Person, published, running, settings_of
from tests.support.tables.two_kinds import QUICK, two_kinds, write_panel

SMALL = ("--dimension", 2, "--iterations", 2)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A site whose model the panel taught."""
    return published(tmp_path / "site", two_kinds().first)


def learn(site: Site, panel: Ratings, *more: object) -> str:
    tables = write_panel(panel, site.root.parent)
    return str(run("learn", site.root, "--panel", *tables, "--feature", "gender", *SMALL, *more))


def entries(site: Site) -> int:
    chain = site.chain()
    assert chain is not None
    return len(chain.entries)


@pytest.mark.slow
def test_a_site_learns_while_it_serves_and_drops_no_request(site: Site) -> None:
    world = two_kinds()
    with running(settings_of(site)) as client:
        for stars in (2, 5):
            sender = Person(client, token=secrets.token_hex(32))
            assert sender.send(sender.answer(stars)).status_code == 201
        ann, statuses, stop = Person(client), Counter[int](), threading.Event()
        ann.send(ann.answer())

        def hammer() -> None:
            while not stop.is_set():
                for path in ("/v1/disclosure", "/v1/chain", "/v1/scores", "/v1/catalogue"):
                    statuses[ann.get(path).status_code] += 1

        thread = threading.Thread(target=hammer)
        thread.start()
        shown = learn(site, world.panel)
        stop.set()
        thread.join()
        assert set(statuses) == {200}
        assert "answers of 3 people" in shown
        assert "is now current: entry 1 of" in shown
        current = site.current()
        assert current is not None
        assert ann.accept().disclosure == current != world.disclosure
        assert site.profiles(current.digest).provenance.configuration["reports"]["people"] == 3
        assert ann.send(ann.answer()).status_code == 201
    assert not site.root.with_name("site.learned").exists()


@pytest.mark.slow
def test_a_model_that_is_held_is_published_without_training_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = two_kinds().panel
    held = learn(site, panel, "--hold")
    assert "There are no reports yet: only the panel is used" in held
    assert "Not published" in held
    assert entries(site) == 1
    calls = Counter[str]()

    def counted(*arguments: object, **named: object) -> object:
        calls["train"] += 1
        return train(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(analyst, "train", counted)
    with (site.root / LOCK).open("ab") as busy:
        fcntl.flock(busy, fcntl.LOCK_EX)
        with pytest.raises(MidpointError, match="is being published to"):
            learn(site, panel)
    assert "Going on from" in learn(site, panel)
    assert calls["train"] == 0
    assert entries(site) == 2
    # Another panel, or a list that grew, is not what was trained.
    learn(site, panel, "--hold")
    fewer = panel.select_users(np.arange(panel.n_users) < panel.n_users - 1)
    assert "Going on from" not in learn(site, fewer)
    assert calls["train"] == 2
    assert not site.root.with_name("site.learned").exists()


@pytest.mark.slow
def test_the_scheme_and_the_leak_budget_stay_the_site_s(tmp_path: Path) -> None:
    world = two_kinds()
    model = train(world.panel, "gender", factorizer=QUICK, scheme="dmpss:levels=3", leak=0.6)
    site = published(tmp_path / "site", model)
    shown = learn(site, world.panel)
    assert "0.60 *" in shown
    current = site.current()
    assert current is not None
    assert len(current.scale.reported or ()) == 3
    assert current.keep is not None
    learn(site, world.panel, "--leak", 1)
    current = site.current()
    assert current is not None
    assert current.keep is None


def test_what_devices_would_refuse_is_refused_before_training(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = two_kinds().panel
    monkeypatch.setattr(analyst, "train", None)  # nothing is trained
    tables = write_panel(panel, site.root.parent)
    words = ("learn", site.root, "--panel", *tables, *SMALL)
    with pytest.raises(MidpointError, match=r"another scale than the panel's.*--scale"):
        run(*words, "--scale", "0:5")
    with pytest.raises(MidpointError, match="leave out --asked"):
        run(*words, "--asked", "all")
    people = Path(tables[2])
    people.write_text(people.read_text().replace(",F", ",W"))
    with pytest.raises(MidpointError, match="to gender: F, M, and the panel has gender: M, W"):
        run(*words)
    (site.root / KEY).unlink()
    with pytest.raises(MidpointError, match="learn where the key is"):
        run(*words)
    with pytest.raises(MidpointError, match="shows nothing yet; train a first model"):
        run("learn", site.root / "nowhere", *words[2:])
    assert disclose(two_kinds().first) == site.current()


def volunteer(client: httpx.Client, people: Ratings, user: int) -> Person:
    """Let somebody of a table join the panel of a service, with all that she rated."""
    someone, where = Person(client), people.of_user(user)
    items, values = people.item_ids[people.item[where]].tolist(), people.value[where].tolist()
    shown = someone.accept().disclosure
    pairs = zip(items, (round(value) * ONE for value in values), strict=True)
    feature = people.feature("gender")
    category = (("gender", feature.categories[feature.codes[user]]),)
    shared = PanelRatings(
        disclosure=shown.digest,
        category=category,
        ratings=tuple(sorted(pair for pair in pairs if pair[0] in shown.index)),
    )
    answer = client.post("/v1/panel", headers=someone.headers, content=shared.raw)
    assert answer.status_code == 204
    return someone


@pytest.mark.slow
def test_volunteers_teach_until_they_leave(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who left before the next training is not in it; the control: before, she was."""
    world, seen = two_kinds(), list[Ratings]()

    def watched(panel: Ratings, *more: object, **named: object) -> object:
        seen.append(panel)
        return train(panel, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(analyst, "train", watched)
    with pytest.raises(MidpointError, match=r"nobody joined the panel at .*; name a table"):
        run("learn", site.root, *SMALL)
    with running(settings_of(site, panel=True)) as client:
        with pytest.raises(MidpointError, match=r"nobody joined the panel at .*; name a table"):
            run("learn", site.root, *SMALL)
        joined = [volunteer(client, world.rest, user) for user in range(40)]
        shown = learn(site, world.panel, "--hold")
        assert "40 people joined the panel at the service" in shown
        assert seen[-1].n_users == world.panel.n_users + 40
        assert not any(one.token in text for one in joined for text in seen[-1].user_ids)
        for leaver in joined[:10]:
            assert client.delete("/v1/panel", headers=leaver.headers).status_code == 204
        assert "Going on from" not in learn(site, world.panel, "--hold")
        assert seen[-1].n_users == world.panel.n_users + 30
        learn(site, world.panel, "--hold", "--no-volunteers")
        assert seen[-1].n_users == world.panel.n_users
        alone = str(run("learn", site.root, *SMALL))
        assert "is now current: entry 1 of" in alone
        assert seen[-1].n_users == 30
        titles = dict(zip(world.panel.item_ids, world.panel.item_names, strict=True))
        assert all(titles[item] == name for item, name in zip(seen[-1].item_ids,
                   seen[-1].item_names, strict=True))  # fmt: skip
