"""What an analyst publishes for devices, made up."""

from dataclasses import replace

from midpoint.wire import (
    Catalogue,
    Certificates,
    Chain,
    Disclosure,
    Published,
    Signed,
    SigningKey,
)
from tests.support.people.made_up import (
    ANALYST,
    disclosure,
    entries,
    sealed,
    titles_of,
)

SHOWN = disclosure("dmpss", n_items=40)
LATER = disclosure("dmpss", n_items=40, seed=2)
EVERYTHING = {f"Title of {item}": 1 + n % 5 for n, item in enumerate(SHOWN.items)}
"""Stars for all titles: with 40 items some are sure to be withheld."""


def published(
    *disclosures: Disclosure, key: SigningKey = ANALYST, titles: Catalogue | None = None
) -> Published:
    """Publish these one after the other; the last one is current."""
    shown = disclosures or (SHOWN,)
    chain = Chain(entries=tuple(sealed(entries(shown, key, titled=True), key)))
    catalogue = titles or titles_of(shown[-1])
    return Published(chain, shown[-1].raw, catalogue.raw, Certificates(certificates=()))


def signed_again(honest: Published, titles: Catalogue) -> Published:
    """Publish other titles under an entry that names them."""
    entry = entries([SHOWN])[0].model_copy(update={"catalogue": titles.digest})
    chain = Chain(entries=(Signed.seal(entry, ANALYST),))
    return replace(honest, chain=chain, catalogue=titles.raw)


TITLED = Catalogue(
    items=SHOWN.items,
    titles=("Fargo (1996)", "Heat (1995)", "Heat (1995)", "item-01", *SHOWN.items[4:]),
    ratings=(0,) * len(SHOWN.items),
)
