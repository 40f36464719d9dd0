"""Titles as they are published."""

from dataclasses import replace

import pytest

from midpoint.analyst import (
    ItemProfiles,
    Training,
    disclose,
)
from midpoint.analyst.disclose.catalogue import catalogue_of


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
