import sys
from pathlib import Path

import pytest

from midpoint.analyst import Factorizer, disclose
from midpoint.analyst.disclose.positions import prepare
from midpoint.cli import main
from midpoint.errors import MidpointError
from midpoint.protocol import PROTOCOLS, LearningProtocol, bits_per_item
from midpoint.wire import SCHEMES, Disclosure
from tests.support.models.small_model import run, trained


def test_it_writes_the_exact_disclosure_and_says_what_it_is(tmp_path: Path) -> None:
    model = trained()
    out = tmp_path / "disclosure.json"
    facts = run("disclose", model.directory, "--out", out, "--json")
    assert out.read_bytes() == model.disclosure.raw
    assert facts["digest"] == model.disclosure.digest
    assert facts["scheme"] == "dmpss"
    assert facts["bits_per_item"] == round(bits_per_item(model.disclosure), 1)
    assert facts["safe"] is True
    assert facts["reach"] == "item by item"
    shown = run("disclose", model.directory, "--out", out)
    assert model.disclosure.digest in shown
    assert "item by item" in shown


def test_scheme_estimation_and_bits_are_obeyed(tmp_path: Path) -> None:
    model = trained()
    out = tmp_path / "disclosure.json"
    options = ("--scheme", "mpss", "--plain", "--bits", "6", "--out", out)
    facts = run("disclose", model.directory, *options, "--json")
    wanted = LearningProtocol("mpss", estimation="plain", bits=6).disclose(model.profiles)
    assert Disclosure.parse(out.read_bytes()) == wanted
    assert facts["safe"] is False
    assert facts["reach"] == "nothing"
    shown = run("disclose", model.directory, *options)
    assert "Devices refuse" in shown
    assert "Guarantees: None. On a discrete scale" in shown


def test_settings_follow_the_name_of_a_scheme(tmp_path: Path) -> None:
    model, out = trained(), tmp_path / "disclosure.json"
    facts = run("disclose", model.directory, "--scheme", "dmp:levels=3", "--out", out, "--json")
    shown = Disclosure.parse(out.read_bytes())
    assert shown == LearningProtocol("dmp", levels=3).disclose(model.profiles)
    assert facts["scheme"] == "dmp:levels=3"
    assert len(shown.scale.reported or ()) == 3


def test_the_list_states_every_protocol() -> None:
    rows = {row["name"]: row for row in run("disclose", "--list", "--json")}
    assert list(rows) == list(PROTOCOLS)
    assert rows["no"]["bits_per_item"] == 0
    assert rows["mp"]["bits_per_item"] < rows["mpss"]["bits_per_item"]
    assert rows["mp"]["guarantees"] == PROTOCOLS["mp"].statement.guarantees
    shown = run("disclose", "--list")
    assert all(name in shown for name in PROTOCOLS)


@pytest.mark.slow  # it trains a model of the usual size
@pytest.mark.parametrize("scheme", ["mp", "dmpss", "cmp", "cmpss"])
def test_the_list_counts_the_bits_of_a_real_disclosure(scheme: str) -> None:
    (row,) = (row for row in run("disclose", "--list", "--json") if row["name"] == scheme)
    ratings = trained().ratings
    profiles = prepare(Factorizer().fit(ratings, "gender"), ratings, SCHEMES[scheme])
    disclosure = disclose(profiles, scheme)
    assert row["bits_per_item"] == round(bits_per_item(disclosure), 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("disclose",), "--out FILE"),
        (("disclose", "nowhere", "--out", "x.json"), "midpoint train"),
        (("disclose", "{model}", "--out", "x.json", "--scheme", "nope"), "no scheme 'nope'"),
    ],
)
def test_errors_are_one_line_and_leave_no_file(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = trained()
    monkeypatch.chdir(tmp_path)
    arguments = [word.format(model=model.directory) for word in words]
    monkeypatch.setattr(sys, "argv", ["midpoint", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    shown = capsys.readouterr().err.strip().splitlines()
    assert end.value.code == 1
    assert shown[-1].startswith("error:")
    assert said in shown[-1]
    assert not Path("x.json").exists()


def test_a_model_without_a_feature_cannot_be_disclosed(tmp_path: Path) -> None:
    model = trained()
    bare = Factorizer(dimension=2, iterations=1, validation=0.0).fit(model.ratings)
    bare.save(tmp_path / "bare")
    with pytest.raises(MidpointError, match="private feature"):
        run("disclose", tmp_path / "bare", "--scheme", "mp", "--out", tmp_path / "x.json")


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_whatever_is_listed_can_be_disclosed(name: str, tmp_path: Path) -> None:
    if PROTOCOLS[name].scheme.counterparts:
        return  # these need a model with positions; see test_counterparts
    model, out = trained(), tmp_path / "disclosure.json"
    facts = run("disclose", model.directory, "--scheme", name, "--out", out, "--json")
    assert facts["scheme"] == name
    assert out.read_bytes() == LearningProtocol(name).disclose(model.profiles).raw
    assert facts["safe"] is (name in {"mpr", "mpssr", "ia", "fa", "ssia", "ssfa", "dmp", "dmpss"})


def test_full_disclosure_says_that_no_device_takes_it(tmp_path: Path) -> None:
    model, out = trained(), tmp_path / "full.json"
    shown = run("disclose", model.directory, "--scheme", "full", "--out", out)
    assert "non-solutions" in shown
    assert b'"vectors"' in out.read_bytes()
