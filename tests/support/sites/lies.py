"""What a malicious analyst tells: lists and disclosures that are properly signed, and false."""

import json
from collections.abc import Sequence
from typing import Any

from midpoint.wire import (
    ONE,
    Chain,
    Disclosure,
    Entry,
    FeatureNames,
    RatingScale,
    Signed,
    SigningKey,
)
from tests.support.sites.door import Door, answering, plain
from tests.support.sites.upstream import Upstream


def grown(
    chain: Sequence[Signed], *later: Disclosure, key: SigningKey, titles: str | None = None
) -> list[Signed]:
    """Return the list with these published after it, with these titles or the same as before."""
    made = list(chain)
    for shown in later:
        previous = made[-1].open(Entry) if made else None
        entry = Entry(
            sequence=len(made),
            disclosure=shown.digest,
            catalogue=titles or (previous.catalogue if previous else None),
            previous=previous.digest if previous else None,
            time=1_800_000_000 + len(made),
            key=key.public,
        )
        made.append(Signed.seal(entry, key))
    return made


def show(door: Door, chain: Sequence[Signed], newest: Disclosure | bytes) -> None:
    """Show these entries, and these bytes for whatever disclosure is asked for."""
    raw = newest if isinstance(newest, bytes) else newest.raw
    say(door, "/v1/chain", Chain(entries=tuple(chain)).raw)
    say(door, "/v1/chain/head", chain[-1].raw)
    door.behave["/v1/disclosures/*"] = _disclosure_or_none(raw)


def show_newer(door: Door, up: Upstream, *later: Disclosure) -> None:
    """Publish these after the honest list, as the analyst can: it has the key."""
    show(door, grown(up.chain, *later, key=up.key), later[-1])


def say(door: Door, path: str, body: bytes) -> None:
    """Answer a path with this, whatever the service would say."""
    door.behave[path] = answering(plain(body))


def _disclosure_or_none(raw: bytes) -> Any:
    def behave(connection: Any, request: bytes) -> None:
        asked = request.split(b" ", 2)[1]
        empty = b'{"certificates":[],"version":1}'
        connection.sendall(plain(empty if asked.endswith(b"/certificates") else raw))

    return behave


def changed(shown: Disclosure, **columns: Any) -> Disclosure:
    """Return the disclosure with other columns, well-formed but perhaps inconsistent."""
    return shown.model_copy(update=columns)


def one_item(shown: Disclosure, index: int) -> Disclosure:
    """Change what is disclosed about one item, consistently: its categories are swapped."""
    levels = list(shown.levels or ())
    levels[index] = tuple(reversed(levels[index]))
    reveal = list(shown.reveal or ())
    reveal[index] = tuple(reversed(reveal[index]))
    return changed(shown, levels=tuple(levels), reveal=tuple(reveal))


def crafted_levels(shown: Disclosure) -> Disclosure:
    """One category's levels hold more than everything, so that its answers stand out."""
    levels = list(shown.levels or ())
    first, *others = levels[0]
    levels[0] = ((first[0] + 5, *first[1:]), *others)
    return changed(shown, levels=tuple(levels))


def huge_offset(shown: Disclosure, size: int) -> Disclosure:
    """Under a scheme with offsets, send the two categories to the two ends of the scale."""
    rows = tuple((size, -size) for _ in shown.items)
    return changed(shown, scheme="mpssr", levels=None, offset=rows)


def first_row(shown: Disclosure, column: str, row: Any) -> Disclosure:
    """Put another row instead of the first item's."""
    return changed(shown, **{column: (row, *(getattr(shown, column) or ())[1:])})


def telling_levels(shown: Disclosure) -> Disclosure:
    """A distribution each, at the two ends: what is between them goes where the category says."""
    none = (0,) * (len(shown.scale.levels or ()) - 2)
    return first_row(shown, "levels", ((ONE - 1, *none, 1), (1, *none, ONE - 1)))


def telling_offset(shown: Disclosure) -> Disclosure:
    """Offsets that the scale allows: a true 4 becomes 2 in one category and 5 in the other."""
    half = (shown.scale.high - shown.scale.low) // 2
    return first_row(huge_offset(shown, 0), "offset", (half, -half))


def telling_silence(shown: Disclosure) -> Disclosure:
    """One category as good as never reveals: an answer is the other's."""
    return first_row(shown, "reveal", (1, ONE))


def downgrade(shown: Disclosure, scheme: str) -> Disclosure:
    """The same under a scheme that protects less, each number as honest as before."""
    if scheme == "dmp":
        return changed(shown, scheme=scheme, reveal=None)
    return huge_offset(shown, 0)


def tiny_reveal(shown: Disclosure) -> Disclosure:
    """No category always reveals: silence tells."""
    return changed(shown, reveal=tuple((ONE // 2,) * shown.n_cells for _ in shown.items))


def unsafe(shown: Disclosure) -> Disclosure:
    """Ask for ratings as they are."""
    return changed(shown, scheme="no", levels=None, reveal=None)


def other_features(shown: Disclosure) -> Disclosure:
    """The same numbers about another feature."""
    one = shown.features[0]
    renamed = FeatureNames(name="income", categories=one.categories)
    return changed(shown, features=(renamed, *shown.features[1:]))


def other_scale(shown: Disclosure) -> Disclosure:
    """The same numbers on a scale that she did not rate on."""
    levels = tuple(level + ONE for level in shown.scale.levels or ())
    return changed(shown, scale=RatingScale(low=levels[0], high=levels[-1], levels=levels))


def with_number(shown: Disclosure, text: str) -> bytes:
    """Put something else instead of the first reveal probability."""
    content = json.loads(shown.raw)
    content["reveal"][0][0] = "@"
    return json.dumps(content).replace('"@"', text).encode()
