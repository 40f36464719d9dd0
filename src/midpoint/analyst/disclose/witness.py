"""What a witness keeps of an analyst's list: every signed entry, and when each was first seen.

list.json          the signed entries, in order
statement.json     what the witness signed when it last saw the list
forks/DIGEST.json  lists that contradict what was seen before: proof, since the analyst signed both
key.pem            the witness's own key, for its owner's eyes only
"""

from dataclasses import dataclass
from math import inf
from pathlib import Path
from threading import Lock
from typing import TypeVar

from midpoint.analyst.disclose.chain import verified_entries
from midpoint.errors import MidpointError
from midpoint.files import replace_file
from midpoint.wire import Chain, Entry, Message, RefusedError, Signed, SigningKey, WitnessStatement

_SEEING = Lock()
M = TypeVar("M", bound=Message)
KEY, LIST, STATEMENT, FORKS = "key.pem", "list.json", "statement.json", "forks"
MOST_MISSED = 3
"""Looks in a row that may come to nothing before the newest entry counts as seen later."""


@dataclass(frozen=True)
class WitnessFiles:
    """The directory of a witness, and what may be done with it."""

    root: Path
    """Where it is."""

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

    def see(self, chain: Chain, now: int, every: float = inf) -> WitnessStatement:
        """Keep what a list adds, and sign what was seen; or keep the proof of a fork and refuse.

        Args:
            chain: The list as the service shows it now.
            now: The time by this witness's clock, in whole seconds since 1970.
            every: Seconds between two looks. After a gap of more than three, the newest entry
                counts as seen so much later: time in which nobody could look shows nothing.
        """
        with _SEEING:  # one look after the other
            return self._see(chain, now, every)

    def _see(self, chain: Chain, now: int, every: float) -> WitnessStatement:
        entries = verified_entries(chain)
        before, signed = self.statement, self.key
        known = None if before is None else before.open(WitnessStatement)
        if known is not None:
            self._require_longer(chain, entries, known)
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

    def _require_longer(self, chain: Chain, entries: list[Entry], known: WitnessStatement) -> None:
        """Refuse a list that is not the known one with something added, and keep the proof."""
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


def _read(path: Path, kind: type[M]) -> M | None:
    try:
        return kind.parse(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, RefusedError) as error:
        raise MidpointError(f"{path} cannot be read ({error}); restore it from a copy") from error
