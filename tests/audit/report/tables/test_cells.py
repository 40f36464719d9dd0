import pytest

from midpoint.audit.measure.findings import Band
from midpoint.audit.report.tables.cells import WIDEST, area_cell, band_cell, chunks
from tests.support.audits.made_up_results import made_up


@pytest.mark.parametrize("count", [1, WIDEST, WIDEST + 1, 3 * WIDEST - 1])
def test_schemes_are_cut_into_equal_parts_that_fit(count: int) -> None:
    names = [str(k) for k in range(count)]
    parts = list(chunks(names))
    assert [name for part in parts for name in part] == names
    sizes = [len(part) for part in parts]
    assert max(sizes) <= WIDEST
    assert max(sizes) - min(sizes) <= len(parts)


def test_only_what_is_beyond_chance_is_marked() -> None:
    results = made_up()
    read, hidden = (results.get(scheme, "auc", "lr") for scheme in ("no", "dmpss"))
    assert area_cell(results, read).startswith('<span class="leaks">0.830</span> <small>(0.330)')
    assert area_cell(results, hidden).startswith("0.480 <small>(0.020)")
    assert area_cell(results, None) == band_cell(None) == ""


def test_a_band_names_how_many_attackers_it_is_of() -> None:
    shown = band_cell(Band(0.47, 0.53, 3, 0.01))
    assert shown.startswith("0.470-0.530<br>")
    assert "of 3; p 0.010" in shown
