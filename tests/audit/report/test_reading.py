"""What the words of a verdict mean stands in the report."""

from midpoint.audit.report.reading import how_to_read
from tests.support.audits.made_up_results import made_up


def test_every_word_of_a_verdict_is_explained() -> None:
    text = "".join(how_to_read(made_up()))
    for word in ("AUC", "Chance band", "Wider band", "Interval", "Cost"):
        assert f"<b>{word}</b>: " in text
    assert "1.41" in text
    assert "60 people" in text


def test_a_judge_is_explained_only_where_there_is_one() -> None:
    assert "The judge" not in "".join(how_to_read(made_up()))
