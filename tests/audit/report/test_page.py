import base64
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from midpoint.audit.measure.findings import Control
from midpoint.audit.report import page as report
from midpoint.audit.report.figures import pictures
from midpoint.audit.report.page import page, write_report
from midpoint.audit.report.verdict import headline
from tests.support.audits.made_up_results import AREAS, made_up, settings
from tests.support.audits.made_up_rounds import made_up_rounds

pytestmark = pytest.mark.slow  # whole audits and drawings


@pytest.fixture
def _words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the figures out, which take their time."""
    monkeypatch.setattr(report, "pictures", lambda _: iter(()))


VOID = {"br", "img", "meta"}


class Reader(HTMLParser):
    """Checks that tags close, and keeps what is loaded from where, and the words."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loaded += [value or "" for name, value in attrs if name in {"src", "href"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    return reader


@pytest.mark.usefixtures("_words_only")
def test_the_page_says_whether_the_scheme_in_use_was_tried() -> None:
    folds = tuple({"scheme": name} for name in ("cmpss", "dmpss", "cmpss"))
    untried, tried = page(made_up()), page(made_up(choices=folds))
    assert "it would choose was not tried here (--schemes default)" in untried
    assert "not tried here" not in tried
    assert "cmpss in 2, dmpss in 1 of 3 folds (cmpss, dmpss, cmpss)" in tried
    alone = page(made_up(choices=({"scheme": "dmpss"},) * 2))
    assert "alone: dmpss in all 2 folds." in alone
    assert "smaller panel" not in alone
    both = page(made_up(choices=({"scheme": "dmpss"},) * 2, split_choices=({"scheme": "cmp"},) * 2))
    assert "of a smaller panel, since outsiders are kept out of it. It chose cmp in all 2" in both


@pytest.mark.usefixtures("_words_only")
def test_categories_that_nobody_reads_anywhere_are_named() -> None:
    """Of the third party one attacker reads something; of the second none does."""
    controls = {
        "lr": Control("no", 0.8, reads=True, unread=("I", "R")),
        "lse": Control("no", 0.8, reads=True, unread=("I",)),
    }
    areas = {"no": {"lr": 0.8, "lse": 0.8}, "dmp": {"lr": 0.5, "lse": 0.5}}
    found = made_up(areas, categories=("D", "I", "R"), controls=controls)
    assert "nothing is shown about them: I.</p>" in page(found)
    able = controls | {"lse": Control("no", 0.8, reads=True)}
    assert "nothing is shown about them" not in page(replace(found, controls=able))


def test_the_page_is_one_piece_with_the_verdict_on_top(tmp_path: Path) -> None:
    results = made_up()
    path = write_report(results, tmp_path, "midpoint audit invented")
    html = path.read_text()
    reader = read(html)
    assert all(source.startswith("data:image/svg+xml") for source in reader.loaded)
    assert len(reader.loaded) == 6
    assert "<script" not in html
    text = " ".join(reader.words)
    verdict = headline(results)
    assert verdict is not None
    indices = [text.index(part) for part in (verdict.plain, verdict.grade, *verdict.numbers)]
    assert max(indices) < text.index("What leaks to which attacker")
    assert "midpoint audit invented" in text
    assert "F:M 1:2.5" in text
    assert "tall" not in text
    for scheme in results.scheme_names():
        assert scheme in text


@pytest.mark.usefixtures("_words_only")
def test_numbers_of_other_data_are_called_so() -> None:
    assert "The paper's number (movielens-1m, gender), ours, and the difference" in page(
        made_up(dataset="movielens-1m")
    )
    assert "(ptv, gender: data most like these, but others)" in page(made_up(dataset="anes-tv"))


@pytest.mark.usefixtures("_words_only")
def test_all_commands_that_made_a_directory_reproduce_it(tmp_path: Path) -> None:
    first, second = "midpoint audit a --quick --out o", "midpoint audit a --rounds 4 --out o"
    for command in (first, second, first):
        write_report(made_up(), tmp_path, command)
    text = write_report(made_up(), tmp_path).read_text()
    assert text.count(f"<code>{first}</code>") == 1
    assert text.index(f"<code>{first}</code>") < text.index(f"<code>{second}</code>")


@pytest.mark.usefixtures("_words_only")
def test_flaws_are_said_plainly() -> None:
    text = " ".join(read(page(made_up())).words)
    assert "the feature is in plain sight" in text  # mp by the fraction attack
    assert "On a discrete scale it protects nothing" in text


@pytest.mark.usefixtures("_words_only")
def test_attackers_without_a_control_are_marked_and_others_are_not() -> None:
    weak = {s: {**a, "lr": 0.52 if s == "no" else a["lr"]} for s, a in AREAS.items()}
    assert "no 0.520: proves nothing" in " ".join(read(page(made_up(weak))).words)
    assert "proves nothing" not in page(made_up())


@pytest.mark.usefixtures("_words_only")
def test_names_cannot_break_the_page() -> None:
    html = page(made_up(dataset="<script>alert(1)</script>", feature="a&b"))
    assert "<script" not in html
    assert "a&amp;b" in html
    read(html)


@pytest.mark.usefixtures("_words_only")
def test_the_papers_numbers_stand_beside_ours() -> None:
    text = " ".join(read(page(made_up(dataset="movielens-1m"))).words)
    assert "Beside the paper" in text
    assert "0.841" in text
    assert "0.919" in text
    assert "Beside the paper" not in page(made_up())


@pytest.mark.usefixtures("_words_only")
def test_the_papers_table_of_the_same_data_stands_beside_ours() -> None:
    same, like = (page(made_up(dataset=name)) for name in ("movielens-1m", "movielens-100k"))
    assert "<td>6K</td><td>60</td>" in same
    assert "<td>F:M 1:3</td><td>F:M 1:3</td>" in same
    assert "users, paper" not in like


@pytest.mark.usefixtures("_words_only")
def test_the_page_says_with_what_it_was_made_and_that_the_strongest_was_chosen() -> None:
    text = page(made_up(versions={"python": "3.99.1", "numpy": "7.7"}))
    assert "Python 3.99.1, numpy 7.7." in text
    assert "numpy" not in page(made_up())
    assert "chosen after the fact" in text
    rounds = page(made_up_rounds())
    assert "All 60 people were attacked, in 10 folds, by 2 attackers" in rounds
    assert "at chance" in rounds


def test_figures_are_drawings_with_words_for_those_who_do_not_see_them() -> None:
    for picture in pictures(made_up()):
        content = base64.b64decode(picture.source.partition(",")[2])
        assert ET.fromstring(content).tag.endswith("svg")  # noqa: S314
        assert len(picture.text) > 40
    assert list(pictures(made_up())) == list(pictures(made_up()))


def test_curves_are_drawn_where_a_setting_was_varied() -> None:
    varied = {"no": {"lr": 0.8}, "mp:alpha=0.5": {"lr": 0.7}, "mp": {"lr": 0.55}}
    titles = [picture.title for picture in pictures(made_up(varied))]
    assert "Privacy against accuracy" in titles
    assert "Privacy against disclosure" not in titles
    fewer = {"no": {"lr": 0.8}, "mp:bits=2": {"lr": 0.6}, "mp": {"lr": 0.55}}
    assert "Privacy against disclosure" in [one.title for one in pictures(made_up(fewer))]


def test_three_categories_have_no_histogram() -> None:
    titles = [one.title for one in pictures(made_up(categories=("D", "I", "R"), histograms={}))]
    assert "Answers before and after" not in titles
    assert "Answers before and after" in [one.title for one in pictures(made_up())]


@pytest.mark.usefixtures("_words_only")
def test_rounds_stand_in_the_report_if_some_were_held() -> None:
    alone = page(made_up())
    assert "Over time" not in alone
    assert "several reports over time add is not measured" in alone
    reader = read(page(made_up_rounds(product=0.57)))
    text = " ".join(reader.words)
    assert "picks the right one 57 times in 100 over 4 rounds" in text
    assert "Of devices that do not keep decisions: 66 if forgetful, 94 if tossing" in text
    assert text.index("Over time") > text.index("What it costs")
    assert "not measured" not in text
    assert len(reader.loaded) == 1


@pytest.mark.usefixtures("_words_only")
def test_points_of_curves_have_their_own_table() -> None:
    varied = {"no": {"lr": 0.8}, "mp:alpha=0.5": {"lr": 0.7}, "mp": {"lr": 0.55}}
    assert "mp:alpha=0.5" not in page(made_up(varied))  # no figure, no table
    assert "mp:alpha=0.5" in page(made_up({k: varied[k] for k in ("no", "mp:alpha=0.5")}))


@pytest.mark.usefixtures("_words_only")
def test_many_schemes_are_shown_a_few_at_a_time() -> None:
    many = {"no": {"lr": 0.8}} | {f"custom-{k}": {"lr": 0.5} for k in range(14)}
    html = page(made_up(many, schemes={name: settings("mp") for name in many}))
    heads = re.findall(r"<thead><tr>(.*?)</tr>", html)
    tables = [one.count("<th") - 2 for one in heads if ">control<" in one]
    assert tables == [5, 5, 5]


@pytest.mark.usefixtures("_words_only")
def test_intervals_and_distances_are_in_the_table() -> None:
    html = page(made_up())
    assert re.search(r"0\.560</span> <small>\(0\.060\)<br>0\.540-0\.580", html)


def test_attackers_that_learn_from_less_are_named() -> None:
    every = {"no": {"adaptive-svm-items": 0.8, "adaptive-lr-items": 0.8, "svm": 0.8}}
    text = page(made_up(every))
    assert "adaptive-svm-items 5,000." in text
    assert "take no more rows" not in page(made_up({"no": {"svm": 0.8, "custom": 0.7}}))
