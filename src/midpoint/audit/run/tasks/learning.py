"""What the analyst learns in one fold, from all training people or from the panel apart."""

import json

from midpoint.analyst import ItemProfiles
from midpoint.audit.choose import choose, protocol_of
from midpoint.audit.run.adversaries.outsiders import SPLIT, SplitFold
from midpoint.audit.run.folds import FoldData, FoldProfiles, learn, prepared
from midpoint.audit.run.plan import DEFAULT
from midpoint.audit.run.store import EARLY, Store
from midpoint.wire import SCHEMES


def learned(data: FoldData, store: Store, names: tuple[str, ...]) -> dict[str, object]:
    """Learn what has these names, keep it, and return what its result says.

    That is profiles; what a scheme needs beside them, if one is named; the scheme that is chosen,
    if it is `DEFAULT`.
    """
    if names[-1:] == (DEFAULT,):
        return _choose(data, store, names)
    if SPLIT in names:
        _learn_split(data, store, names)
    else:
        _learn(data, store, names)
    if names in ((), (SPLIT,)):
        return {"category": data.category, "user_ids": data.given.user_ids}
    return {}


def _learn(data: FoldData, store: Store, names: tuple[str, ...]) -> None:
    """Fit profiles, or add positions to them; early ones for several rounds."""
    early = EARLY in names
    if names and names[-1] in SCHEMES:
        known = FoldProfiles.load(store.profiles(data.number, *names[:-1]), data)
        profiles = prepared(data, known, SCHEMES[names[-1]], early=early)
    else:
        profiles = learn(data, early=early)
    profiles.save(store.profiles(data.number, *names))


def _learn_split(data: FoldData, store: Store, names: tuple[str, ...]) -> None:
    """Learn from the panel alone where outsiders are kept apart; with positions if named."""
    split, directory = SplitFold(data), store.profiles(data.number, *names)
    early = EARLY in names
    if names[-1] in SCHEMES:
        known = ItemProfiles.load(directory.parent / "whole")
        profiles = split.prepared(known, SCHEMES[names[-1]], early=early)
    else:
        profiles = split.learn(early=early)
    profiles.save(directory / "whole")


def _choose(data: FoldData, store: Store, names: tuple[str, ...]) -> dict[str, object]:
    """Choose the scheme on the panel of a fold alone, and learn what it needs."""
    split, directory = SplitFold(data), store.profiles(data.number, *names)
    panel = split.panel if SPLIT in names else data.training
    plan = data.plan
    seed = plan.seed_of("choice", data.number, *names)
    choice = choose(panel, plan.feature, factorizer=plan.factorizer, allow=plan.allow, seed=seed)
    protocol = protocol_of(choice.scheme)
    if SPLIT in names:
        known = ItemProfiles.load(directory.parent / "whole")
        split.prepared(known, protocol.scheme, spread=protocol.spread).save(directory / "whole")
    else:
        every = FoldProfiles.load(directory.parent, data)
        prepared(data, every, protocol.scheme, spread=protocol.spread).save(directory)
    return {"choice": json.dumps(choice.as_dict())}
