from midpoint.audit.report.html import table


def test_the_first_cell_of_a_row_heads_it() -> None:
    shown = table("AUC", ["scheme", "value"], [["mp", "0.9"]], kind="words")
    assert '<table class="words"><caption>AUC</caption>' in shown
    assert '<thead><tr><th scope="col">scheme</th><th scope="col">value</th></tr></thead>' in shown
    assert '<tr><th scope="row">mp</th><td>0.9</td></tr>' in shown


def test_a_table_without_a_caption_has_none() -> None:
    assert "<caption>" not in table("", ["a"], [["b"]])
