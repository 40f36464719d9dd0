"""Her category: from a file for her eyes only, remembered, or asked for; never repeated."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from midpoint.cli.answer.category import (
    CategoryOptions,
    _choose,
    _keys,
    category_of,
    read_category,
)
from midpoint.cli.answer.options import FileOptions
from midpoint.cli.answer.terminal import Terminal
from midpoint.errors import MidpointError
from midpoint.user.agent import Home
from midpoint.wire import Disclosure
from tests.support.people.made_up import AGE, GENDER, disclosure, unary_disclosure

SHOWN = disclosure(features=(GENDER, AGE))
NAMES = {"gender": "F", "age": "old"}


def written(path: Path, content: str, mode: int = 0o600) -> Path:
    path.write_text(content)
    path.chmod(mode)
    return path


def terminal(keys: str = "", *, is_one: bool = True) -> Terminal:
    pressed = iter(keys)
    console = Console(file=io.StringIO(), force_terminal=is_one)
    return Terminal(console, lambda: next(pressed, ""))


def test_a_file_names_each_feature(tmp_path: Path) -> None:
    path = written(tmp_path / "hers", "# mine\n gender = F \n\nage=old\n")
    assert read_category(path) == NAMES
    assert CategoryOptions(category_file=path).named() == NAMES
    assert CategoryOptions().named() is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_file_that_others_can_read_is_refused(mode: int, tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match="can be read by others; run: chmod 600"):
        read_category(written(tmp_path / "hers", "gender=F", mode))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "write FEATURE=CATEGORY"),
        ("gender", "write FEATURE=CATEGORY"),
        ("gender=F\nQueer", "write FEATURE=CATEGORY"),
        ("=Queer", "write FEATURE=CATEGORY"),
        ("gender=", "write FEATURE=CATEGORY"),
        ("gender=F\ngender=Queer", "names a feature twice"),
    ],
)
def test_a_mistake_is_named_and_the_category_is_not(
    content: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(MidpointError, match=message) as found:
        read_category(written(tmp_path / "hers", content))
    assert "Queer" not in str(found.value)
    with pytest.raises(MidpointError, match="cannot be read"):
        read_category(tmp_path / "nowhere")


def test_it_is_asked_for_in_a_terminal_and_remembered_if_she_likes(tmp_path: Path) -> None:
    home = Home.inside(tmp_path, "device")
    hers = category_of(home, SHOWN, terminal("13n"), None, remember=False)
    assert hers.cell_in(SHOWN) == SHOWN.cell(NAMES)
    assert not home.notes.category
    category_of(home, SHOWN, terminal("13y"), None, remember=False)
    assert home.category is not None
    # From now on nobody is asked, in a terminal or not.
    kept = category_of(home, SHOWN, terminal(is_one=False), None, remember=False)
    assert kept.cell_in(SHOWN) == SHOWN.cell(NAMES)
    home.close()


@pytest.mark.parametrize(
    ("shown", "decides"),
    [
        (SHOWN, "how your ratings are changed"),
        (unary_disclosure(features=(GENDER, AGE)), "which of your titles are withheld"),
    ],
    ids=["ratings", "sets"],
)
def test_what_it_decides_is_said_of_ratings_and_of_sets(shown: Disclosure, decides: str) -> None:
    written = io.StringIO()
    asked = Terminal(Console(file=written, width=200, force_terminal=True), iter("13n").__next__)
    category_of(Home.in_memory(), shown, asked, None, remember=False)
    assert f"It decides {decides}, and never leaves this device" in written.getvalue()


def test_without_a_terminal_it_has_to_be_named() -> None:
    home = Home.in_memory()
    with pytest.raises(MidpointError, match="--category-file FILE"):
        category_of(home, SHOWN, terminal(is_one=False), None, remember=False)
    named = category_of(home, SHOWN, terminal(is_one=False), NAMES, remember=True)
    assert named.cell_in(SHOWN) == SHOWN.cell(NAMES)
    assert home.category is not None
    with pytest.raises(MidpointError, match="needs one of young, middle, old") as found:
        category_of(home, SHOWN, terminal(), {"gender": "F", "age": "Queer"}, remember=True)
    assert "Queer" not in str(found.value)


def test_it_is_named_in_one_way(tmp_path: Path) -> None:
    path = written(tmp_path / "hers", "gender=F")
    assert FileOptions(category=["gender=F"]).named() == {"gender": "F"}
    assert FileOptions(category_file=path).named() == {"gender": "F"}
    with pytest.raises(MidpointError, match="not both"):
        FileOptions(category=["gender=F"], category_file=path).named()


def test_the_first_letter_is_a_key_where_it_says_enough() -> None:
    for keys in ("F3n", "f3n", "xF3n", "1On", "1on"):
        home = Home.in_memory()
        hers = category_of(home, SHOWN, terminal(keys), None, remember=False)
        assert hers.cell_in(SHOWN) == SHOWN.cell(NAMES), keys
    assert _keys(("adult", "aged", "Young")) == {
        "1": "adult",
        "2": "aged",
        "3": "Young",
        "y": "Young",
        "Y": "Young",
    }
    assert _keys(("1990", "2000")) == {"1": "1990", "2": "2000"}


def test_of_many_the_number_or_the_name_will_do() -> None:
    names = tuple(f"Party {letter}" for letter in "ABCDEFGHIJK")
    for typed in (["99", "none", "party c"], ["3"]):
        lines = iter(typed)
        shown = Terminal(Console(file=io.StringIO()), line=lambda lines=lines: next(lines))  # type: ignore[misc]
        assert _choose(shown, names) == "Party C"
