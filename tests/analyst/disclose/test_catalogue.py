"""Titles as they are published."""

from dataclasses import replace
from pathlib import Path

import pytest

from midpoint.analyst import (
    ItemProfiles,
    Training,
    disclose,
)
from midpoint.analyst.disclose.catalogue import catalogue_of, details_of
from midpoint.analyst.disclose.site import Site
from midpoint.data.tables.items import ItemDetail


@pytest.fixture(scope="module")
def profiles(trained_stars: Training) -> ItemProfiles:
    return trained_stars.items


def test_titles_are_made_to_print(profiles: ItemProfiles) -> None:
    names = profiles.item_names.astype("U600").copy()
    names[:3] = ["a\nb\x1b[2J", "", "x" * 600]
    catalogue = catalogue_of(replace(profiles, item_names=names), disclose(profiles))
    shown = dict(zip(catalogue.items, catalogue.titles, strict=True))
    ids = profiles.item_ids
    assert shown[ids[0]] == "a b [2J"
    assert shown[ids[1]] == ids[1]
    assert shown[ids[2]] == "x" * 500
    assert sum(catalogue.ratings) > 0


def test_genres_and_links_stay_when_a_model_is_published_again(
    profiles: ItemProfiles, tmp_path: Path
) -> None:
    first, second = (str(item) for item in profiles.item_ids[:2])
    details = {first: ItemDetail("Drama", ""), "gone": ItemDetail("", "https://example.org")}
    site, disclosure = Site(tmp_path), disclose(profiles, "dmpss")
    before = site.publish(profiles, disclosure, time=1, details=details)
    again = site.publish(profiles, disclosure, time=2)
    assert not again.fresh
    assert before.entry.catalogue is not None
    shown = site.catalogue(before.entry.catalogue)
    assert shown.links is None  # nobody's
    assert details_of(shown)[first] == ("Drama", "")
    assert details_of(shown)[second] == ("", "")
    plain = catalogue_of(profiles, disclosure)
    assert plain.genres is None
    changed = {first: ItemDetail("Crime", "https://example.org/1")}
    newest = site.publish(profiles, disclosure, time=3, details=changed)
    assert newest.fresh
    assert details_of(site.catalogue(str(newest.entry.catalogue)))[first] == changed[first]
