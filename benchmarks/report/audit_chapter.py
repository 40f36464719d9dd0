"""What audits say together: the newest of each case first, and what whole transcripts leak."""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

AUDIT_FILE = re.compile(r"(?P<case>.+?)(-(?P<folds>\d+)-folds)?(-no-(?P<schemes>.+))?")
"""How results of an audit are called: what was audited, then what was less than usual."""


class Audited(NamedTuple):
    """Results of one audit."""

    case: str
    """What was audited."""
    folds: int | None
    """Number of folds where it was not the usual one."""
    schemes: tuple[str, ...]
    """The schemes where not all were tried."""
    file: str
    """Its file, without the ending."""
    results: Mapping[str, Any]
    """What is in it."""

    @property
    def when(self) -> tuple[str, str]:
        """Day and time of the run; older results have no time."""
        where = self.results["conditions"]
        return where["date"], where.get("time", "")

    @property
    def heading(self) -> str:
        """What was audited, and how much of it."""
        folds = f", {self.folds} folds" if self.folds else ""
        return f"{self.case}{folds}" + (f": {', '.join(self.schemes)}" if self.schemes else "")


def runs(results: Path) -> list[Audited]:
    """Read all audits by case: the newest first, and of one day that of all schemes."""
    read = [_audited(path) for path in sorted(results.glob("audit-*.json"))]
    read.sort(key=lambda run: (not run.schemes, run.folds is None, run.folds or 0), reverse=True)
    read.sort(key=lambda run: run.when, reverse=True)
    return sorted(read, key=lambda run: run.case)


def transcripts(path: Path) -> dict[str, Any] | None:
    """Return the table of what whole transcripts leak, by kind of device; None without rounds."""
    rows = list(_of_rounds(path)) if path.exists() else []
    if not rows:
        return None
    devices = list(dict.fromkeys(row["scheme"] for row in rows))
    raw, product = (one for one in devices if one.rpartition(":")[2].startswith("rounds="))
    scheme, _, rounds = product.partition(":rounds=")
    short = {raw: "raw", product: "decisions final"}
    cells = {(row["scheme"], row["attack"]): _area(row) for row in rows}
    body = [
        [attack, *(cells.get((one, attack), "") for one in devices)]
        for attack in dict.fromkeys(row["attack"] for row in rows)
    ]
    return {
        "title": f"{scheme}, whole transcripts of {rounds} rounds, {rows[0]['folds']} folds: AUC",
        "head": ["attacker", *(short.get(one, one.rpartition(":")[2]) for one in devices)],
        "rows": body,
    }


def _of_rounds(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if ":rounds=" in row["scheme"] and row["metric"] == "auc" and "[" not in row["attack"]:
                yield row


def _area(row: Mapping[str, str]) -> str:
    value, low, high = (float(row[key]) for key in ("value", "low", "high"))
    return f"{value:.3f} ({low:.3f}-{high:.3f})"


def _audited(path: Path) -> Audited:
    name = AUDIT_FILE.fullmatch(path.stem.removeprefix("audit-"))
    if name is None:
        raise ValueError(f"{path} is not called as results of an audit are")
    rest = name["schemes"]
    return Audited(
        name["case"],
        int(name["folds"]) if name["folds"] else None,
        ("no", *rest.split("-")) if rest else (),
        path.stem,
        json.loads(path.read_text()),
    )
