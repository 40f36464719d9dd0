"""A site: the directory that a service shows; its list is the one switch between models.

list.json                      the signed list of disclosures; its last entry is current
disclosures/DIGEST.json        every disclosure ever published, the exact bytes
catalogues/DIGEST.json         the titles shown with it, which the list names as well
models/DIGEST/                 the item profiles behind it
certificates/DIGEST/*.json     what auditors signed about it
key.pem                        the analyst's key, for its owner's eyes only
key-PUBLIC.pem                 keys that it succeeded
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from midpoint.analyst.disclose.catalogue import catalogue_of, details_of
from midpoint.analyst.disclose.chain import require_publishable, sign_entry, sign_succession
from midpoint.analyst.disclose.disclosure import disclose
from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.analyst.fit.profile_files import MANIFEST
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.data.tables.items import ItemDetail
from midpoint.errors import MidpointError
from midpoint.files import replace_file
from midpoint.wire import (
    Catalogue,
    Certificate,
    Certificates,
    Chain,
    Disclosure,
    Entry,
    Message,
    Published,
    RefusedError,
    Signed,
    SigningKey,
    Wording,
    digest,
)

if sys.platform != "win32":
    import fcntl

LIST, KEY, NEXT, LOCK = "list.json", "key.pem", "key-next.pem", "lock"
M = TypeVar("M", bound=Message)


@dataclass(frozen=True)
class Publication:
    """What became of a publication."""

    entry: Entry
    """The newest entry of the list."""
    fresh: bool
    """Whether it was added now; it was not if the same model is current already."""


@dataclass(frozen=True)
class Site:
    """The directory, and what may be done with it."""

    root: Path
    """Where it is."""

    @property
    def list(self) -> Path:
        """The file that is replaced when another model becomes current."""
        return self.root / LIST

    def chain(self) -> Chain | None:
        """Read the list; None if nothing was published."""
        try:
            return Chain.parse(self.list.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, RefusedError) as error:
            raise MidpointError(
                f"{self.list} cannot be read ({error}); restore it from a copy, devices hold the"
                " service to it"
            ) from error

    def current(self) -> Disclosure | None:
        """Read the current disclosure; None if nothing was published."""
        chain = self.chain()
        return None if chain is None else self.disclosure(chain.entries[-1].open(Entry).disclosure)

    def disclosure(self, digest: str) -> Disclosure:
        """Read a disclosure, refusing one that is not what its name says."""
        return _read(self.root / "disclosures" / f"{digest}.json", Disclosure, digest)

    def document(self, kind: str, digest: str) -> bytes:
        """Read the bytes of one of the `disclosures` or `catalogues`, without looking inside."""
        return _bytes(self.root / kind / f"{digest}.json", digest)

    def disclosures(self) -> tuple[Disclosure, ...]:
        """Read all disclosures on the list, each once, the first one first."""
        chain = self.chain()
        if chain is None:
            raise MidpointError(f"{self.root} shows nothing yet; publish a model there")
        digests = dict.fromkeys(entry.open(Entry).disclosure for entry in chain.entries)
        return tuple(self.disclosure(digest) for digest in digests)

    def catalogue(self, digest: str) -> Catalogue:
        """Read the titles that an entry of the list names."""
        return _read(self.root / "catalogues" / f"{digest}.json", Catalogue, digest)

    def profiles(self, digest: str) -> ItemProfiles:
        """Read the item profiles behind a disclosure."""
        return ItemProfiles.load(self._model(digest))

    def certificates(self, digest: str) -> Certificates:
        """Read what auditors signed about a disclosure."""
        files = sorted((self.root / "certificates" / digest).glob("*.json"))
        return Certificates(certificates=tuple(_read(file, Signed, file.stem) for file in files))

    def published(self) -> Published:
        """Read all that everyone is shown now."""
        chain = self.chain()
        newest = None if chain is None else chain.entries[-1].open(Entry)
        if chain is None or newest is None:
            raise MidpointError(f"{self.root} shows nothing yet; publish a model there")
        titles = b"" if newest.catalogue is None else self.catalogue(newest.catalogue).raw
        disclosure = self.disclosure(newest.disclosure).raw
        return Published(chain, disclosure, titles, self.certificates(newest.disclosure))

    def disclose(
        self, profiles: ItemProfiles, scheme: str | None = None, bits: int | None = None
    ) -> Disclosure:
        """Disclose a model as this site does: by its current scheme and bits, unless named.

        Devices hold a site to its scheme, even if a new model would allow a better one.
        """
        before = self.current()
        if before is not None:
            scheme, bits = scheme or str(SchemeSpec.of(before)), bits or before.bits
        return disclose(profiles, scheme, bits=bits)

    def publish(
        self,
        profiles: ItemProfiles,
        disclosure: Disclosure,
        *,
        time: int,
        change_scheme: bool = False,
        wording: Wording | None = None,
        details: Mapping[str, ItemDetail] | None = None,
    ) -> Publication:
        """Make a model current: all files first, then the list, in one step.

        Nothing is added if this very model is current. What devices would refuse is refused here
        (`require_publishable`); another scheme than the current one needs `change_scheme`. What
        items are called stays as it is unless `wording` says otherwise, and so do their genres and
        links unless `details` does.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        with self._locked():
            require_publishable(disclosure, self.current(), change_scheme=change_scheme)
            key, chain = self._key(), self.chain()
            newest = None if chain is None else chain.entries[-1].open(Entry)
            if newest is not None and newest.catalogue is not None:
                before = self.catalogue(newest.catalogue)
                wording = before.wording if wording is None else wording
                details = details_of(before) if details is None else details
            titles = catalogue_of(profiles, disclosure, wording, details)
            following = sign_entry(disclosure, key, newest, time=time, catalogue=titles)
            same = self._save(profiles, disclosure.digest)
            shown = newest and (newest.disclosure, newest.catalogue)
            if newest is not None and same and shown == (disclosure.digest, titles.digest):
                return Publication(newest, fresh=False)
            for directory, message in (("disclosures", disclosure), ("catalogues", titles)):
                replace_file(self.root / directory / f"{message.digest}.json", message.raw)
            earlier = () if chain is None else chain.entries
            replace_file(self.list, Chain(entries=(*earlier, following)).raw)
        return Publication(following.open(Entry), fresh=True)

    def succeed(self, *, time: int) -> Publication:
        """Let the key vouch for a new one, in the list; from then on the new one signs.

        The new key is on disk before the list names it. The former one is kept beside it.
        """
        if self.chain() is None:
            raise MidpointError(f"{self.root} shows nothing yet, so no device knows its key")
        with self._locked():
            key, earlier = self._key(), self.published().chain.entries
            fresh, path = SigningKey.generate(), self.root / NEXT
            path.unlink(missing_ok=True)
            fresh.save(path)
            signed = sign_succession(earlier[-1].open(Entry), key, fresh.public, time=time)
            replace_file(self.list, Chain(entries=(*earlier, signed)).raw)
            self._key()
        return Publication(signed.open(Entry), fresh=True)

    def certify(self, signed: Signed) -> Certificate:
        """Add an auditor's certificate of a disclosure on the list, if its signature holds."""
        certificate = signed.open(Certificate)
        chain = self.chain()
        listed = () if chain is None else chain.entries
        if not signed.is_signed_by(certificate.key, Certificate):
            raise MidpointError("the certificate's signature is not that of the key it names")
        if certificate.disclosure not in {e.open(Entry).disclosure for e in listed}:
            raise MidpointError(
                f"the certificate is of disclosure {certificate.disclosure[:12]}, which was not"
                " published here"
            )
        directory = self.root / "certificates" / certificate.disclosure
        replace_file(directory / f"{signed.digest}.json", signed.raw)
        return certificate

    def _model(self, digest: str) -> Path:
        return self.root / "models" / digest

    def _save(self, profiles: ItemProfiles, digest: str) -> bool:
        """Write the item profiles behind a disclosure; return whether they were there already."""
        manifest = self._model(digest) / MANIFEST
        before = manifest.read_bytes() if manifest.exists() else None
        profiles.save(self._model(digest))
        return before == manifest.read_bytes()

    def _key(self) -> SigningKey:
        """Read the signing key, or make one on first use, before anything was signed.

        If the list names the successor that waits, that is used instead.
        """
        path = self.root / KEY
        self._promote()
        if not path.exists():
            if self.list.exists():
                raise MidpointError(f"{path} is missing; restore the key that the list began with")
            SigningKey.generate().save(path)
        return SigningKey.load(path)

    def _promote(self) -> None:
        """Put the successor where the key is, once the list names it."""
        path, chain = self.root / NEXT, self.chain()
        if chain is None or not path.exists():
            return
        newest = chain.entries[-1].open(Entry)
        if SigningKey.load(path).public == newest.successor:
            former = self.root / KEY
            if former.exists() and SigningKey.load(former).public == newest.key:
                former.rename(self.root / f"key-{newest.key[:16]}.pem")
            path.rename(former)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep two publications from happening at once; the second one fails."""
        with (self.root / LOCK).open("ab") as stream:
            try:
                if sys.platform != "win32":
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise MidpointError(f"{self.root} is being published to; try again") from error
            yield


def _read(path: Path, kind: type[M], digest: str) -> M:
    """Read a file that is named by the digest of what is in it."""
    try:
        return kind.parse(_bytes(path, digest))
    except RefusedError as error:
        raise MidpointError(f"{path} cannot be read ({error}); restore it") from error


def _bytes(path: Path, named: str) -> bytes:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise MidpointError(f"{path} cannot be read ({error}); restore it") from error
    if digest(raw) != named:
        raise MidpointError(f"{path} was changed; restore it from a copy")
    return raw
