"""The attacker of docs/guides/audit.md, ten lines long, does what the page says."""

import re
from pathlib import Path
from typing import Any

import pytest

from midpoint.audit import check_attacker
from midpoint.audit.attackers.auc import auc
from tests.support.audits.seen import Seen, codes

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "own-attacker.md"


def examples() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_examples_of_the_page_run_one_after_the_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for example in examples():
        exec(compile(example, str(PAGE), "exec"), names)  # noqa: S102 - our own examples
    assert names["results"].scheme_names() == ["no", "dmpss-noisy"]
    assert "95 % interval" in capsys.readouterr().out


@pytest.fixture(scope="module")
def attacker() -> Any:
    example = examples()[0]
    names: dict[str, Any] = {}
    exec(compile(example, str(PAGE), "exec"), names)  # noqa: S102 - our own example
    body = [line for line in example.partition("class")[2].splitlines() if line.strip()]
    assert len(body) <= 13
    return names["Enthusiasm"]()


def test_it_learns_its_sign_and_reads_what_it_can(attacker: Any) -> None:
    seen = Seen()
    raw = [seen.view(part, "no") for part in (seen.training, seen.tried)]
    attacker.fit(raw[:1], codes(seen.training), seed=0)
    reading = auc(attacker.score(raw[1]), codes(seen.tried))
    attacker.fit(raw[:1], 1 - codes(seen.training), seed=0)
    assert auc(attacker.score(raw[1]), 1 - codes(seen.tried)) == pytest.approx(reading)
    assert reading > 0.6
    protected = [seen.view(part, "dmpss") for part in (seen.training, seen.tried)]
    attacker.fit(protected[:1], codes(seen.training), seed=0)
    assert abs(auc(attacker.score(protected[1]), codes(seen.tried)) - 0.5) < reading - 0.5


def test_it_keeps_the_contract(attacker: Any) -> None:
    check_attacker(type(attacker))
