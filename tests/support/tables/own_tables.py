"""Tables of one's own, written and compared."""

from pathlib import Path

from midpoint.data import Ratings


def file(path: Path, text: str) -> Path:
    """Write a file and return its path."""
    path.write_text(text)
    return path


def triples(ratings: Ratings) -> list[tuple[str, str, float]]:
    """Return the ratings as (user, item, value)."""
    return [
        (str(ratings.user_ids[u]), str(ratings.item_ids[i]), float(v))
        for u, i, v in zip(ratings.user, ratings.item, ratings.value, strict=True)
    ]


def labels(ratings: Ratings, name: str) -> list[str | None]:
    """Return the label of each user, None where it is not known."""
    feature = ratings.features[name]
    return [None if code < 0 else feature.categories[code] for code in feature.codes.tolist()]
