"""What the engines offer by name."""

from midpoint.analyst import engines
from midpoint.analyst.engines import streaming


def test_the_public_names_are_these() -> None:
    assert engines.__all__ == [
        "Engine",
        "LocalEngine",
        "RatingsTables",
        "ReadRatings",
        "StreamingEngine",
    ]
    assert streaming.__all__ == ["Scan", "StreamingEngine", "fit_from_disk", "scan", "tally_scan"]
    for module in (engines, streaming):
        assert all(hasattr(module, name) for name in module.__all__)
