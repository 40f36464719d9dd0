"""What a device shows: ratings by title, mistakes named, titles ranked."""

import pytest

from midpoint.errors import MidpointError
from midpoint.user.agent.device import Device
from midpoint.user.agent.rows import RankedTitle, Rows
from midpoint.wire import (
    ONE,
    Disclosure,
    Scores,
    correction,
)
from tests.support.people.made_up import (
    STARS,
    unary_disclosure,
)
from tests.support.sites.devices import SHOWN, TITLED, published, signed_again

pytestmark = pytest.mark.usefixtures("same_coins")


def scores_of(shown: Disclosure) -> Scores:
    n = len(shown.items)
    score = tuple(3 * ONE + 1000 * index for index in range(n))
    return Scores(disclosure=shown.digest, items=shown.items, score=score, deviation=(ONE,) * n)


def test_titles_are_ranked_by_her_own_offset_without_what_she_rated() -> None:
    device = Device(published(), gender="M")
    device.protect({SHOWN.items[0]: 5, SHOWN.items[1]: 1})
    ranked = device.rank(scores_of(SHOWN))
    assert {row.item for row in ranked} == {*SHOWN.items[2:]}
    own = correction(SHOWN)[:, 1]
    total = {item: 3 * ONE + 1000 * n + int(own[n]) for n, item in enumerate(SHOWN.items)}
    best = max(ranked, key=lambda row: total[row.item])
    assert ranked[0] == best
    assert ranked[0].stars == pytest.approx(min(max(total[best.item], STARS[0]), STARS[-1]) / ONE)
    assert repr(ranked[:2]).splitlines() == [f"{r.stars:.1f} {r.title}" for r in ranked[:2]]
    assert repr(ranked[:0]) == "<nothing>"


def test_sets_are_given_by_name_and_ranked_without_stars() -> None:
    """Control: where items are rated, names alone are refused."""
    shown = unary_disclosure("dmpss")
    device = Device(published(shown), gender="M")
    named = device.protect(list(shown.items[:2]))
    assert device.protect(dict.fromkeys(shown.items[:2], 1)) == named
    ranked = device.rank(scores_of(shown))
    assert repr(ranked[:2]).splitlines() == [row.title for row in ranked[:2]]
    assert "<th>title</th></tr>" in ranked._repr_html_()
    assert "stars" not in ranked._repr_html_()
    with pytest.raises(MidpointError, match="give ratings by title or item"):
        Device(published(), gender="M").protect(list(SHOWN.items[:2]))


def test_a_title_in_a_notebook_is_text_and_no_markup() -> None:
    titles = TITLED.model_copy(update={"titles": ("<script>", *SHOWN.items[1:])})
    device = Device(signed_again(published(), titles), gender="F")
    html = device.rank(scores_of(SHOWN))._repr_html_()
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
    assert html.count("<tr>") == 1 + min(len(SHOWN.items), 10)


@pytest.mark.parametrize(
    ("count", "rest"), [(10, ""), (11, "and 1 more"), (1680, "and 1,670 more")]
)
def test_a_long_list_prints_ten_rows_and_how_many_follow(count: int, rest: str) -> None:
    rows: Rows[RankedTitle] = Rows(
        [RankedTitle(f"i{k}", f"Title {k}", 3.0, 1.0) for k in range(count)]
    )
    lines = repr(rows).splitlines()
    assert lines[:10] == [f"3.0 Title {k}" for k in range(10)]
    assert "".join(lines[10:]) == rest
    html = rows._repr_html_()
    assert html.count("<tr>") == 11
    assert html.endswith(f"</table><p>{rest}</p>" if rest else "</table>")
    assert repr(rows[8:10]).splitlines() == ["3.0 Title 8", "3.0 Title 9"]
