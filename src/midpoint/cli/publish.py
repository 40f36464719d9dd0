"""`midpoint publish` and `renew-key`: a site's current model, and the key that signs for it."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from midpoint.cli.options.messages import AsJson, read_message
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from midpoint.analyst import ItemProfiles
    from midpoint.analyst.disclose.site import Publication, Site
    from midpoint.data.tables.items import ItemDetail
    from midpoint.wire import Disclosure, Wording


def publish_command(
    model: Annotated[
        Path,
        typer.Argument(help="Item profiles, as `midpoint train` wrote them.", show_default=False),
    ],
    site: Annotated[
        Path, typer.Argument(help="Directory that `midpoint serve` serves.", show_default=False)
    ],
    scheme: Annotated[
        str | None,
        typer.Option(help="A scheme; unless given, the site's current one, or else the model's."),
    ] = None,
    bits: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=16,
            help="Bits of each number; unless given, as the site has them, or else 16.",
        ),
    ] = None,
    certificate: Annotated[
        list[Path] | None,
        typer.Option(help="A certificate, as `midpoint certify` wrote it; repeatable."),
    ] = None,
    wording: Annotated[
        str | None,
        typer.Option(
            metavar="ONE,SEVERAL,DONE",
            help="What the page calls the items, one and several, and what people do with them:"
            " film,films,seen or song,songs,liked. Unless given, as the site has it, or else the"
            " first of these.",
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            help="Your own table of items with their genre and link, which page and terminal show;"
            " unless given, as the site has them."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Also write all that is now published as one file, for `midpoint protect`."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Disclose a model and switch a site to it; running services pick it up by themselves.

    The first time, the site's signing key is created. Back it up: devices refuse another key.
    """
    from midpoint.analyst import ItemProfiles
    from midpoint.analyst.disclose.site import Site
    from midpoint.files import replace_file
    from midpoint.wire import Signed

    with Console(stderr=True).status("Publishing"):
        target = Site(site)
        called = None if wording is None else wording_of(wording)
        profiles = ItemProfiles.load(model)
        details = None if items is None else details_for(profiles, items)
        switch = make_current(profiles, target, scheme, bits, called, details)
        signed = [read_message(path, Signed) for path in certificate or []]
        certified = [target.certify(message) for message in signed]
        if out is not None:
            replace_file(out, target.published().raw)
    if as_json:
        facts = {
            "site": str(site),
            "disclosure": switch.disclosure.digest,
            "sequence": switch.done.entry.sequence,
            "fresh": switch.done.fresh,
            "key": switch.done.entry.key,
            "certificates": len(certified),
        }
        typer.echo(json.dumps(facts, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(switch.words(target), markup=False)
    for added in certified:
        console.print(f"certified by {added.auditor}", markup=False)
    if out is not None:
        console.print(f"All that is published is in {out}, for devices by files.", markup=False)
    console.print(f"Serve it with: midpoint serve {site}", markup=False)


def renew_key_command(
    site: Annotated[
        Path, typer.Argument(help="Site, as `midpoint publish` wrote it.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Give a site a new signing key; the present one vouches for it, so devices follow.

    Do it before a key grows old, or when people who had it leave. It does not help against a thief:
    somebody who has the present key can vouch for one of their own.
    """
    from midpoint.analyst.disclose.site import Site

    done = Site(site).succeed(time=int(time.time())).entry
    if as_json:
        facts = {"sequence": done.sequence, "former": done.key, "key": done.successor}
        typer.echo(json.dumps(facts, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"Entry {done.sequence} of the list names the new key.\nformer {done.key}\n"
        f"key    {done.successor}\nBack up {site / 'key.pem'}, and say in public which key is"
        " yours now.",
        markup=False,
    )


@dataclass(frozen=True)
class Switch:
    """What a site was switched to."""

    disclosure: "Disclosure"
    """What is current now."""
    done: "Publication"
    """What became of the publication."""
    before: "Disclosure | None"
    """What was current before; None if nothing was published."""

    def words(self, site: "Site") -> str:
        """Say what is current, and what devices will make of another scheme."""
        from midpoint.analyst.disclose.specification import SchemeSpec

        what = "is now current" if self.done.fresh else "was current already"
        entry = f"entry {self.done.entry.sequence} of {site.list}"
        scheme = SchemeSpec.of(self.disclosure)
        lines = [
            f"{scheme} of {len(self.disclosure.items)} items {what}: {entry}",
            f"digest {self.disclosure.digest}",
            f"key    {self.done.entry.key}",
        ]
        if self.before is not None and self.before.scheme != self.disclosure.scheme:
            lines.append(
                f"Devices that know the site refuse {self.disclosure.scheme} after"
                f" {self.before.scheme} until their owners accept the change."
            )
        return "\n".join(lines)


def wording_of(text: str) -> "Wording":
    """Read what items are called, as in `film,films,seen`."""
    from midpoint.wire import Wording
    from midpoint.wire.listing import LONGEST_WORD
    from midpoint.wire.message import is_one_line

    words = [word.strip() for word in text.split(",")]
    fine = all(0 < len(word) <= LONGEST_WORD and is_one_line(word) for word in words)
    if len(words) != 3 or not fine:
        raise MidpointError(
            f"--wording {text!r}: give one, several and what people do, as in film,films,seen;"
            f" each has at most {LONGEST_WORD} letters"
        )
    item, items, done = words
    return Wording(item=item, items=items, done=done)


def details_for(profiles: "ItemProfiles", path: Path) -> "Mapping[str, ItemDetail]":
    """Read genres and links, and refuse a table that knows none of the items or has neither."""
    from midpoint.data.tables.items import item_details

    details = item_details(path)
    if details.keys().isdisjoint(profiles.item_ids.tolist()):
        raise MidpointError(
            f"{path} knows none of the {profiles.n_items} items, such as"
            f" {str(profiles.item_ids[0])!r}; check that items are called the same in both"
        )
    if not any(detail.genre or detail.link for detail in details.values()):
        raise MidpointError(f"{path} has no column of genres or links; name them genre and link")
    return details


def make_current(
    profiles: "ItemProfiles",
    site: "Site",
    scheme: str | None = None,
    bits: int | None = None,
    wording: "Wording | None" = None,
    details: "Mapping[str, ItemDetail] | None" = None,
) -> Switch:
    """Disclose a model and switch a site to it; by the site's scheme unless another is named."""
    before, disclosure = site.current(), site.disclose(profiles, scheme, bits)
    done = site.publish(
        profiles,
        disclosure,
        time=int(time.time()),
        change_scheme=scheme is not None,
        wording=wording,
        details=details,
    )
    return Switch(disclosure, done, before)
