import io

from rich.console import Console

from midpoint.analyst.fit.choice import STACK, Choice, Tried
from midpoint.cli.output.choice_table import show_choice


def shown(choice: Choice, width: int = 200) -> str:
    stream = io.StringIO()
    show_choice(Console(file=stream, width=width), choice)
    return stream.getvalue()


def test_a_choice_shows_what_was_measured_and_why() -> None:
    raw = Tried("no", 0.8, "items", "F", 0.2, 0.01, 0.0, "leaks more")
    best = Tried("cmpss", 0.55, "profile", "F", 0.0, 0.0, 0.012)
    text = shown(Choice("cmpss", "it leaks least", (raw, best), people=50, panel=100))
    assert "0.800 (items)" in text
    assert "+1.2 %" in text
    assert "Measured on 50 of 100 people" in text
    assert text.rstrip().endswith("Devices will use scheme cmpss, because it leaks least.")


def test_the_table_names_the_category_where_it_varies_and_not_the_stack() -> None:
    rows = (Tried("no", 0.8, STACK, "D", 0.2, 0.01, 0.0), Tried("dmp", 0.6, "sets", "R", 0, 0, 0.0))
    text = shown(Choice("dmp", "it leaks least", rows, people=100, panel=100))
    assert "0.800 (D)" in text
    assert "0.600 (sets, R)" in text
    alike = shown(Choice("no", "it is raw", rows[:1], people=100, panel=100))
    assert "0.800 (" not in alike


def test_what_could_not_be_tried_is_named_and_a_warning_comes_last() -> None:
    text = shown(Choice("dmpss", "few people", failed=(("cmpss", "too few"),), warning="Beware"))
    assert "cmpss was not tried: too few" in text
    assert "Measured on" not in text
    assert text.rstrip().endswith("Beware")


def test_names_of_schemes_are_whole_on_a_narrow_terminal() -> None:
    names = [f"cmpss:levels={levels}:shift=off:keep=0.25" for levels in (11, 7)]
    rows = tuple(Tried(name, 0.51, "raw ratings", "F", 0.0, 0.01, 0.0, "why") for name in names)
    text = shown(Choice(names[0], "so", rows, people=100, panel=100), width=80)
    assert "…" not in text
    column = "".join(line[1:].partition("│")[0].strip() for line in text.splitlines())
    assert all(name in column for name in names)
