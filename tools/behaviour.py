"""Record what the commands print and write on fixed inputs, and compare two such recordings.

    python tools/behaviour.py record DIRECTORY          # with the code that is importable now
    python tools/behaviour.py compare BEFORE AFTER      # what changed, by file and by number

A refactoring must leave all of it as it is, but for renamed fields: RENAMED lists those.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

MIDPOINT = [sys.executable, "-c", "from midpoint.cli import main; main()"]
SCHEMES = [
    "no",
    "mp",
    "mpr",
    "ss",
    "mpss",
    "mpssr",
    "ia",
    "fa",
    "ssia",
    "ssfa",
    "dmp",
    "dmpss",
    "cmp",
    "cmpss",
]
RENAMED = {
    "habit": "selection",
    "law": "prior",
    "places": "positions",
    "bad_places": "bad_positions",
}
"""Field names before and after."""
UNSTABLE = re.compile(r"seconds|^code$|version|made_at|created|libraries|digest|^cost_time$")
"""What differs from run to run, or follows from renamed bytes."""


def main() -> None:
    """Run one of the two commands."""
    command, *places = sys.argv[1:]
    if command == "record":
        record(Path(places[0]).resolve())
    else:
        differences = list(compare(Path(places[0]), Path(places[1])))
        print("\n".join(differences) or "no difference")
        sys.exit(bool(differences))


def record(root: Path) -> None:
    """Run everything once, in a directory of its own."""
    root.mkdir(parents=True, exist_ok=True)
    shutil.copytree("vectors", root / "vectors", dirs_exist_ok=True)
    for source, feature in (("simulated-tiny", "gender"), ("movielens-100k", "gender")):
        for kind in ("none", "sets", "values"):
            here = root / source / kind
            run(here, "train", source, "--feature", feature, "--counterparts", kind,
                "--out", "model", "--threads", "2")  # fmt: skip
            fitting = [s for s in SCHEMES if s not in {"cmp", "cmpss"}]
            wanted = {"none": fitting, "sets": ["cmpss"], "values": ["cmp"]}[kind]
            for scheme in wanted:
                run(here, "disclose", "model", "--scheme", scheme, "--out", f"{scheme}.json")
                run(here, "obfuscate", source, "--disclosure", f"{scheme}.json", "--seed", "7",
                    "--out", f"{scheme}.csv")  # fmt: skip
        here = root / source / "none"
        run(here, "disclose", "model", "--scheme", "dmpss", "--bits", "6", "--out", "bits.json")
        run(here, "disclose", "model", "--scheme", "mpss", "--plain", "--out", "plain.json")
        run(here, "solicit", "model", "--budget", "8", "--out", "question.json")
        answers = _report(here / "dmpss.json", here / "dmpss.csv")
        (here / "report.json").write_text(answers, encoding="utf-8")
        for name in ("estimate", "recommend"):
            said = run(here, name, "model", "report.json", "--disclosure", "dmpss.json", "--json")
            (here / f"{name}.json").write_text(said, encoding="utf-8")
        run(root / source, "audit", source, "--feature", feature, "--folds", "2", "--out", "audit",
            *(() if source == "simulated-tiny" else ("--rounds", "3")))  # fmt: skip


def _report(disclosure: Path, table: Path) -> str:
    """Make one person's report of what was written for her."""
    import hashlib

    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    own = sorted((r["item"], round(float(r["rating"]) * 65536)) for r in rows if r["user"] == "2")
    digest = hashlib.sha256(disclosure.read_bytes().rstrip(b"\n")).hexdigest()
    body = {"answers": own, "disclosure": digest, "id": "0" * 32, "round": 0, "version": 1}
    return json.dumps(body, separators=(",", ":"), sort_keys=True)


def run(here: Path, *words: str) -> str:
    """Run a command in a directory, once: what is there already is kept."""
    here.mkdir(parents=True, exist_ok=True)
    log = here / ("-".join(w.strip("./") for w in words if "/" not in w)[:80] + ".log")
    if log.exists():
        return log.read_text(encoding="utf-8")
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(
        [*MIDPOINT, *words], cwd=here, env=environment, capture_output=True, text=True, check=False
    )
    print(done.returncode, here.name, *words, flush=True)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:], flush=True)
    log.write_text(done.stdout, encoding="utf-8")
    return done.stdout


def compare(before: Path, after: Path) -> Iterator[str]:
    """Say what differs between two recordings."""
    names = {p.relative_to(before) for p in before.rglob("*") if p.is_file()}
    for name in sorted(names):
        if name.suffix == ".log" or "tasks" in name.parts or name.suffix in {".html", ".svg"}:
            continue
        other = after / Path(*(_renamed(part) for part in name.parts))
        if not other.exists():
            yield f"{name}: gone"
        elif name.suffix == ".json":
            yield from _values(str(name), _json(before / name), _json(other))
        elif name.suffix in {".npz", ".npy"}:
            yield from _arrays(str(name), before / name, other)
        elif (before / name).read_bytes() != other.read_bytes():
            yield f"{name}: other bytes"


def _renamed(part: str) -> str:
    stem, dot, suffix = part.partition(".")
    return RENAMED.get(stem, stem) + dot + suffix


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _values(where: str, a: Any, b: Any) -> Iterator[str]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key, value in a.items():
            if UNSTABLE.search(key):
                continue
            new = RENAMED.get(key, key)
            if new in b or key in b:
                yield from _values(f"{where}.{key}", value, b.get(new, b.get(key)))
            elif value is not None:
                yield f"{where}.{key}: gone"
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for k, (one, other) in enumerate(zip(a, b, strict=True)):
            yield from _values(f"{where}[{k}]", one, other)
    elif a != b and RENAMED.get(str(a), a) != b:
        size = f" ({abs(a - b):.2g})" if isinstance(a, float) and isinstance(b, float) else ""
        yield f"{where}: {str(a)[:60]} is now {str(b)[:60]}{size}"


def _arrays(where: str, a: Path, b: Path) -> Iterator[str]:
    if a.suffix == ".npy":
        if not np.array_equal(np.load(a), np.load(b), equal_nan=True):
            yield f"{where}: other numbers"
        return
    with np.load(a) as old, np.load(b) as new:
        for key in old.files:
            if UNSTABLE.search(key):
                continue
            found = RENAMED.get(key, key)
            if found not in new.files:
                yield f"{where}.{key}: gone"
            elif not np.array_equal(old[key], new[found], equal_nan=old[key].dtype.kind == "f"):
                yield f"{where}.{key}: other numbers"


if __name__ == "__main__":
    main()
