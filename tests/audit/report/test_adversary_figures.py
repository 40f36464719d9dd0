from midpoint.audit.report.adversary_figures import roc_curves
from tests.support.audits.made_up_judges import judged
from tests.support.audits.made_up_results import made_up


def test_judges_are_drawn_and_nothing_where_there_is_none() -> None:
    picture = roc_curves(judged(0.56, single=0.55))
    assert picture is not None
    assert picture.title == "How sure the judge is"
    assert roc_curves(made_up()) is None
