"""What all messages share: strict fields, the exact bytes, their digest."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import lt
from typing import Annotated, Any, ClassVar, Self
from unicodedata import category, is_normalized

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    ValidationError,
    field_validator,
)
from pydantic_core import PydanticCustomError

from midpoint.wire.canonical import LARGEST, digest, encode, require_strict
from midpoint.wire.refusal import Refusal, RefusedError

UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
"""Unicode categories of characters that a name must not hold, but for the plain space."""

LINE_ENDS = "\u2028\u2029"
MARKS = "\u061c\u200e\u200f"
"""Signs without a shape that have a direction: numbers after one can be shown in another order."""
TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" + MARKS
"""What turns the direction of a text, and of what is written after it: a title could reverse what a
device says about it."""


def fault(code: Refusal, sentence: str) -> PydanticCustomError:
    """Make the error by which a validator refuses a message with a code."""
    return PydanticCustomError(code.value, "{sentence}", {"sentence": sentence})


@lru_cache(2**14)
def _plain(name: str) -> str:
    """Refuse a name that looks like another: a decision is final by the name of its item.

    No control or format characters, no spaces but the plain one and that not at the ends, and
    composed (NFC). An item under a new name that looks new is beyond what a device can check.
    """
    unseen = not name.isprintable() and any(c != " " and category(c) in UNSEEN for c in name)
    if unseen or name != name.strip(" ") or not is_normalized("NFC", name):
        raise fault(
            Refusal.BAD_NAME,
            f"the name {name!r} has characters that do not show, outer spaces, or is not NFC",
        )
    return name


def is_one_line(text: str) -> bool:
    """Return whether a text prints as one line: no control characters, line ends or turns."""
    return text.isprintable() or all(_shows(c) for c in text)


def _shows(c: str) -> bool:
    return c >= " " and not "\x7f" <= c <= "\x9f" and c not in LINE_ENDS + TURNS


def _one_line(text: str) -> str:
    if not is_one_line(text):
        raise fault(Refusal.BAD_NAME, f"the text {text[:40]!r} has control characters")
    return text


Name = Annotated[str, StringConstraints(min_length=1, max_length=256), AfterValidator(_plain)]
OneLine = AfterValidator(_one_line)
"""What a text that prints as one line is annotated with."""
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
PublicKey = Digest
Integer = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Seconds = Count
"""Whole seconds since 1970 in UTC."""
VERSION = 1
"""Version of the wire format that this program speaks."""

_CODES = {
    "json_invalid": Refusal.NOT_JSON,
    "extra_forbidden": Refusal.UNKNOWN_FIELD,
    "missing": Refusal.MISSING_FIELD,
    "int_type": Refusal.NOT_AN_INTEGER,
    "int_from_float": Refusal.NOT_AN_INTEGER,
}


class Part(BaseModel):
    """A piece of a message: strict types, no unknown field, frozen."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Message(Part):
    """A message that keeps the bytes it was read from; two are equal when their bytes are."""

    domain: ClassVar[str]
    """What a signature over it is bound to, so that it is good for no other kind of message."""

    version: int = 1
    """Version of the wire format."""

    _raw: bytes | None = PrivateAttr(default=None)
    _digest: str | None = PrivateAttr(default=None)

    @classmethod
    def parse(cls, raw: bytes) -> Self:
        """Read a message, or refuse it with a code; `raw` stays exactly these bytes."""
        require_strict(raw)
        try:
            message = cls.model_validate_json(raw, context=(cls, bytes(raw)))
        except ValidationError as error:
            raise _refused(cls.__name__, error) from error
        if "version" not in message.model_fields_set:
            raise RefusedError(Refusal.MISSING_FIELD, f"{cls.__name__} does not say its version")
        return message

    def model_post_init(self, context: Any, /) -> None:
        """Keep the bytes that `parse` read; those of a message inside are not these."""
        if isinstance(context, tuple) and context[0] is type(self):
            self._raw = context[1]

    @field_validator("version")
    @classmethod
    def _known(cls, version: int) -> int:
        if version != VERSION:
            raise fault(
                Refusal.UNKNOWN_VERSION,
                f"this program speaks version {VERSION}, not {version}; update the older side",
            )
        return version

    @property
    def raw(self) -> bytes:
        """The exact bytes: those received, or the canonical ones of a message made here."""
        if self._raw is None:
            self._raw = encode(self.model_dump(mode="json", exclude_none=True))
        return self._raw

    @property
    def has_bytes(self) -> bool:
        """Whether the exact bytes are at hand: they were received, or asked for before."""
        return self._raw is not None

    @property
    def digest(self) -> str:
        """SHA-256 of the exact bytes, which never change."""
        if self._digest is None:
            self._digest = digest(self.raw)
        return self._digest

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Make a new, checked message; received bytes are not carried over to other content."""
        del deep  # a frozen message has nothing to share by mistake
        return type(self).model_validate(dict(self) | dict(update or {}))

    def __repr__(self) -> str:
        """Say its kind, what it holds and the start of its digest, in one line."""
        gist = self._gist()
        return f"<{type(self).__name__}{f' {gist};' if gist else ''} {self.digest[:12]}>"

    def __str__(self) -> str:
        """Print as `repr` does."""
        return repr(self)

    def _gist(self) -> str:
        """Say in a few words what it holds: how many of what its first list has."""
        lists = ((name, value) for name, value in self if isinstance(value, tuple))
        return next((f"{len(value)} {name}" for name, value in lists), "")

    def __eq__(self, other: object) -> bool:
        """Compare exact bytes."""
        return isinstance(other, type(self)) and other.raw == self.raw

    def __hash__(self) -> int:
        """Hash the exact bytes."""
        return hash(self.raw)


def require_ascending(names: Iterable[str], what: str) -> None:
    """Refuse names that are not sorted by code point, each once: one order for all languages."""
    listed = tuple(names)
    if not all(map(lt, listed, listed[1:])):
        raise fault(Refusal.WRONG_SHAPE, f"{what} are not in ascending order, each once")


def _refused(kind: str, error: ValidationError) -> RefusedError:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"])) or "the whole"
    known = {code.value: code for code in Refusal} | _CODES
    code = known.get(first["type"], Refusal.WRONG_SHAPE)
    return RefusedError(code, f"{kind} is refused at {where}: {first['msg']}")
