"""A site refuses the same from the library as from the command line."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from midpoint.analyst import CategoryStatistics, ItemProfiles, Training, disclose
from midpoint.analyst.disclose.chain import verified_entries
from midpoint.analyst.disclose.site import Site
from midpoint.data import Scale
from midpoint.errors import MidpointError
from midpoint.wire import Catalogue, SigningKey, Wording
from tests.support.models.small_model import run

Publish = Callable[[Path, ItemProfiles, str | None], object]


def by_library(site: Path, profiles: ItemProfiles, scheme: str | None) -> object:
    """Publish as a program does."""
    shown = disclose(profiles, scheme or profiles.scheme)
    changing = scheme is not None
    return Site(site).publish(profiles, shown, time=1, change_scheme=changing)


def by_command(site: Path, profiles: ItemProfiles, scheme: str | None) -> object:
    """Publish as an operator does."""
    model = site.with_name("model")
    profiles.save(model)
    named = () if scheme is None else ("--scheme", scheme)
    return run("publish", model, site, *named, "--json")


@pytest.mark.parametrize("publish", [by_library, by_command])
def test_both_ways_refuse_the_same(
    publish: Publish, trained_stars: Training, tmp_path: Path
) -> None:
    profiles, site = trained_stars.items, tmp_path / "site"
    with pytest.raises(MidpointError, match="leaves the category readable"):
        publish(site, profiles, "no")
    with pytest.raises(MidpointError, match="no scheme 'best'"):
        publish(site, profiles, "best")
    with pytest.raises(MidpointError, match="no scheme was chosen"):
        publish(site, replace(profiles, scheme=None), None)
    assert Site(site).chain() is None
    publish(site, profiles, None)
    renamed = replace(profiles, features=(("gender", ("X", "M")),))
    with pytest.raises(MidpointError, match="features are not those published before"):
        publish(site, renamed, None)
    smooth = replace(profiles, scale=Scale(1, 5), statistics=_smooth(profiles))
    with pytest.raises(MidpointError, match="scale are not those published before"):
        publish(site, smooth, "mpss")
    assert Site(site).current() == disclose(profiles)
    publish(site, profiles, "mpr")  # named, so it is meant
    current = Site(site).current()
    assert current is not None
    assert current.scheme == "mpr"


def test_all_disclosures_on_the_list_are_read_once(trained_stars: Training, tmp_path: Path) -> None:
    site, profiles = Site(tmp_path / "site"), trained_stars.items
    with pytest.raises(MidpointError, match="shows nothing yet"):
        site.disclosures()
    shown = [disclose(profiles, "dmpss"), disclose(profiles, "mpssr")]
    for time, disclosure in enumerate([*shown, shown[0]]):
        site.publish(profiles, disclosure, time=time, change_scheme=True)
    assert site.disclosures() == tuple(shown)


def test_another_scheme_is_not_published_by_mistake(
    trained_stars: Training, tmp_path: Path
) -> None:
    profiles, site = trained_stars.items, tmp_path / "site"
    Site(site).publish(profiles, disclose(profiles), time=1)
    other = disclose(profiles, "mpr")
    with pytest.raises(MidpointError, match="allow the change by name"):
        Site(site).publish(profiles, other, time=2)
    # The command keeps to the scheme of the site, whatever the model was trained for.
    by_command(site, replace(profiles, scheme="mpr"), None)
    assert Site(site).current() == disclose(profiles)


def _smooth(profiles: ItemProfiles) -> CategoryStatistics:
    assert profiles.statistics is not None
    return replace(profiles.statistics, level_count=None, level_values=None)


def test_a_key_vouches_for_its_successor(trained_stars: Training, tmp_path: Path) -> None:
    site, profiles = Site(tmp_path / "site"), trained_stars.items
    with pytest.raises(MidpointError, match="shows nothing yet"):
        site.succeed(time=1)
    first = site.publish(profiles, disclose(profiles, "dmpss"), time=1).entry
    done = site.succeed(time=2).entry
    assert (done.key, done.disclosure) == (first.key, first.disclosure)
    key = SigningKey.load(site.root / "key.pem")
    assert key.public == done.successor != first.key
    assert SigningKey.load(site.root / f"key-{first.key[:16]}.pem").public == first.key
    assert not site.publish(profiles, disclose(profiles, "dmpss"), time=3).fresh
    later = site.publish(profiles, disclose(profiles, "mpssr"), time=4, change_scheme=True)
    assert later.entry.key == key.public
    chain = site.chain()
    assert chain is not None
    assert len(verified_entries(chain)) == 3


def test_a_crash_before_the_successor_was_put_there_is_made_good(
    trained_stars: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, profiles = Site(tmp_path / "site"), trained_stars.items
    site.publish(profiles, disclose(profiles, "dmpss"), time=1)
    with monkeypatch.context() as crash:
        crash.setattr(Site, "_promote", lambda _self: None)
        done = site.succeed(time=2).entry
        assert SigningKey.load(site.root / "key.pem").public == done.key
    later = site.publish(profiles, disclose(profiles, "mpssr"), time=3, change_scheme=True)
    assert later.entry.key == done.successor


def test_what_items_are_called_is_signed_and_stays_until_other_words_are_given(
    trained_stars: Training, tmp_path: Path
) -> None:
    profiles, site, model = trained_stars.items, tmp_path / "site", tmp_path / "model"
    profiles.save(model)
    with pytest.raises(MidpointError, match="give one, several and what people do"):
        run("publish", model, site, "--wording", "song,songs")
    with pytest.raises(MidpointError, match="at most 30 letters"):
        run("publish", model, site, "--wording", "song,songs," + "s" * 31)
    assert Site(site).chain() is None
    run("publish", model, site)
    assert _wording(site) is None
    run("publish", model, site, "--wording", "song, songs, liked")
    assert _wording(site) == Wording(item="song", items="songs", done="liked")
    run("publish", model, site)
    assert _wording(site) == Wording(item="song", items="songs", done="liked")
    assert len(verified_entries(Site(site).published().chain)) == 2


def _wording(site: Path) -> Wording | None:
    return Catalogue.parse(Site(site).published().catalogue).wording
