"""Item profiles in a few lines, for a console or a notebook."""

from html import escape
from textwrap import shorten
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from midpoint.analyst.fit.profiles import ItemProfiles

SHOWN_CATEGORIES = 2
"""Categories in a `repr`, at most."""
TABLE_CATEGORIES = 12
"""Categories in a table, at most."""
SHOWN_ITEMS = 5
"""Items of a category in a table."""
LONGEST_TITLE = 50
"""Characters of a title, at most."""


def as_text(profiles: "ItemProfiles") -> str:
    """Say what the profiles are, in at most five lines."""
    made, K = profiles.provenance, len(profiles.categories)
    first = (
        f"<ItemProfiles of {made.data}: {profiles.n_items} items, dimension"
        f" {profiles.dimension - 1}, on {profiles.scale}{noise(profiles)}"
    )
    lines = [first]
    for k in range(min(K, SHOWN_CATEGORIES)):
        named = f"{profiles.feature} {profiles.categories[k]}"
        lines.append(f"  {named} adds most to {_listed(profiles, k, 3)}")
    if K > SHOWN_CATEGORIES:
        lines.append(f"  and {K - SHOWN_CATEGORIES} more categories")
    return "\n".join([*lines, f"  {_scheme(profiles)}>"])


def noise(profiles: "ItemProfiles") -> str:
    """Say what the noise of a rating is; nothing of sets, which have no ratings."""
    if profiles.scale.is_unary:
        return ""
    return f"; noise of a rating {profiles.noise_variance**0.5:.3f}"


def as_table(profiles: "ItemProfiles") -> str:
    """Return a table in HTML: the items that each category moves most, up and down."""
    rows = "".join(
        f"<tr><th>{escape(category)}</th><td>{escape(_listed(profiles, k, SHOWN_ITEMS))}</td>"
        f"<td>{escape(_listed(profiles, k, SHOWN_ITEMS, least=True))}</td></tr>"
        for k, category in enumerate(profiles.categories[:TABLE_CATEGORIES])
    )
    head = f"<tr><th>{escape(profiles.feature)}</th><th>adds most to</th><th>least to</th></tr>"
    first = as_text(profiles).partition("\n")[0].lstrip("<").rstrip(">")
    table = f"<table>{head}{rows}</table>" if rows else ""
    return f"<p>{escape(first)}</p>{table}<p>{escape(_scheme(profiles))}</p>"


def _listed(profiles: "ItemProfiles", k: int, count: int, *, least: bool = False) -> str:
    """Name the items to which a category adds most, or least."""
    order = profiles.offset[:, k].argsort()[:: 1 if least else -1][:count]
    titles = [shorten(str(profiles.item_names[j]), LONGEST_TITLE) for j in order]
    return ", ".join(
        f"{title} ({profiles.offset[j, k]:+.2f})" for j, title in zip(order, titles, strict=True)
    )


def _scheme(profiles: "ItemProfiles") -> str:
    """Say by which scheme they are disclosed, and whether they have positions."""
    positions = "" if profiles.positions is None else " with positions"
    if not profiles.features:
        return "no private feature"
    return f"disclosed by {profiles.scheme}{positions}" if profiles.scheme else "no scheme chosen"
