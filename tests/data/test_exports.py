"""What `midpoint.data` offers by name."""

from midpoint import data


def test_the_public_names_are_these() -> None:
    assert data.__all__ == [
        "MISSING",
        "PRESETS",
        "Description",
        "Feature",
        "ItemOrder",
        "Origin",
        "Ratings",
        "Scale",
        "Simulation",
        "SimulationConfig",
        "at_least",
        "describe",
        "hold_out",
        "in_levels",
        "load",
        "simulate",
        "split_at_random",
        "split_ratings",
        "user_folds",
        "with_known",
    ]
    assert all(hasattr(data, name) for name in data.__all__)
