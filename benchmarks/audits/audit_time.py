"""What a ten-fold audit of MovieLens 1M takes by the processor, from some of its folds.

    python -m benchmarks.audits.audit_time [--run 0 1] [--keep DIR]

It does the tasks of these folds, all of them, and of no other fold: every scheme, every attacker,
the panel and outsiders, as `midpoint audit movielens-1m` does on one core. Two cores idle take half
of the processor's time, if tasks can be shared out evenly. Folds are of one size, so ten take ten
times the mean of one. A killed run goes on where it stopped.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks.measuring.measure import (
    conditions,
    forget_tables,
    show,
    warn_if_busy,
    write_results,
)
from midpoint.analyst.kernels.compilation import use_cores
from midpoint.audit.pipeline import FOLDS
from midpoint.audit.run.adversaries.catalogue import OUTSIDER, PANEL
from midpoint.audit.run.assignment import choose_work
from midpoint.audit.run.folds import audited_people
from midpoint.audit.run.plan import Plan
from midpoint.audit.run.store import Store
from midpoint.audit.run.tasks.auditor import Auditor
from midpoint.audit.run.tasks.units import LEARN
from midpoint.data import load
from midpoint.data.origin import counted

SOURCE, FEATURE, CORES = "movielens-1m", "gender", 2
FEW = ("no", "mpss", "dmpss", "cmpss")
BARS = {"all schemes, all attackers": 40.0, f"`{','.join(FEW)}`, all attackers": 15.0}
"""Minutes that two idle cores may take for ten folds."""
SHARED = "all"
"""Instead of a scheme, where something serves all of them."""


class Booked(NamedTuple):
    """Time of the processor that a task took."""

    scheme: str
    """For which protocol."""
    step: str
    """The attacker, or what was done."""
    seconds: float
    """How long."""


def run(auditor: Auditor, fold: int) -> Iterator[Booked]:
    """Do all tasks of a fold, and say what each took, and what they prepared together."""
    for unit in auditor.tasks.every(fold):
        for _ in auditor.run(unit):
            pass
        for task in auditor.tasks.of(unit):
            stored, first = auditor.store.load(fold, *task.names), task.names[0]
            scheme, step = first, task.kind
            if first == LEARN:
                scheme, step = (step if step in auditor.work.schemes else SHARED), LEARN
            yield Booked(scheme, step, float(stored["seconds"]))
            yield Booked(scheme, "obfuscate", float(stored["shared_seconds"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=int, nargs="+", default=[0, 1], help=f"folds, of {FOLDS}")
    parser.add_argument("--keep", type=Path, help="directory from which a killed run goes on")
    chosen = parser.parse_args()
    warn_if_busy(Console(stderr=True))
    start, ratings = conditions(), load(SOURCE)
    plan = Plan((FEATURE,), folds=FOLDS)
    people, feature = audited_people(ratings, plan)
    work = choose_work(None, None, people.scale, adversaries=(PANEL, OUTSIDER))
    with tempfile.TemporaryDirectory() as scratch, threadpool_limits(1):
        use_cores(1)
        store = Store(chosen.keep or Path(scratch))
        store.open(plan, {"digest": ratings.digest, "feature": feature.name}, work)
        auditor, booked = Auditor(people, plan, work, store), list[Booked]()
        for done, fold in enumerate(chosen.run, start=1):
            booked += run(auditor, fold)
            report(start, booked, done)


def report(start: dict[str, Any], booked: list[Booked], folds: int) -> None:
    """Show and keep where the time of a fold goes, and what ten take."""
    seconds, steps = dict[str, float](), dict[str, float]()
    for one in booked:
        seconds[one.scheme] = seconds.get(one.scheme, 0.0) + one.seconds / folds
        steps[one.step] = steps.get(one.step, 0.0) + one.seconds / folds
    minutes = FOLDS / CORES / 60
    few = sum(took for scheme, took in seconds.items() if scheme in {SHARED, *FEW})
    taken = dict(zip(BARS, (minutes * sum(seconds.values()), minutes * few), strict=True))
    forget_tables()
    for title, times in (("attacker or step", steps), ("scheme", seconds)):
        ordered = sorted(times.items(), key=lambda pair: -pair[1])
        rows = [[name, f"{took:.1f}"] for name, took in ordered]
        show(f"Processor seconds of one of {FOLDS} folds, by {title}", [title, "seconds"], rows)
    rows = [
        [what, f"{taken[what]:.1f}", f"{bar:g}", "met" if taken[what] <= bar else "NOT MET"]
        for what, bar in BARS.items()
    ]
    head = ["of ten folds on two idle cores", "minutes", "at most", ""]
    show(f"Extrapolated from {counted(folds, 'fold')}: processor time / {CORES}", head, rows)
    kept = {"conditions": start, "folds": folds, "by_scheme": seconds, "by_step": steps}
    write_results("audit_time", kept | {"minutes": taken, "bars": BARS})


if __name__ == "__main__":
    main()
