"""MkDocs hook: formulas become MathML while the site is built, so pages need no script for them."""

import re
from typing import Any

from latex2mathml.converter import convert

CODE_OR_FORMULA = re.compile(
    r"(?P<code>^```.*?^```|`[^`\n]+`)|\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$\n]+?)\$",
    re.DOTALL | re.MULTILINE,
)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace formulas between dollar signs, leaving code as it is."""
    return CODE_OR_FORMULA.sub(_replaced, markdown)


def _replaced(found: re.Match[str]) -> str:
    if found["code"] is not None:
        return found["code"]
    if found["block"] is not None:
        return convert(found["block"].strip(), display="block").replace("\n", " ")
    return convert(found["inline"].strip()).replace("\n", " ")
