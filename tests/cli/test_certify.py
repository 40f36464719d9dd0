import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.verdict import judge
from midpoint.cli.app import app
from midpoint.errors import MidpointError
from midpoint.wire import Certificate, Disclosure, Signed
from tests.support.models.small_model import run

pytestmark = pytest.mark.slow  # a whole audit


@pytest.fixture(scope="module")
def disclosure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("disclosed")
    words = ("--feature", "gender", "--counterparts", "sets", "--out", directory / "model")
    run("train", "simulated-tiny", *words)
    run("disclose", directory / "model", "--out", directory / "disclosure.json")
    return directory / "disclosure.json"


def test_certify_signs_what_was_measured(
    audited: tuple[Path, str], disclosure: Path, tmp_path: Path
) -> None:
    out, key = tmp_path / "certificate.json", tmp_path / "key.pem"
    words = ("--disclosure", disclosure, "--key", key, "--out", out, "--auditor", "A. U.")
    shown = run("certify", audited[0], "simulated-tiny", *words)
    assert "A. U. certifies" in shown
    verdict = judge(AuditResults.load(audited[0]), "cmpss")
    assert verdict is not None
    assert f": {verdict.grade}" in shown
    signed = Signed.parse(out.read_bytes())
    made = signed.open(Certificate)
    assert made.disclosure == Disclosure.parse(disclosure.read_bytes()).digest
    assert signed.is_signed_by(made.key, Certificate)
    assert not signed.is_signed_by("0" * 64, Certificate)
    strongest = verdict.strongest
    assert (made.adversary, made.folds) == ("panel", AuditResults.load(audited[0]).folds)
    assert (made.attack, made.auc) == (strongest.attack, round(strongest.value * 1e6))
    run("certify", audited[0], "simulated-tiny", *words)  # by the same key again
    assert Signed.parse(out.read_bytes()).open(Certificate).key == made.key


def other_scheme(content: dict[str, Any]) -> None:
    content["scheme"] = "dmp"
    for name in ("rate", "selection", "base", "taste", "prior"):
        del content[name]


def other_numbers(content: dict[str, Any]) -> None:
    content["rate"][0] = content["rate"][0][::-1]


def other_prior(content: dict[str, Any]) -> None:
    content["prior"]["mean"][0][1][0] += 1


@pytest.mark.parametrize(
    ("tamper", "source", "words"),
    [
        (other_scheme, "simulated-tiny", "did not try 'dmp'"),
        (other_numbers, "simulated-tiny", "is not what simulated-tiny gives (rate of"),
        (other_prior, "simulated-tiny", "gives (another prior of positions"),
        (lambda _: None, "simulated-ptv", "name the audited data"),
    ],
)
def test_certify_refuses_what_was_not_measured(
    audited: tuple[Path, str],
    disclosure: Path,
    tmp_path: Path,
    tamper: Any,
    source: str,
    words: str,
) -> None:
    other, key, out = (tmp_path / name for name in ("other.json", "key.pem", "out.json"))
    content = json.loads(disclosure.read_bytes())
    tamper(content)
    other.write_text(json.dumps(content))
    given = ["certify", audited[0], source, "--disclosure", other, "--key", key]
    given += ["--out", out, "--auditor", "me"]
    result = CliRunner().invoke(app, [str(word) for word in given])
    assert isinstance(result.exception, MidpointError)
    assert words in str(result.exception)
    assert not out.exists()
    assert not key.exists()
