"""The commands of `docs/guides/life-of-a-site.md` run one after the other, on a live service."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from midpoint.analyst.disclose.site import Site
from midpoint.cli.app import app
from midpoint.data import PRESETS, simulate
from midpoint.wire import Entry
from tests.support.sites.serving import Process
from tests.support.tables.two_kinds import write_panel

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "life-of-a-site.md"
SERVICE = "http://127.0.0.1:8000"
SMALL = ("--dimension", "2", "--iterations", "3")


def commands() -> list[str]:
    """Return the page's commands in their order."""
    return re.findall(r"^ *midpoint (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.slow
def test_the_commands_run_from_the_first_panel_to_going_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    everyone = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    who = np.arange(everyone.n_users)
    late = write_panel(everyone, tmp_path)
    (tmp_path / "panel.csv").rename("panel-2.csv")
    (tmp_path / "people.csv").rename("people-2.csv")
    first = everyone.select_users(who < 0.8 * everyone.n_users)
    write_panel(first.select_items(np.arange(everyone.n_items - 3)), tmp_path)
    assert late[0].endswith("panel.csv")
    rated = [f"{item},{4 - n % 2}" for n, item in enumerate(everyone.item_ids[:20].tolist())]
    (tmp_path / "ann.csv").write_text("\n".join(["item,rating", *rated]) + "\n")

    site, shown = Site(tmp_path / "site"), dict[str, str]()
    with_service = [line.split()[0] for line in commands()].index("serve")
    before, after = commands()[:with_service], commands()[with_service + 1 :]
    for line in before:
        shown[line] = play(line)
    with Process(tmp_path / "site", ("--panel",)) as service:
        for line in after:
            shown[line] = play(line.replace(SERVICE, service.url))
            if line.startswith("answer") and "--forget" not in line:
                assert "Sent" in shown[line]
    said = {line: text for line, text in shown.items() if line.startswith("learn")}
    held, published = said.values()
    assert "answers of 1 person" in held
    assert "1 person joined the panel at the service" in held
    assert "items wait for more answers of the panel" in held
    assert "Going on from" in published
    chain = site.chain()
    assert chain is not None
    digests = [entry.open(Entry).disclosure for entry in chain.entries]
    assert len(digests) == 3
    assert digests[0] == digests[2] != digests[1]
    new = set(site.disclosure(digests[1]).items) - set(site.disclosure(digests[0]).items)
    assert new == set(everyone.item_ids[-3:].tolist())


def play(line: str) -> str:
    """Run a command of the page as somebody who confirms; one that fits items does so quickly."""
    words = shlex.split(line, comments=True)
    quick = {"train": (*SMALL, "--counterparts", "none"), "learn": SMALL}.get(words[0], ())
    done = CliRunner().invoke(
        app, [*words, *quick], input="y\n", catch_exceptions=False, env={"COLUMNS": "200"}
    )
    assert done.exit_code == 0, done.output
    return done.stdout
