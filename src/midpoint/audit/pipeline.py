"""An audit from beginning to end: choose, run what is missing, measure."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from midpoint.analyst import Factorizer, GivenFactors, choose_scheme
from midpoint.analyst.fit.choice import RAW
from midpoint.audit.measure.collecting import collect
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.membership import readable, recognized
from midpoint.audit.run.adversaries.catalogue import (
    OUTSIDER,
    PANEL,
    SPLIT_ADVERSARIES,
    choose_adversaries,
)
from midpoint.audit.run.adversaries.outsiders import require_panel, require_split
from midpoint.audit.run.assignment import choose_work
from midpoint.audit.run.folds import audited_people
from midpoint.audit.run.paper_setup import paper_people, paper_work, require_no_other, tuned
from midpoint.audit.run.plan import GIVEN, OUTSIDERS, Plan
from midpoint.audit.run.processes import Progress, reported
from midpoint.audit.run.schedule import run_all
from midpoint.audit.run.schemes_and_attacks import Attacks, Schemes
from midpoint.audit.run.store import MANIFEST, Store
from midpoint.audit.run.tasks.auditor import Auditor
from midpoint.audit.setting import USUAL, AuditSetting
from midpoint.audit.sizes import require_outsiders, size_directory, size_points, with_reports
from midpoint.data import Ratings, split_moment, with_known
from midpoint.data.preparation import require_differing
from midpoint.errors import MidpointError

FOLDS, QUICK_FOLDS = 10, 3


def audit(  # noqa: PLR0913
    ratings: Ratings,
    feature: str | Iterable[str],
    schemes: Schemes | None = None,
    attacks: Attacks | None = None,
    *,
    folds: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    quick: bool = False,
    out: Path | str | None = None,
    factorizer: Factorizer | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
    setting: AuditSetting = USUAL,
) -> AuditResults:
    """Attack protocols as hard as we can and measure what leaks and what it costs (Sec. 7).

    Several sizes of the panel, or several numbers of outsiders, are audits of the same people in
    the same folds: the results are about the last ones, and have the others in `sizes`. Each panel
    is then audited a second time, with items also learned from everyone else's reports.

    Args:
        ratings: The data; users whose category is not known are left out.
        feature: The private feature, or several to be crossed.
        schemes: Names with settings, such as `mpss:alpha=0.5` or `dmpss:rounds=4:forgetful`, or
            protocols of one's own by name; all schemes that the scale allows unless given.
            `default` is the scheme that training would choose, chosen inside every fold on its
            panel alone.
        attacks: Names, or what makes attackers of one's own, by name; all unless given.
        folds: 10 unless given, 3 if quick.
        seed: Decides every random draw.
        jobs: Processes; the numbers do not depend on it. A script that asks for several must
            start from `if __name__ == "__main__":`.
        quick: A few schemes, attackers and folds.
        out: Directory for what was found so far; a killed run resumes from it.
        factorizer: How item profiles are learned.
        progress: Called after each result, or whether to show a bar; unless given, one is shown in
            terminals and notebooks.
        setting: Adversaries, sizes, rounds, curves, and the paper's own experiment.
    """
    Ratings.require(ratings)
    names, sizes = (feature,) if isinstance(feature, str) else tuple(feature), setting.sizes()
    if isinstance(factorizer, GivenFactors):
        raise MidpointError(
            "an audit learns items fold by fold, without the people whom it attacks, and given"
            " factors were learned from all of them; audit with a Factorizer"
        )
    require_differing(ratings)
    if setting.paper:
        asked = {"schemes": schemes, "attacks": attacks, "folds": folds, "quick": quick}
        require_no_other(**asked, factorizer=factorizer, **setting.chosen())
        if ratings.scale.is_unary:
            raise MidpointError("the paper's experiment is about ratings; leave it out of sets")
        ratings = paper_people(with_known(ratings, *names))
        factorizer = tuned_before(out, ratings) or tuned(ratings, names, seed)
    share = GIVEN if setting.given is None else setting.given
    plan = Plan(
        names,
        folds=(QUICK_FOLDS if quick else FOLDS) if folds is None else folds,
        seed=seed,
        share=share,
        until=split_moment(ratings, min(share, GIVEN)) if setting.by_time else None,
        factorizer=factorizer or Factorizer(),
        volunteers=setting.volunteers,
        allow=setting.allow,
        paper=setting.paper,
        quick=quick,
    )
    people, private = audited_people(ratings, plan)
    plans = [
        replace(plan, panel=panel, outsiders=OUTSIDERS if number is None else number)
        for panel, number in sizes
    ]
    if with_reports(setting) and not people.scale.is_unary:  # sets have no error to draw
        along = [sized for sized in plans if sized.outsiders == plans[0].outsiders]
        plans += [replace(sized, reports=True) for sized in along]
    free = attacks is None and not plan.paper
    against = [_adversaries(people, sized, setting.adversaries, free=free) for sized in plans]
    if len(plans) > 1:
        require_outsiders(*against)
    usual = None
    if setting.curves or (setting.rounds is not None and not _names_one(schemes)):
        usual = choose_scheme(
            people, *names, factorizer=plan.factorizer, allow=plan.allow, seed=seed
        ).scheme
    data = {"name": ratings.name, "digest": ratings.digest, "feature": private.name}

    def of_size(sized: Plan, adversaries: Sequence[str], directory: Path) -> AuditResults:
        """Audit with one of the panels and its number of outsiders."""
        work = (
            paper_work(people.scale)
            if plan.paper
            else choose_work(
                schemes,
                attacks,
                people.scale,
                quick=quick,
                usual=usual,
                rounds=setting.rounds,
                curves=setting.curves,
                adversaries=adversaries,
            )
        )
        store = Store(directory)
        store.open(sized, data, work)
        with reported(progress) as report:
            run_all(Auditor(people, sized, work, store), jobs, report)
        return collect(store, sized, people)

    with tempfile.TemporaryDirectory(prefix="midpoint-audit-") as scratch:
        root = Path(out or scratch)
        directories = [root, *(size_directory(root, sized) for sized in plans[1:])]
        every = [*map(of_size, plans, against, directories)]
    results = every[0]
    if len(every) > 1:
        pairs = zip(every, plans, strict=True)
        points = [point for one, of in pairs for point in size_points(one, reports=of.reports)]
        results = replace(results, sizes=tuple(points))
    if setting.membership:
        tried = readable([*results.chosen(), *results.scheme_names()])
        drawn = plan.seed_of("members")
        members = recognized(people, names, tried, factorizer=plan.factorizer, seed=drawn)
        results = replace(results, members=members)
    return results


def tuned_before(out: Path | str | None, ratings: Ratings) -> Factorizer | None:
    """Return what an earlier run chose on the same data, which a killed run goes on with."""
    store = None if out is None else Store(Path(out))
    if store is None or not (store.root / MANIFEST).exists():
        return None
    made = store.manifest()
    plan, digest = made.get("plan", {}), made.get("data", {}).get("digest")
    if not plan.get("paper") or digest != ratings.digest:
        return None
    return Factorizer(**plan["factorizer"])


def _names_one(schemes: Schemes | None) -> bool:
    """Tell whether one scheme is named beside raw ratings, which then goes over rounds."""
    if schemes is None:
        return False
    names = schemes.split(",") if isinstance(schemes, str) else list(schemes)
    return len([name for name in names if name.strip() not in {RAW, ""}]) == 1


def _adversaries(
    people: Ratings, plan: Plan, asked: str | Iterable[str] | None, *, free: bool
) -> tuple[str, ...]:
    """Choose whom to measure against; those that were asked for must find enough people."""
    require_panel(people, plan)
    chosen = choose_adversaries(asked if asked is not None else (PANEL, OUTSIDER)[: 1 + free])
    if SPLIT_ADVERSARIES.isdisjoint(chosen):
        return chosen
    try:
        require_split(people, plan)
    except MidpointError:
        if asked is not None:
            raise
        return (PANEL,)
    return chosen
