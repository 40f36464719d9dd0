from io import StringIO

from rich.console import Console

from midpoint.analyst.fit.factorizer import Progress
from midpoint.cli.output.bars import share_bar, training_bar


def terminal() -> tuple[Console, StringIO]:
    written = StringIO()
    return Console(file=written, force_terminal=True, width=100, color_system=None), written


def test_steps_are_counted_in_words() -> None:
    console, written = terminal()
    with training_bar(console) as report:
        report(Progress(3, 6, stage="Fitting positions"))
    assert "Fitting positions (step 3 of 6)" in written.getvalue()


def test_a_fit_shows_its_passes_and_error() -> None:
    console, written = terminal()
    with training_bar(console) as report:
        report(Progress(2, 15, 0.91234))
    assert "Fitting item profiles (pass 2 of 15, error 0.9123)" in written.getvalue()


def test_a_share_is_drawn_and_a_log_stays_empty() -> None:
    console, written = terminal()
    log = StringIO()
    for shown in (console, Console(file=log)):
        with share_bar(shown, "Tuning") as report:
            report(1, 2)
    assert "Tuning" in written.getvalue()
    assert "━" in written.getvalue()
    assert "Tuning" not in log.getvalue()
