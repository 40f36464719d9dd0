"""Results of rounds that nobody held."""

from midpoint.audit.measure.results import Band, Row
from midpoint.audit.rounds.results import TranscriptResults

DEVICES = {
    "no:rounds=4": 0.9,
    "dmpss:rounds=4": 0.52,
    "dmpss:rounds=4:forgetful": 0.66,
    "dmpss:rounds=4:tossing": 0.94,
}


def made_up_rounds(product: float = 0.52, digest: str = "d" * 64) -> TranscriptResults:
    """Invent what two attackers read of each kind of device."""
    read = DEVICES | {"dmpss:rounds=4": product}
    names = ("transcript-trees", "adaptive-lr-items")
    rows = [
        Row("invented", "gender", device, "auc", name, value - k / 100, value - 0.1, 0.99, 3, 0)
        for device, value in read.items()
        for k, name in enumerate(names)
    ]
    return TranscriptResults(
        dataset="invented",
        data_digest=digest,
        feature="gender",
        code="c" * 64,
        folds=3,
        seed=0,
        rounds=4,
        budget=30,
        items=300,
        timed=True,
        product="dmpss:rounds=4",
        raw="no:rounds=4",
        rows=tuple(rows),
        bands={device: Band(0.46, 0.54, 2, 0.2) for device in read},
        reads=dict.fromkeys(names, True),
        answers=dict.fromkeys(read, (5.0, 6.5, 7.0, 9.0)),
    )
