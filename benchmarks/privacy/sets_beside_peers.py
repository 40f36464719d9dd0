"""Sets beside the peers' schemes: the same attackers, our lists, and implicit's from the copy.

Every scheme changes the sets of people who are attacked and of those whom attackers learn from, but
for one: `lr` learns from raw sets and does not know the scheme. Our recommender ranks from what it
sees; devices correct the lists where a scheme has them do so. For implicit all people's sets are
changed by a scheme, and it is trained on that copy; what is looked for are items that were held out
before.
"""

from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.measuring.measure import or_quick, show
from benchmarks.privacy.alternatives import Peer, Training
from benchmarks.training.sets import als, matrix, ndcg
from midpoint.analyst import Factorizer, prepare
from midpoint.audit import audit
from midpoint.audit.measure.findings import AUC, BALANCED, NDCG
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.run.adversaries.catalogue import PANEL
from midpoint.audit.run.folds import audited_people
from midpoint.audit.run.plan import Plan, read_scheme
from midpoint.data import Ratings, as_sets, load, split_ratings
from midpoint.protocol import LearningProtocol, Population

OF_SETS = or_quick(
    {"movielens-1m as sets": ("movielens-1m", 4.0)},
    {"movielens-100k as sets": ("movielens-100k", 4.0)},
)
"""What is loaded, and from which rating on an item is in a set."""
CLEAN = "lr"
"""The attacker that does not know the scheme."""
ATTACKS = or_quick(
    (
        *(CLEAN, "adaptive-lr-mask", "adaptive-lr-profile", "adaptive-lr-panel"),
        "adaptive-trees-profile",
    ),
    (CLEAN, "adaptive-lr-mask"),
)
ADDED, REMOVED = 0.1, (0.1, 0.3)
"""Shares of a set that the peers add to it, or remove from it."""
FACTORS, ALPHA, RIDGE, SEED = 80, 5.0, 60.0, 0
"""implicit's settings: the best of raw sets, by `sets.py`."""


def contestants() -> dict[str, LearningProtocol]:
    """Return who competes."""
    ours = ("no", "dmpss", "cmpss", "cmpss:leak=0.6", "cmpss:leak=0.55")
    protocols: dict[str, LearningProtocol] = {name: read_scheme(name) for name in ours}
    for name, method in (("BlurMe", "blur"), ("PerBlur", "blur by taste")):
        protocols[f"{ADDED:.0%} added ({name} family)"] = Peer("no", method=method, setting=ADDED)
    for share in REMOVED:
        protocols[f"{share:.0%} removed"] = Peer("no", method="removal", setting=share)
    return protocols


def compete_with_sets(
    source: str, feature: str, folds: int, out: str | None, console: Console
) -> dict[str, Any]:
    """Attack every scheme, and let implicit learn from its copy."""
    name, liked = OF_SETS[source]
    ratings, plan = as_sets(load(name), liked), Plan((feature,), folds=folds)
    people, _ = audited_people(ratings, plan)
    Training.prepare(people, plan)
    with console.status(source) as status:
        results = audit(
            ratings,
            feature,
            contestants(),
            ATTACKS,
            folds=folds,
            out=out,
            progress=lambda p: status.update(f"{source}: {p.done} of {p.total}"),
        )
    copies = on_copies(people, feature)
    return {name: figures(results, name) | copies[name] for name in contestants()}


def figures(results: AuditResults, scheme: str) -> dict[str, Any]:
    """Return what the judge and the strongest attacker reach, and the lists."""
    strongest, judged, lists = (
        results.strongest(scheme, PANEL),
        results.judge(scheme, PANEL),
        results.cost,
    )
    if strongest is None or judged is None:
        raise SystemExit(f"{scheme} was not attacked")
    row, judge = judged
    balanced, ranked, clean = (
        results.get(scheme, BALANCED, judge.attack),
        results.get(scheme, NDCG),
        results.get(scheme, AUC, CLEAN),
    )
    return {
        "judge": row.value,
        "interval": (row.low, row.high),
        "clean": None if clean is None else clean.value,
        "strongest": (strongest.attack, 0.5 + abs(strongest.value - 0.5)),
        "balanced_accuracy": None if balanced is None else balanced.value,
        "ndcg": None if ranked is None else ranked.value,
        "cost": lists(scheme),
    }


def on_copies(people: Ratings, feature: str) -> dict[str, dict[str, float]]:
    """Train implicit on the copy that each scheme makes; look for what was held out."""
    given, hidden = split_ratings(people, 0.7, seed=SEED)
    profiles = Factorizer().fit(given, feature)
    Training.by_digest = {**Training.by_digest, given.digest: given}
    everyone = Population(given.user, given.item, given.value, given.feature(feature).codes)
    table = dict[str, dict[str, float]]()
    for name, how in contestants().items():
        ready = prepare(profiles, given, how.scheme)
        disclosure = how.disclose(ready)
        sent = how.report(disclosure, ready, everyone, np.random.default_rng(SEED))
        offsets, item = sent.user_offsets, sent.item
        copy = matrix(given)
        copy = type(copy)((np.ones(len(item), np.float32), item, offsets), shape=copy.shape)
        model = als(FACTORS, ALPHA, RIDGE, 15, cg=True)
        model.fit(copy, show_progress=False)
        table[name] = {"implicit": ndcg(model.user_factors, model.item_factors, given, hidden)}
    return table


def show_sets(title: str, rows: dict[str, Any]) -> None:
    """Print the table."""
    raw = rows["no"]
    show(
        title,
        [
            *("", "the panel's judge, AUC", "strongest attacker, AUC", "balanced accuracy"),
            "unaware of the scheme (`lr`), AUC",
            *("NDCG@10", "of it lost", "implicit on the copy, NDCG@10", "of it lost"),
        ],
        [
            [
                name,
                f"{one['judge']:.3f}",
                f"{one['strongest'][1]:.3f} ({one['strongest'][0]})",
                "-" if one["balanced_accuracy"] is None else f"{one['balanced_accuracy']:.1%}",
                "-" if one["clean"] is None else f"{one['clean']:.3f}",
                f"{one['ndcg']:.4f}",
                f"{one['cost']:+.1%}",
                f"{one['implicit']:.4f}",
                f"{1 - one['implicit'] / raw['implicit']:+.1%}",
            ]
            for name, one in rows.items()
        ],
    )
