"""What a person demands of a service, kept with her device: it holds until she changes it."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field, ValidationError

from midpoint.errors import MidpointError
from midpoint.user.device_files import keep_file, read_kept
from midpoint.wire.fixed import MILLION
from midpoint.wire.message import Count, Message, Name, PublicKey

Auc = Annotated[int, Field(ge=MILLION // 2, le=MILLION)]
"""An AUC in millionths."""


class Demands(Message):
    """What she demands; what is absent is as usual (`Terms`). It never leaves the device."""

    domain: ClassVar[str] = "demands"

    auditors: tuple[PublicKey, ...] = ()
    """Public keys of auditors that she trusts."""
    require_certificate: bool = False
    """Whether to refuse a disclosure that none of them certified."""
    most_auc: Auc | None = None
    """AUC that the strongest attack may reach, as certified."""
    most_leak: Auc | None = None
    """AUC that errors of what is disclosed may let somebody reach, as the analyst says."""
    witness: Name | None = None
    """Address of the witness that she named."""
    witness_key: PublicKey | None = None
    """Its public key, if she named it."""
    shown_for: Count | None = None
    """Seconds for which the witness has to show an entry before it is answered under."""
    without_witness: bool = False
    """Whether she chose, on the page, to ask none. The terminal wants to hear it at each run."""
    show_rated: bool = False
    """Whether she agreed, on the page, to a scheme that does not hide which items she rated."""

    def changed(self, *, without: Collection[str] = (), **given: object) -> Self:
        """Return it with what she said now; what she did not mention (None) stays.

        What is named in `without` is no longer demanded. The key of a witness goes with the
        witness: another witness without a key has none.
        """
        said = dict.fromkeys(without) | {k: v for k, v in given.items() if v is not None}
        if said.get("witness", self.witness) != self.witness:
            said.setdefault("witness_key", None)
        try:
            return self.model_copy(update=said)
        except ValidationError as error:
            raise _unfit(str(error.errors()[0]["loc"][0]), said) from error

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        keep_file(path, self.raw)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote; nothing is demanded where nothing was kept."""
        return read_kept(cls.parse, path, "restore it, or delete it and demand again") or cls()


def _unfit(name: str, said: Mapping[str, object]) -> MidpointError:
    """Say what is wrong with a demand."""
    if isinstance(most := said[name], int) and name in ("most_auc", "most_leak"):
        return MidpointError(
            f"{most / MILLION:g} is no AUC to accept at most; give one from 0.5 (blind guessing) to"
            " 1 (certainty)"
        )
    return MidpointError(
        f"{name.replace('_', ' ')}: {most!r} is none; a key has 64 hexadecimal digits, and an"
        " address at most 256 characters"
    )
