import copy
import pickle
from itertools import product
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from midpoint.errors import MidpointError
from midpoint.wire import Entry, Report, Signed, SigningKey, verify

KEY = SigningKey(bytes(range(32)))
ENTRY = Entry(sequence=0, disclosure="0" * 64, time=12, key=KEY.public)


@given(st.integers(0, 511), st.integers(0, 10**6))
def test_a_changed_bit_of_signature_or_text_is_seen(bit: int, index: int) -> None:
    signature = KEY.sign("entry", ENTRY.raw)
    assert verify(KEY.public, "entry", ENTRY.raw, signature)
    flipped = f"{int(signature, 16) ^ 1 << bit:0128x}"
    assert not verify(KEY.public, "entry", ENTRY.raw, flipped)
    changed = bytearray(ENTRY.raw)
    changed[index % len(changed)] ^= 1
    assert not verify(KEY.public, "entry", bytes(changed), signature)


def test_a_signature_is_good_for_one_kind_and_one_key() -> None:
    signed = Signed.seal(ENTRY, KEY)
    assert signed.is_signed_by(KEY.public, Entry)
    assert not signed.is_signed_by(KEY.public, Report)
    assert not signed.is_signed_by(SigningKey.generate().public, Entry)
    assert signed.open(Entry) == ENTRY
    assert not verify("zz", "entry", ENTRY.raw, signed.signature)


# Points whose order divides 8, as RFC 8032 writes them: both signs of two, and three that have one.
NOBODYS = [
    "01" + "00" * 31,
    "ec" + "ff" * 30 + "7f",
    "00" * 32,
    "00" * 31 + "80",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]


def forgery(public: str) -> tuple[Entry, str]:
    """Sign an entry for a key of small order, without a secret; the library by itself takes it."""
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
    for time, first in product(range(1000), NOBODYS):
        entry = Entry(sequence=0, disclosure="0" * 64, time=time, key=public)
        try:
            key.verify(bytes.fromhex(first + "00" * 32), b"midpoint/v1/entry\n" + entry.raw)
        except InvalidSignature:
            continue
        return entry, first + "00" * 32
    raise AssertionError


@pytest.mark.parametrize("public", NOBODYS)
def test_a_key_that_anybody_can_sign_for_signs_nothing(public: str) -> None:
    """Else a service could show two lists, and say that somebody else signed one of them."""
    entry, signature = forgery(public)
    assert not verify(public, "entry", entry.raw, signature)
    assert not Signed(body=entry.raw.decode(), signature=signature).is_signed_by(public, Entry)


def test_what_a_check_with_the_cofactor_takes_is_refused_as_on_the_page() -> None:
    """The first half of this signature has a part of order 8; `signing.test.ts` has it as well."""
    key = SigningKey(bytes([7] * 32)).public
    entry = Entry(sequence=0, disclosure="0" * 64, time=1, key=key)
    signature = (
        "b15bf26424d1b69dd33b7a9e57db5de4a2aadea4a2a051efd9bfd6af74165d2b"
        "90b909c517918624ee540f2ed4a18d6cf130714dd252c151b17341bb379a8101"
    )
    assert not verify(key, "entry", entry.raw, signature)


def test_the_exact_text_is_signed() -> None:
    spaced = Entry.parse(ENTRY.raw.replace(b",", b" , "))
    signed = Signed.parse(Signed.seal(spaced, KEY).raw)
    assert signed.open(Entry).raw == spaced.raw
    assert signed.is_signed_by(KEY.public, Entry)
    assert Signed.seal(ENTRY, KEY).signature != signed.signature


def test_a_key_survives_on_disk_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "analyst.pem"
    KEY.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert SigningKey.load(path).public == KEY.public
    with pytest.raises(MidpointError, match="exists"):
        SigningKey.generate().save(path)
    path.chmod(0o644)
    with pytest.raises(MidpointError, match="chmod 600"):
        SigningKey.load(path)


def test_what_is_not_a_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with pytest.raises(MidpointError, match="not a readable"):
        SigningKey.load(path)
    path.touch(mode=0o600)
    with pytest.raises(MidpointError, match="not a readable"):
        SigningKey.load(path)
    other = X25519PrivateKey.generate()
    path.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(MidpointError, match="another kind"):
        SigningKey.load(path)


def test_a_signing_key_shows_its_public_half_only() -> None:
    assert repr(KEY) == f"SigningKey(public={KEY.public})"
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            leave(KEY)
