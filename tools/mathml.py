"""MkDocs hook: formulas become MathML while the site is built, so pages need no script for them."""

import re
from typing import Any
from unicodedata import lookup

from latex2mathml.converter import convert

CODE_OR_FORMULA = re.compile(
    r"(?P<code>^```.*?^```|`[^`\n]+`)|\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$\n]+?)\$",
    re.DOTALL | re.MULTILINE,
)
LETTER = re.compile(r'<mi mathvariant="(script|double-struck)">([A-Z])</mi>')
FONTS = "STIX Two Math, Cambria Math, Latin Modern Math, DejaVu Math TeX Gyre, math"
"""Fonts whose braces grow; a browser's own choice need not be one of them."""
WIDE = "display: block; overflow-x: auto; overflow-y: hidden"
"""A formula wider than the page is moved by itself; by keys as well, so it takes the focus."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace formulas between dollar signs, leaving code as it is."""
    return CODE_OR_FORMULA.sub(_replaced, markdown)


def _replaced(match: re.Match[str]) -> str:
    if match["code"] is not None:
        return match["code"]
    # Markdown takes a line that begins with <math> for a block of its own, but not one with <span>.
    if match["block"] is not None:
        return f'<span style="{WIDE}" tabindex="0">{_formula(match["block"], "block")}</span>'
    return f"<span>{_formula(match['inline'], 'inline')}</span>"


def _formula(text: str, display: str) -> str:
    made = LETTER.sub(_letter, convert(text.strip(), display=display).replace("\n", " "))
    if "\\" in made:
        raise ValueError(f"no MathML for all of {text}: {made}")
    return made.replace("<math ", f'<math style="font-family: {FONTS}" ', 1)


def _letter(match: re.Match[str]) -> str:
    """Write a letter as its own sign: browsers know no variants any more."""
    name = f"{match[1].upper()} CAPITAL {match[2]}"
    try:
        return f"<mi>{lookup(f'MATHEMATICAL {name}')}</mi>"
    except KeyError:  # some of them have been signs for longer
        return f"<mi>{lookup(name)}</mi>"
