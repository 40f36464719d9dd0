"""Make vectors/v1: the contract between this program and the one in the browser.

Run `python -m tests.support.vectors.make` after a change of the protocol. Everything is made up,
and made the same way each time. Coins are given as their 53 bits; all else is as on the wire.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support.vectors.certificates import certificates
from tests.support.vectors.device_files import device_files
from tests.support.vectors.parts import (
    Case,
)
from tests.support.vectors.positions import (
    bad_positions,
    moved_corrections,
    moved_obfuscations,
    people_at_positions,
)
from tests.support.vectors.refusals import (
    bad_numbers,
    bad_rounds,
    chains,
    statements,
    titles,
)
from tests.support.vectors.reports import corrections, discrete, obfuscations, reports
from tests.support.vectors.texts import bad_texts, service_texts

DIRECTORY = Path(__file__).parents[3] / "vectors" / "v1"


def _after(*parts: Callable[[], Iterator[Case]]) -> Callable[[], Iterator[Case]]:
    return lambda: (case for part in parts for case in part())


FILES: dict[str, Callable[[], Iterator[Case]]] = {
    "reports": reports,
    "obfuscations": _after(obfuscations, moved_obfuscations),
    "discrete": discrete,
    "corrections": _after(corrections, moved_corrections),
    "chains": chains,
    "statements": statements,
    "bad_numbers": _after(bad_numbers, bad_positions),
    "bad_texts": bad_texts,
    "service_texts": service_texts,
    "bad_rounds": bad_rounds,
    "certificates": certificates,
    "titles": titles,
    "positions": people_at_positions,
    "device_files": device_files,
}


def content(name: str) -> str:
    """Return a vector file: one case per line, so that a change shows which."""
    lines = [json.dumps(case, ensure_ascii=False, sort_keys=True) for case in FILES[name]()]
    return '{"version": 1, "cases": [\n' + ",\n".join(lines) + "\n]}\n"


def main() -> None:
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (DIRECTORY / f"{name}.json").write_text(content(name), encoding="utf-8")


if __name__ == "__main__":
    main()
