"""Reports of everyone outside a panel, under its disclosure: items are learned from them, too."""

import numpy as np
import polars as pl

from midpoint.analyst import CollectedReports, ItemProfiles
from midpoint.data import Ratings
from midpoint.protocol import LearningProtocol, Population


def collected(
    people: Ratings, feature: tuple[str, ...], profiles: ItemProfiles, protocol: LearningProtocol,
    coins: np.random.Generator,
) -> CollectedReports:  # fmt: skip
    """Have people answer under a model's disclosure; return the table that a site would have.

    Args:
        people: Their ratings; items are numbered as in the profiles.
        feature: What they hide.
        profiles: What was learned from the panel.
        protocol: What devices do.
        coins: The devices' coins.
    """
    disclosure = protocol.disclose(profiles)
    codes = people.feature(*feature).codes.astype(np.intp)
    given = Population(people.user, people.item, people.value, codes)
    sent = protocol.report(disclosure, profiles, given, coins)
    user = np.repeat(np.arange(given.n_users), np.diff(sent.user_offsets))
    answers = pl.DataFrame(
        {
            "person": people.user_ids[user],
            "disclosure": pl.repeat(disclosure.digest, len(user), eager=True),
            "item": profiles.item_ids[sent.item],
            "value": sent.value.astype(np.float64),
        }
    )
    return CollectedReports(answers, {disclosure.digest: disclosure}, "everyone else's reports")
