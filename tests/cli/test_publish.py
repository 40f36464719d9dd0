from pathlib import Path

import pytest

from midpoint.analyst.disclose.site import Site
from midpoint.errors import MidpointError
from midpoint.files import replace_file
from midpoint.user import check_disclosure
from midpoint.user.agent import Home, Terms
from midpoint.user.agent.standing import accept
from midpoint.wire import Chain, Published, Signed, SigningKey
from tests.support.models.small_model import run, trained
from tests.support.people.made_up import AUDITOR, certificate

pytestmark = pytest.mark.slow


def certified(path: Path, digest: str, key: SigningKey = AUDITOR) -> Path:
    replace_file(path, Signed.seal(certificate(digest), key).raw)
    return path


def test_a_model_is_published_once_and_devices_accept_it(tmp_path: Path) -> None:
    model, site = trained(), tmp_path / "site"
    facts = run("publish", model.directory, site, "--json")
    assert (facts["sequence"], facts["fresh"]) == (0, True)
    chain = Chain.parse((site / "list.json").read_bytes())
    raw = (site / "disclosures" / f"{facts['disclosure']}.json").read_bytes()
    accepted = check_disclosure(raw, list(chain.entries), None)
    assert accepted.entry.key == facts["key"]
    assert accepted.disclosure == model.disclosure
    assert (site / "key.pem").stat().st_mode & 0o077 == 0
    again = run("publish", model.directory, site, "--json")
    assert (again["sequence"], again["fresh"]) == (0, False)
    other = run("publish", model.directory, site, "--scheme", "mpssr", "--json")
    assert (other["sequence"], other["key"]) == (1, facts["key"])
    assert "was current already" in run("publish", model.directory, site, "--scheme", "mpssr")


def test_a_key_is_renewed_and_the_next_publication_is_signed_by_it(tmp_path: Path) -> None:
    model, site = trained(), tmp_path / "site"
    first = run("publish", model.directory, site, "--json")
    renewed = run("renew-key", site, "--json")
    assert (renewed["former"], renewed["sequence"]) == (first["key"], 1)
    other = run("publish", model.directory, site, "--scheme", "mpssr", "--json")
    assert (other["sequence"], other["key"]) == (2, renewed["key"])
    assert "names the new key" in run("renew-key", site)


def test_a_site_keeps_the_settings_of_its_scheme(tmp_path: Path) -> None:
    model, site = trained(), tmp_path / "site"
    run("publish", model.directory, site, "--scheme", "dmp:levels=3", "--json")
    again = run("publish", model.directory, site, "--json")
    assert (again["sequence"], again["fresh"]) == (0, False)
    current = Site(site).current()
    assert current is not None
    assert len(current.scale.reported or ()) == 3


def test_all_that_is_published_fits_one_file(tmp_path: Path) -> None:
    model, site, out = trained(), tmp_path / "site", tmp_path / "published.json"
    signed = certified(tmp_path / "certificate.json", model.disclosure.digest)
    shown = run("publish", model.directory, site, "--certificate", signed, "--out", out)
    assert str(out) in shown
    published = Published.parse(out.read_bytes())
    assert published == Site(site).published()
    assert len(published.certificates.certificates) == 1
    standing = accept(published, Home.in_memory(), Terms(auditors=(AUDITOR.public,)))
    assert standing.accepted.disclosure == model.disclosure
    assert standing.certificate is not None
    run("publish", model.directory, site, "--scheme", "mpssr", "--out", out)
    newer = Published.parse(out.read_bytes())
    assert newer.chain.entries[0] == published.chain.entries[0]
    assert newer.disclosure != published.disclosure


def test_an_empty_site_shows_nothing(tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match="shows nothing yet"):
        Site(tmp_path).published()


def test_a_site_stays_with_its_scheme_unless_one_is_named(tmp_path: Path) -> None:
    model, site = trained(), tmp_path / "site"
    run("publish", model.directory, site, "--scheme", "mpssr")
    assert "mpssr" in run("publish", model.directory, site)
    changed = run("publish", model.directory, site, "--scheme", "dmpss")
    assert "refuse dmpss after mpssr until their owners accept" in " ".join(changed.split())
    current = Site(site).current()
    assert current is not None
    assert current.scheme == "dmpss"


def test_a_certificate_is_added_if_it_is_good_and_of_this_site(tmp_path: Path) -> None:
    model, site = trained(), tmp_path / "site"
    good = certified(tmp_path / "good.json", model.disclosure.digest)
    shown = run("publish", model.directory, site, "--certificate", good)
    assert "certified by A made-up auditor" in shown
    kept = Site(site).certificates(model.disclosure.digest)
    assert [one.raw for one in kept.certificates] == [good.read_bytes()]
    stranger = SigningKey(bytes(range(1, 33)))
    forged = certified(tmp_path / "forged.json", model.disclosure.digest, stranger)
    with pytest.raises(MidpointError, match="signature"):
        run("publish", model.directory, site, "--certificate", forged)
    foreign = certified(tmp_path / "foreign.json", "0" * 64)
    with pytest.raises(MidpointError, match="not published here"):
        run("publish", model.directory, site, "--certificate", foreign)
    assert len(Site(site).certificates(model.disclosure.digest).certificates) == 1


def test_a_damaged_site_is_named(tmp_path: Path) -> None:
    model, site = trained(), tmp_path / "site"
    run("publish", model.directory, site)
    (site / "list.json").write_text("{")
    with pytest.raises(MidpointError, match=r"list\.json cannot be read"):
        run("publish", model.directory, site)
