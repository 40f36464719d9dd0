"""The page of formats says what the code writes."""

import re
from pathlib import Path

from midpoint import __version__
from midpoint.analyst.fit import profile_files
from midpoint.audit.measure import results
from midpoint.user.agent.transfer import FIRST_LINE
from midpoint.wire.message import VERSION

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| ([^|]+) \| (\d+) \|", re.MULTILINE)


def stated() -> dict[str, int]:
    """Return the numbers of the page, by the first words of their rows."""
    text = (ROOT / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
    return {what.split(":")[0].strip(): int(number) for what, number in ROW.findall(text)}


def test_numbers_are_those_of_the_code() -> None:
    assert stated() == {
        "messages": VERSION,
        "HTTP interface": 1,
        "model directory": profile_files.FORMAT,
        "audit's `results.json`": results.FORMAT,
        "a device's transfer file": int(FIRST_LINE.decode().strip()[-1]),
    }


def test_the_version_is_one() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+([ab]\d+|rc\d+)?(\.dev\d+)?", __version__)
