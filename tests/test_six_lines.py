"""The six lines of the README run, and mean what they say."""

import logging
import re
from pathlib import Path

import pytest

import midpoint as mp
from midpoint.errors import MidpointError
from midpoint.user.agent.rows import Rows
from midpoint.wire import Report

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
MOVIELENS = '"Fargo (1996)": 5, "Heat (1995)": 3'


def run(example: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    monkeypatch.chdir(directory)
    names: dict[str, object] = {}
    exec(compile(example, "README.md", "exec"), names)  # noqa: S102 - our own example
    return names


def test_the_readme_has_one_example_of_six_lines() -> None:
    (example,) = EXAMPLES
    assert len([line for line in example.splitlines() if line.strip()]) <= 6


@pytest.mark.slow
def test_the_six_lines_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, "midpoint"):
        names = run(EXAMPLES[0], tmp_path, monkeypatch)
    printed = capsys.readouterr().out.splitlines()
    assert 1 < len(printed) <= 10
    assert all(re.fullmatch(r"\d\.\d \S.*", line) for line in printed)
    assert caplog.records == []  # a device with a home is no simulation
    assert sorted(path.name for path in tmp_path.iterdir()) == ["her-device", "site"]
    device, report = names["device"], names["report"]
    assert isinstance(device, mp.Device)
    assert isinstance(report, Report)
    device.close()
    analyst = names["analyst"]
    assert isinstance(analyst, mp.Analyst)
    assert all(item in analyst.disclosure.items for item, _ in report.answers)
    again = run(EXAMPLES[0], tmp_path, monkeypatch)  # the same key, home and decisions
    assert capsys.readouterr().out.splitlines() == printed
    assert again["report"] == report
    stranger = mp.Analyst.train(mp.load("simulated-tiny"), "gender", scheme="dmp")
    close = again["device"].close  # type: ignore[attr-defined]
    close()
    with pytest.raises(MidpointError, match=r"another key .*Analyst\.save or publish"):
        mp.Device(stranger.published, gender="F", home=tmp_path / "her-device")


@pytest.mark.slow
@pytest.mark.real_data
def test_the_six_lines_run_on_movielens(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        mp.load("movielens-100k")
    except MidpointError as missing:
        pytest.skip(str(missing))
    example = EXAMPLES[0].replace("simulated-tiny", "movielens-100k")
    example = re.sub(r"protect\(\{.*?\}\)", f"protect({{{MOVIELENS}}})", example)
    assert MOVIELENS in example
    names = run(example, tmp_path, monkeypatch)
    assert len(capsys.readouterr().out.splitlines()) == 10
    analyst, device = names["analyst"], names["device"]
    assert isinstance(analyst, mp.Analyst)
    assert isinstance(device, mp.Device)
    assert analyst.scheme.startswith("cmpss")
    ranked = device.rank(analyst.score(device.protect({"Fargo (1996)": 5, "Heat (1995)": 3})))
    assert isinstance(ranked, Rows)
    assert not {"Fargo (1996)", "Heat (1995)"} & {row.title for row in ranked}
    device.close()
