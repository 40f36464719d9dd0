"""Run an audit: plan, spread over processes, resume, and measure."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path

from midpoint.analyst import Factorizer, choose_scheme, itemwise_scheme
from midpoint.analyst.disclose.disclosure import FINEST
from midpoint.audit.attackers import ATTACKERS, Attacker
from midpoint.audit.attackers.custom import own_attacker, require_attacker
from midpoint.audit.measure.collecting import collect
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.paper import PAPER_ATTACKS
from midpoint.audit.run.folds import audited
from midpoint.audit.run.plan import RAW, Plan, Work, read_scheme
from midpoint.audit.run.processes import Progress, reported, worked_on, workers
from midpoint.audit.run.store import Store
from midpoint.audit.run.tasks import Auditor, Task, Unit
from midpoint.data import Ratings, Scale, describe
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol
from midpoint.wire import SCHEMES

QUICK_ATTACKS = (
    "lse",
    "nb",
    "lr",
    "adaptive-lr-items",
    "adaptive-lr-profile",
    "adaptive-trees-profile",
    "fraction",
    "likelihood",
)
"""Strong attackers that take little time."""
FOLDS, QUICK_FOLDS = 10, 3
POLL = 0.5
"""Seconds between two looks at what other processes have stored."""

Schemes = str | Iterable[str] | Mapping[str, LearningProtocol]
Attacks = str | Iterable[str] | Mapping[str, Callable[[], Attacker]]


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
) -> AuditResults:
    """Attack protocols as hard as we can and measure what leaks and what it costs (Sec. 7).

    Args:
        ratings: The data; users whose category is not known are left out.
        feature: The private feature, or several to be crossed.
        schemes: Names with settings, such as `mpss:alpha=0.5`, or protocols of one's own by
            name; all schemes that the scale allows unless given.
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
    """
    names = (feature,) if isinstance(feature, str) else tuple(feature)
    plan = Plan(
        names,
        folds=(QUICK_FOLDS if quick else FOLDS) if folds is None else folds,
        seed=seed,
        factorizer=factorizer or Factorizer(),
    )
    people, private = audited(ratings, plan)
    usual = choose_scheme(people, *names)
    work = Work.of(
        choose_schemes(schemes, people.scale, quick=quick, usual=usual),
        choose_attacks(attacks, quick=quick),
    )
    data = {"name": ratings.name, "digest": ratings.digest, "feature": private.name}
    with tempfile.TemporaryDirectory(prefix="midpoint-audit-") as scratch:
        store = Store(Path(out or scratch))
        store.open(plan, data, work)
        auditor = Auditor(people, plan, work, store)
        with reported(progress) as report:
            run_all(auditor, jobs, report)
        return collect(store, plan, people, describe(people))


def choose_schemes(
    schemes: Schemes | None, scale: Scale, *, quick: bool = False, usual: str | None = None
) -> dict[str, LearningProtocol]:
    """Return protocols by name; the control comes first, whether asked for or not.

    `usual` is the scheme in use, which a quick audit tries; the scale's default unless given.
    """
    if isinstance(schemes, Mapping):
        named = dict(schemes)
    elif schemes is not None:
        named = {text: read_scheme(text) for text in _each(schemes)}
    else:
        every = [s.name for s in SCHEMES.values() if scale.is_discrete or not s.needs_levels]
        every += ["full", "nothing"]
        wanted = (RAW, "mp", usual or itemwise_scheme(scale)) if quick else every
        named = {name: LearningProtocol(name) for name in wanted}
    if not named:
        raise MidpointError("no scheme is named: name one at least, or leave them out to try all")
    for name, how in named.items():
        _require_runnable(name, how, scale)
    return {RAW: named.pop(RAW, LearningProtocol(RAW)), **named}


def _require_runnable(name: str, how: LearningProtocol, scale: Scale) -> None:
    """Refuse now what would fail in the middle of an audit."""
    if not isinstance(how, LearningProtocol):
        raise MidpointError(f"scheme {name!r} is {how!r}, and has to be a LearningProtocol")
    if how.scheme.needs_levels and not scale.is_discrete:
        raise MidpointError(
            f"scheme {name!r} needs ratings in levels, and these are on a continuous scale;"
            f" {itemwise_scheme(scale)} does not"
        )
    if how.bits is not None and not 1 <= how.bits <= FINEST:
        raise MidpointError(f"scheme {name!r}: bits must be from 1 to {FINEST}: got {how.bits}")
    if how.bits is not None and how.scheme.counterparts:
        raise MidpointError(f"scheme {name!r}: {how.name} is told at one precision, without bits")


def _each(names: str | Iterable[str]) -> Iterable[str]:
    """Go through names; one alone is not a row of letters."""
    return (names,) if isinstance(names, str) else names


def choose_attacks(
    attacks: Attacks | None, *, quick: bool = False
) -> dict[str, Callable[[], Attacker]]:
    """Return what makes each attacker, by name; `paper` stands for the paper's four."""
    if isinstance(attacks, Mapping):
        chosen = {name: require_attacker(name, make) for name, make in attacks.items()}
    else:
        named = _each((QUICK_ATTACKS if quick else ATTACKERS) if attacks is None else attacks)
        asked = [one for name in named for one in (PAPER_ATTACKS if name == "paper" else (name,))]
        chosen = {name: _attacker(name) for name in dict.fromkeys(asked)}
    if not chosen:
        raise MidpointError("no attack is named: name one at least, or leave them out to try all")
    return chosen


def _attacker(name: str) -> Callable[[], Attacker]:
    """Find an attacker by name, or one of somebody's own."""
    if name in ATTACKERS:
        return ATTACKERS[name]
    if ":" not in name:
        raise MidpointError(
            f"there is no attack {name!r}; choose of paper, {', '.join(ATTACKERS)}, or name one"
            " of your own as path/file.py:Name or module:Name"
        )
    return own_attacker(name)


def run_all(auditor: Auditor, jobs: int, progress: Callable[[Progress], None] | None) -> None:
    """Do all that is missing, in this process or in several others."""
    if jobs < 1:
        raise MidpointError(f"jobs must be at least 1: got {jobs}")
    meter = Meter(auditor, jobs, progress)
    meter.look()
    if jobs == 1:
        for fold in range(auditor.plan.folds):
            for unit in [Unit(fold, "learn"), *auditor.units(fold)]:
                for _ in auditor.run(unit):
                    meter.look()
    elif meter.missing:
        _spread(auditor, jobs, meter)


class Meter:
    """Looks at what is stored, and tells how far the audit has come."""

    def __init__(
        self, auditor: Auditor, jobs: int, progress: Callable[[Progress], None] | None
    ) -> None:
        folds = range(auditor.plan.folds)
        units = [unit for f in folds for unit in (Unit(f, "learn"), *auditor.units(f))]
        every = [task for unit in units for task in auditor.tasks(unit)]
        self._store, self._jobs, self._progress = auditor.store, jobs, progress
        self._total = len(every)
        self._seconds: dict[str, list[float]] = {}
        self.missing: list[Task] = every

    def look(self) -> None:
        """Count what is new, and report."""
        new = [task for task in self.missing if self._store.has(task.fold, *task.names)]
        for task in new:
            found = self._store.load(task.fold, *task.names)
            took = float(found["wall_seconds"]) + float(found["shared_wall_seconds"])
            self._seconds.setdefault(task.kind, []).append(took)
        there = set(new)
        self.missing = [task for task in self.missing if task not in there]
        if self._progress:
            done = self._total - len(self.missing)
            self._progress(Progress(done, self._total, self._left()))

    def _left(self) -> float | None:
        """Expect of each task what others of its kind took, or all others."""
        if not self._seconds:
            return None
        means = {kind: sum(took) / len(took) for kind, took in self._seconds.items()}
        overall = sum(means.values()) / len(means)
        return sum(means.get(task.kind, overall) for task in self.missing) / self._jobs


def _work(unit: Unit) -> Unit:
    auditor: Auditor = worked_on()
    for _ in auditor.run(unit):
        pass
    return unit


def _spread(auditor: Auditor, jobs: int, meter: Meter) -> None:
    """Share units among processes; a fold's units wait for its profiles."""
    first = [Unit(fold, "learn") for fold in range(auditor.plan.folds)]
    with workers(jobs, auditor) as pool:
        waiting: set[Future[Unit]] = {pool.submit(_work, unit) for unit in first}
        while waiting:
            done, waiting = wait(waiting, timeout=POLL, return_when=FIRST_COMPLETED)
            for unit in _results(done):
                if unit.kind == "learn":
                    waiting |= {
                        pool.submit(_work, later)
                        for later in auditor.units(unit.fold)
                        if auditor.missing(later)
                    }
            meter.look()


def _results(done: Iterable[Future[Unit]]) -> Iterator[Unit]:
    for future in done:
        yield future.result()
