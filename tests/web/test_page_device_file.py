"""One encrypted file between browsers and the terminal; two devices never decide apart."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from midpoint.user.agent.home import Home
from midpoint.user.agent.transfer import import_home
from tests.support.page.person import Person
from tests.web.conftest import Visit

pytestmark = pytest.mark.slow
PHRASE = "correct horse battery"


def _answer(she: Person) -> None:
    she.open()
    she.choose("Female")
    she.rate_first((5, 4, 2))
    she.send()
    she.wait_for_recommendations()


def _make(she: Person, which: str, path: Path) -> bytes:
    she.go("Ledger")
    she.page.get_by_role("button", name="Another device, or a backup").click()
    she.page.get_by_label("Passphrase").fill(PHRASE)
    with she.page.expect_download() as taken:
        she.page.get_by_role("button", name=which).click()
    taken.value.save_as(path)
    return path.read_bytes()


def _import(she: Person, path: Path, phrase: str = PHRASE) -> None:
    she.page.get_by_label("Passphrase").fill(phrase)
    she.page.get_by_label("File from another device").set_input_files(path)
    she.page.get_by_role("button", name="Import", exact=True).click()


def _tokens(she: Person) -> set[str]:
    own = [asked.all_headers().get("authorization") for asked in she.requests]
    return {token for token in own if token}


def test_she_moves_to_another_browser_and_the_first_one_stops(visit: Visit, tmp_path: Path) -> None:
    she, path = visit(), tmp_path / "her-device.midpoint"
    _answer(she)
    raw = _make(she, "Move to another device", path)
    assert raw.startswith(b"midpoint device v1\n")
    expect(she.page.get_by_text("You moved to another device")).to_be_visible()
    calls = len(she.calls)
    she.page.reload()
    expect(she.page.get_by_text("You moved to another device")).to_be_visible()
    assert len(she.calls) == calls  # it asks nobody anything

    there = visit()
    there.open()
    there.page.get_by_role("button", name="Another device, or a backup").click()
    _import(there, path, "wrong horse battery")
    expect(there.page.get_by_text("the passphrase is wrong")).to_be_visible()
    before = len(there.calls)
    _import(there, path)
    there.go("Ledger")  # her category is in the file as well
    expect(there.page.get_by_text("Answer 1")).to_be_visible()
    assert [call for call in there.calls[before:] if "pseudonym" in call] == ["GET /v1/pseudonym"]
    assert _tokens(she) <= _tokens(there)


def test_the_terminal_reads_what_the_page_wrote(visit: Visit, tmp_path: Path) -> None:
    she = visit()
    _answer(she)
    raw = _make(she, "Back up", tmp_path / "backup.midpoint")
    directory = import_home(raw, PHRASE, tmp_path / "terminal")
    home = Home.inside(directory.parent, directory.name)
    try:
        assert len(home.ledger.rounds) == 1
        assert _tokens(she) == {f"Bearer {home.token}"}
        assert home.is_restored  # it asks the service first
    finally:
        home.close()
    she.page.reload()  # a backup leaves the browser in use
    she.go("Ledger")
    expect(she.page.get_by_text("Answer 1")).to_be_visible()
