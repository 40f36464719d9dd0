from midpoint.audit.report.tables.background import assumed, data, time
from tests.support.audits.made_up_results import made_up


def test_the_papers_data_stand_beside_ours_only_where_it_has_them() -> None:
    (ours,) = data(made_up())
    assert "users, paper" not in ours
    (both,) = data(made_up(dataset="movielens-1m"))
    assert "users, paper" in both


def test_every_scheme_says_what_it_assumes_and_time_adds_up() -> None:
    results = made_up()
    (shown,) = assumed(results)
    assert all(f">{scheme}<" in shown for scheme in results.schemes)
    chosen = tuple({"scheme": name} for name in ("cmpss:keep=0.25", "dmpss", "dmpss"))
    areas = {scheme: {"lr": 0.6} for scheme in ("no", "default")}
    default = made_up(areas, choices=chosen)
    (shown,) = assumed(default)
    assert ">default: dmpss<" in shown
    assert ">default: cmpss:keep=0.25<" in shown
    (spent,) = time(results)
    assert f"<td>{sum(results.seconds.values()) or 1.0:.1f}</td>" in spent
