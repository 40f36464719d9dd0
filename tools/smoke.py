"""Try an installed Midpoint as its users would: every command, in an empty directory.

`tools/release.py` runs this in a clean environment, with the extras as its argument. A step runs
where its extras are installed. Elsewhere the command must say which extra to install, or, where
`midpoint` needs no extra to understand it, is tried by its `--help` alone.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

HOLDS = {
    "": {""},
    "analyst": {"", "analyst"},
    "audit": {"", "analyst", "audit"},
    "service": {"", "analyst", "service"},
    "spark": {"", "analyst", "spark"},
}
"""What an extra brings, itself and the light installation included."""
COMMANDS = (
    *("train", "disclose", "publish", "renew-key", "learn", "serve", "doctor", "solicit"),
    *("estimate", "recommend", "data", "batch", "answer", "protect", "rank", "device", "panel"),
    *("witness", "audit", "compare", "certify", "obfuscate", "demo"),
)
SMALL = "--dimension 3 --iterations 3"


class Step(NamedTuple):
    """A command, and the extra that it needs."""

    extra: str
    line: str


ALONE = (
    Step("analyst", "data list"),
    Step("analyst", "data describe simulated-tiny --feature gender"),
    Step("analyst", "train simulated-tiny --feature gender --counterparts none --out model"),
    Step("analyst", "disclose model --out disclosure.json"),
    Step("analyst", "publish model site --out published.json"),
    Step("analyst", "solicit model --budget 5 --out question.json"),
    Step(
        "analyst", "obfuscate simulated-tiny --disclosure disclosure.json --seed 1 --out copy.csv"
    ),
    Step(
        "analyst",
        "protect --disclosure published.json --question question.json --ratings hers.csv"
        " --home by-files --category-file private.txt --out report.json",
    ),
    Step("analyst", "estimate model report.json"),
    Step("analyst", "recommend model report.json --out scores.json"),
    Step("analyst", "rank --scores scores.json --home by-files --category-file private.txt"),
    Step("audit", f"train simulated-tiny --feature gender {SMALL} --out chosen"),
    Step(
        "audit",
        "audit simulated-tiny --feature gender --schemes no,dmpss --attacks lr,lse --folds 2"
        " --jobs 1 --adversary panel --out audit",
    ),
    Step("audit", "compare audit audit"),
    Step(
        "audit",
        "certify audit simulated-tiny --disclosure disclosure.json --auditor A --key auditor.key"
        " --out certificate.json",
    ),
)
"""What needs no service, in this order."""
SERVED = (
    Step("service", "doctor site"),
    Step(
        "service",
        "answer URL --home her-device --ratings hers.csv --category-file private.txt --yes",
    ),
    Step("service", "panel join URL --home her-device --category-file private.txt --yes"),
    Step("service", "panel show URL --home her-device"),
    Step("service", "panel leave URL --home her-device"),
    Step(
        "service",
        "device export URL kept.device --home her-device --backup --passphrase-file passphrase.txt",
    ),
    Step("service", "panel show URL --home her-device"),
    Step("service", f"learn site --panel simulated-tiny {SMALL}"),
    Step("service", "renew-key site"),
)
"""What is tried beside a running service."""
CLUSTER = (
    Step("spark", "batch obfuscate table.parquet --disclosure disclosure.json --seed 1 --out sent"),
)
"""What needs Java."""


def midpoint(line: str) -> list[str]:
    """Return the command line of the installed program."""
    return [str(Path(sys.executable).with_name("midpoint")), *line.split()]


def done(line: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command to its end."""
    return subprocess.run(  # noqa: S603 - our own command
        midpoint(line), check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def works(line: str) -> None:
    """Run a command that must succeed."""
    result = done(line)
    if result.returncode:
        raise SystemExit(f"midpoint {line}\n{result.stdout}\n{result.stderr}")


def lacks(line: str, extra: str) -> None:
    """Run a command that must say which extra it needs."""
    result = done(line)
    said = " ".join((result.stdout + result.stderr).split())
    if result.returncode == 0 or f"midpoint[{extra}]" not in said:
        raise SystemExit(f"midpoint {line} does not ask for {extra}\n{said}")


@contextmanager
def running(line: str, port: int) -> Iterator[str]:
    """Run a command that serves; yield its address once it answers."""
    with Path("served.txt").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(  # noqa: S603 - our own command
            midpoint(f"{line} --port {port}"), stdout=log, stderr=log
        )
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if process.poll() is not None:
                raise SystemExit(f"midpoint {line}\n{Path('served.txt').read_text('utf-8')}")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def prepare() -> None:
    """Write what a person would write."""
    Path("hers.csv").write_text("title,rating\nFilm 0001,5\nFilm 0002,3\n", encoding="utf-8")
    for name, line in (("private.txt", "gender=F"), ("passphrase.txt", "a long enough passphrase")):
        Path(name).write_text(f"{line}\n", encoding="utf-8")
        Path(name).chmod(0o600)


def beside_a_service() -> None:
    """Serve the site, and try what talks to a service; then a witness of it."""
    with running("serve site --panel", free_port()) as address:
        for step in SERVED:
            works(step.line.replace("URL", address))
        with running(f"witness {address} witnessed", free_port()):
            pass


def on_a_cluster() -> None:
    """Try Spark on this machine, where there is a Java, and on Windows also Hadoop's own files."""
    if os.name == "nt" and "HADOOP_HOME" not in os.environ:
        sys.stdout.write("no HADOOP_HOME with winutils here: Spark not tried\n")
        return
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        sys.stdout.write("no Java here: Spark not tried\n")
        return
    code = (
        "import midpoint as mp; r = mp.load('simulated-tiny');"
        "r.to_polars().join(r.people_to_polars(), on='user').write_parquet('table.parquet')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own example
    for step in CLUSTER:
        works(step.line)


def main() -> None:
    """Try what the extras are for, and that the rest says what it needs."""
    extras = sys.argv[1].split(",") if len(sys.argv) > 1 else [""]
    held = set[str]().union(*(HOLDS[extra] for extra in extras))
    prepare()
    works("--version")
    for command in COMMANDS:
        works(f"{command} --help")
    for step in ALONE:
        if step.extra in held:
            works(step.line)
    if "analyst" not in held:
        lacks("train simulated-tiny --feature gender --out other", "analyst")
    elif "audit" not in held:
        lacks("train simulated-tiny --feature gender --out other", "audit")
    if "service" in held:
        beside_a_service()
    elif "analyst" in held:
        lacks("serve site", "service")
    if "spark" in held:
        on_a_cluster()
    if {"service", "audit"} <= held:
        works("demo --no-serve")


if __name__ == "__main__":
    main()
