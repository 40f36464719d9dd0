"""What a witness keeps of an analyst's list: every signed entry, and when each was first seen.

list.json                the signed entries, in order
statement.json           what the witness signed when it last saw the list
disclosures/DIGEST.json  the disclosures that entries name, the exact bytes
catalogues/DIGEST.json   the titles that they name
forks/DIGEST.json        a list that contradicts what was seen: proof, since one key signed both
key.pem                  the witness's own key, for its owner's eyes only
"""

from dataclasses import dataclass
from math import inf
from pathlib import Path
from threading import Lock
from typing import TypeVar

from midpoint.analyst.disclose.chain import verified_entries
from midpoint.errors import MidpointError
from midpoint.files import replace_file
from midpoint.wire import (
    Chain,
    Entry,
    Message,
    RefusedError,
    Signed,
    SigningKey,
    WitnessStatement,
    digest,
)

_SEEING = Lock()
M = TypeVar("M", bound=Message)
KEY, LIST, STATEMENT, FORKS = "key.pem", "list.json", "statement.json", "forks"
DISCLOSURES, CATALOGUES = "disclosures", "catalogues"
SPACE = 4 * 2**30
"""Bytes of disclosures and titles that are kept, at most, unless its owner says otherwise."""
MOST_MISSED = 3
"""Intervals without a good look after which the newest entry counts as seen later."""


@dataclass(frozen=True)
class WitnessFiles:
    """The directory of a witness, and what may be done with it."""

    root: Path
    """Where it is."""
    space: int = SPACE
    """Bytes of disclosures and titles that are kept, at most."""

    @property
    def key(self) -> SigningKey:
        """The witness's key; one is made on first use."""
        path = self.root / KEY
        if not path.exists():
            if (self.root / STATEMENT).exists():
                raise MidpointError(f"{path} is missing; restore it, devices hold on to this key")
            SigningKey.generate().save(path)
        return SigningKey.load(path)

    @property
    def statement(self) -> Signed | None:
        """What was signed last; None before the list was seen."""
        return _read(self.root / STATEMENT, Signed)

    @property
    def chain(self) -> Chain | None:
        """The entries that were seen; None if none were."""
        return _read(self.root / LIST, Chain)

    @property
    def forks(self) -> tuple[Signed, ...]:
        """Entries that contradict those seen before."""
        files = sorted((self.root / FORKS).glob("*.json"))
        lists = (_read(file, Chain) for file in files)
        return tuple(entry for chain in lists if chain for entry in chain.entries)

    def wanted(self, chain: Chain) -> list[tuple[str, str]]:
        """Return directory and digest of what new entries name and is not kept, newest first.

        A list that is not the known one with something added is refused, and a fork is kept.
        """
        with _SEEING:
            entries = self._examined(chain)
        before = self.statement
        known = 0 if before is None else len(before.open(WitnessStatement).entries)
        fresh = entries[min(known, len(entries) - 1) :]
        named = [document for entry in reversed(fresh) for document in _named(entry)]
        return [(kind, name) for kind, name in named if not self.document(kind, name).exists()]

    def document(self, kind: str, name: str) -> Path:
        """Return where a disclosure or titles of this digest are kept, if they are."""
        return self.root / kind / f"{name}.json"

    def keep(self, kind: str, name: str, raw: bytes) -> None:
        """Keep what an entry names, if it is that, and there is space for it."""
        if digest(raw) != name:
            raise MidpointError(f"what the service shows as {kind}/{name[:12]} is something else")
        kept = [path for k in (DISCLOSURES, CATALOGUES) for path in (self.root / k).glob("*.json")]
        if sum(path.stat().st_size for path in kept) + len(raw) > self.space:
            raise MidpointError(
                f"{self.root} holds disclosures of {self.space} bytes, and keeps no more; give it"
                " more space (--space), or move the oldest away"
            )
        replace_file(self.document(kind, name), raw)

    def see(self, chain: Chain, now: int, every: float = inf) -> WitnessStatement:
        """Keep what a list adds, and sign what was seen; or keep the proof of a fork and refuse.

        What the newest entry names has to be kept (`keep`): an entry is shown to everyone only if
        its disclosure is, too.

        Args:
            chain: The list as the service shows it now.
            now: The time by this witness's clock, in whole seconds since 1970.
            every: Seconds between two looks. After a gap of more than three times that, the newest
                entry counts as seen so much later: time in which nobody could look shows nothing.
        """
        with _SEEING:  # one look after the other
            return self._see(chain, now, every)

    def _see(self, chain: Chain, now: int, every: float) -> WitnessStatement:
        entries = self._examined(chain)
        missing = [
            kind for kind, name in _named(entries[-1]) if not self.document(kind, name).exists()
        ]
        if missing:
            raise MidpointError(
                f"the {missing[0]} of entry {len(entries) - 1} were not shown to all"
            )
        before, signed = self.statement, self.key
        known = None if before is None else before.open(WitnessStatement)
        if known is not None:
            now = max(now, known.time)  # a clock that was set back makes nothing older
        seen = () if known is None else known.seen
        if known is not None and now - known.time > MOST_MISSED * every:
            seen = (*seen[:-1], seen[-1] + now - known.time)
        statement = WitnessStatement(
            entries=tuple(entry.digest for entry in entries),
            seen=(*seen, *(now for _ in entries[len(seen) :])),
            time=now,
            key=signed.public,
        )
        replace_file(self.root / LIST, chain.raw)
        replace_file(self.root / STATEMENT, Signed.seal(statement, signed).raw)
        return statement

    def _examined(self, chain: Chain) -> list[Entry]:
        """Open a list; refuse one that is not the known one with something added."""
        forks = sorted((self.root / FORKS).glob("*.json"))
        if forks:
            raise MidpointError(
                f"the service showed two pasts, as {forks[0]} and {self.root / LIST} prove; nothing"
                " more is signed for it"
            )
        entries = verified_entries(chain)
        before, kept = self.statement, self.chain
        if before is None or kept is None:
            return entries
        if entries[0].key != kept.entries[0].open(Entry).key:
            raise MidpointError(
                "the list was begun by another key: it is no list of this service, and proves"
                " nothing about it; nothing is signed until the service shows its own again"
            )
        self._require_longer(chain, entries, before.open(WitnessStatement))
        return entries

    def _require_longer(self, chain: Chain, entries: list[Entry], known: WitnessStatement) -> None:
        """Refuse a list that is not the known one with something added, and keep the proof.

        One proof is enough: from then on nothing is signed, and nothing more is kept.
        """
        shown = tuple(entry.digest for entry in entries)
        if shown[: len(known.entries)] == known.entries:
            return
        if known.entries[: len(shown)] == shown:
            raise MidpointError(
                f"the list ends at entry {len(shown) - 1}, and entry {len(known.entries) - 1} was"
                " seen before; nothing is signed until the service shows it again"
            )
        path = self.root / FORKS / f"{chain.digest}.json"
        replace_file(path, chain.raw)
        raise MidpointError(
            f"the service shows another past than before; {path} and {self.root / LIST} prove it,"
            " since it signed both. Publish them; nothing more is signed"
        )


def _named(entry: Entry) -> list[tuple[str, str]]:
    """Return directory and digest of what an entry names."""
    titles = [] if entry.catalogue is None else [(CATALOGUES, entry.catalogue)]
    return [(DISCLOSURES, entry.disclosure), *titles]


def _read(path: Path, kind: type[M]) -> M | None:
    try:
        return kind.parse(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, RefusedError) as error:
        raise MidpointError(f"{path} cannot be read ({error}); restore it from a copy") from error
