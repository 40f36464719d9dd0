"""What attackers read in transcripts of several rounds."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

from midpoint.audit.measure.results import Band, Row
from midpoint.audit.report.verdict import name_bands, reading, weigh
from midpoint.errors import MidpointError
from midpoint.files import replace_file

TRANSCRIPT_CSV, TRANSCRIPT_JSON = "transcripts.csv", "transcripts.json"
FORMAT = 1


@dataclass(frozen=True)
class TranscriptResults:
    """All that was found; devices are told apart by name, such as `dmpss:rounds=4:tossing`."""

    dataset: str
    """Name of the data."""
    data_digest: str
    """Digest of the data."""
    feature: str
    """The private feature."""
    code: str
    """Digest of the code that made the numbers."""
    folds: int
    """Number of folds."""
    seed: int
    """The seed."""
    rounds: int
    """How often everyone was asked."""
    budget: int
    """How many new items each round asked about."""
    items: int
    """How many items were there to ask about."""
    timed: bool
    """Whether ratings came in the order of their times; else in a random one."""
    product: str
    """Real devices: every decision is final."""
    raw: str
    """The control: ratings as they are."""
    rows: tuple[Row, ...]
    """AUC by device and attacker."""
    bands: Mapping[str, Band]
    """Of each kind of device, what chance would show."""
    reads: Mapping[str, bool]
    """Of each attacker, whether it can read raw ratings; if not, its failing proves nothing."""
    answers: Mapping[str, tuple[float, ...]]
    """Of each kind of device, mean number of answers a person gave in each round."""

    def get(self, device: str, attack: str) -> Row | None:
        """Return an AUC, if it is there."""
        found = (row for row in self.rows if (row.scheme, row.attack) == (device, attack))
        return next(found, None)

    def of(self, device: str) -> Iterator[Row]:
        """Go through the AUCs of one kind of device, those of single categories left out."""
        yield from (row for row in self.rows if row.scheme == device and row.attack in self.reads)

    def strongest(self, device: str) -> Row:
        """Return the attacker that is farthest from 0.5, on either side."""
        return max(self.of(device), key=lambda row: abs(row.value - 0.5))

    @property
    def scheme(self) -> str:
        """The scheme under which rounds were held."""
        return self.product.removesuffix(f":rounds={self.rounds}")

    @property
    def kinds(self) -> dict[str, str]:
        """Of each device a short name: raw, final, forgetful or tossing."""
        known = {self.raw: "raw", self.product: "final"}
        return {name: known.get(name, name.rpartition(":")[2]) for name in self.bands}

    @property
    def found(self) -> str:
        """Say what the product's devices give away, in the words of verdicts."""
        best, band = self.strongest(self.product), self.bands[self.product]
        return weigh(best.value, band, able=any(self.reads.values()))

    @property
    def sentence(self) -> str:
        """Say what several rounds give away, in one sentence."""
        best, band = self.strongest(self.product), self.bands[self.product]
        naive = [name for name in self.bands if name not in {self.product, self.raw}]
        kinds = self.kinds
        read = ", ".join(f"{reading(self.strongest(one).value)} if {kinds[one]}" for one in naive)
        return (
            f"over {self.rounds} rounds the strongest attacker reads {reading(best.value)}"
            f" ({best.attack}, {best.low:.3f}-{best.high:.3f}), {name_bands(band)}: {self.found};"
            f" of devices that do not keep decisions {read}; of raw ratings"
            f" {reading(self.strongest(self.raw).value)}"
        )

    def save(self, directory: Path) -> None:
        """Write transcripts.csv, with the columns of results.csv, and transcripts.json."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows([*row[:5], *map(repr, row[5:8]), *row[8:]] for row in self.rows)
        replace_file(directory / TRANSCRIPT_CSV, stream.getvalue().encode())
        content = asdict(self) | {"rows": [row._asdict() for row in self.rows], "format": FORMAT}
        text = json.dumps(content, indent=1) + "\n"
        replace_file(directory / TRANSCRIPT_JSON, text.encode())

    @classmethod
    def load(cls, directory: Path) -> Self | None:
        """Read what `save` wrote; nothing if it never did."""
        path = directory / TRANSCRIPT_JSON
        if not path.exists():
            return None
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            content["rows"] = tuple(Row(**row) for row in content["rows"])
            content["bands"] = {name: Band(**one) for name, one in content["bands"].items()}
            content["answers"] = {name: tuple(one) for name, one in content["answers"].items()}
            return cls(**{field.name: content[field.name] for field in fields(cls)})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise MidpointError(f"{path} is damaged ({error!r}); run the rounds again") from error
