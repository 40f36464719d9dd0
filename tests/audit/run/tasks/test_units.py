"""Every result of an audit is in one unit, and a unit waits for what it needs, and for no more."""

from midpoint.audit.attackers import ATTACKERS
from midpoint.audit.run.adversaries.catalogue import OUTSIDER
from midpoint.audit.run.adversaries.outsiders import SPLIT
from midpoint.audit.run.plan import DEFAULT, read_scheme
from midpoint.audit.run.tasks.units import LEARN, Task, Tasks, Unit
from midpoint.audit.run.work import Work
from midpoint.data import Scale

SCHEMES = {name: read_scheme(name) for name in ("no", "cmpss", "default")}
MAKERS = {name: ATTACKERS[name] for name in ("nb", "adaptive-lr-items")}
STARS = Scale.stars(1, 5)


def tasks_of(unit: Unit, tasks: Tasks) -> list[tuple[str, ...]]:
    return [task.names for task in tasks.of(unit)]


def test_what_outsiders_need_is_learned_apart_from_what_the_panel_needs() -> None:
    work = Work.of(SCHEMES, MAKERS) | Work.against(OUTSIDER, SCHEMES, MAKERS)
    tasks = Tasks(work, STARS)
    panel, split = tasks.first(3)
    assert tasks_of(panel, tasks) == [(LEARN,), (LEARN, "cmpss"), (LEARN, DEFAULT)]
    assert tasks_of(split, tasks) == [
        (LEARN, SPLIT, *rest) for rest in ((), ("cmpss",), (DEFAULT,))
    ]
    assert {unit.kind for unit in tasks.after(panel)} == {"clean", "scheme"}
    assert {unit.kind for unit in tasks.after(split)} == {"split"}


def test_no_result_is_in_two_units() -> None:
    work = Work.of(SCHEMES, MAKERS) | Work.against(OUTSIDER, SCHEMES, MAKERS)
    tasks = Tasks(work, STARS)
    every: list[Task] = [task for unit in tasks.every(0) for task in tasks.of(unit)]
    assert len(set(every)) == len(every)
    attacks = {task.names for task in every if "attack" in task.names}
    assert attacks == {(scheme, "attack", name) for scheme, name in work.tries}


def test_outsiders_alone_learn_from_the_panel_apart_only() -> None:
    tasks = Tasks(Work.against(OUTSIDER, SCHEMES, MAKERS), STARS)
    assert tasks.first(0) == [Unit(0, "learn", SPLIT)]
    assert all(unit.kind in {"learn", "split"} for unit in tasks.every(0))
