"""The vectors of device files: what one device exports, every other one reads."""

from collections.abc import Iterator

from midpoint.user import DeviceSecret, Ledger, PrivateCategory, decide
from midpoint.user.agent.address import directory_name
from midpoint.user.agent.demands import Demands
from midpoint.user.agent.home import DEMANDS, NOTES, PIN, PROOF, Notes
from midpoint.user.agent.transfer import FIRST_LINE, NONCE, SALT, Transfer, _checked, _cipher
from midpoint.user.checks.proof import Proof
from midpoint.user.core.ledger import LEDGER, SECRET, TAG
from midpoint.user.core.private import framed
from midpoint.wire import ONE
from tests.support.people.made_up import accepted, disclosure, sealed, solicitation
from tests.support.vectors.parts import Case, own_category


def device_files() -> Iterator[Case]:
    """A moved device and a backup; a passphrase in another spelling of the same letters."""
    for number, (address, phrase, backup) in enumerate(
        (
            ("https://recommend.example.org", "correct horse battery", False),
            ("http://127.0.0.1:8000/films", "cafe\u0301 au lait bitte", True),
        )
    ):
        files = _files(number)
        transfer = Transfer(name=directory_name(address), files=tuple(files.items()), backup=backup)
        salt, nonce = bytes([number + 1]) * SALT, bytes([number + 7]) * NONCE
        cipher = _cipher(_checked(phrase), salt)
        raw = FIRST_LINE + salt + nonce + cipher.encrypt(nonce, transfer.raw, FIRST_LINE)
        yield {
            "name": "a backup" if backup else "a device that moves",
            "address": address,
            "passphrase": phrase,
            "salt": salt.hex(),
            "nonce": nonce.hex(),
            "backup": backup,
            "files": files,
            "file": raw.hex(),
        }


def _files(number: int) -> dict[str, str]:
    """Return the files of somebody who answered a round."""
    shown, secret = disclosure(n_items=6), DeviceSecret(bytes([number + 3]) * 32)
    ledger, ratings = Ledger(secret), dict.fromkeys(shown.items, 3 * ONE)
    category = PrivateCategory(own_category(shown, number))
    state = accepted(shown)
    decide(ratings, solicitation(shown), state, category, ledger)
    body = b"".join(answered.raw + b"\n" for answered in ledger.rounds)
    seal = secret.prf(framed(TAG, body)).hex()
    notes = Notes(ratings=tuple(ratings.items()), settled=(1,))
    return {
        SECRET: bytes([number + 3]).hex() * 32 + "\n",
        LEDGER: f"{seal}\n{body.decode()}",
        PIN: state.pin.raw.decode(),
        NOTES: notes.raw.decode(),
        PROOF: Proof(shown=tuple(sealed([state.entry]))).raw.decode(),
        **({DEMANDS: _demands().raw.decode()} if number else {}),
    }


def _demands() -> Demands:
    """Return all that can be demanded."""
    return Demands(
        auditors=("1" * 64, "2" * 64),
        require_certificate=True,
        most_auc=550_000,
        most_leak=600_000,
        witness="https://witness.example.org",
        witness_key="3" * 64,
        shown_for=7200,
    )
