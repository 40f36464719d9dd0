"""The words of a verdict, explained for somebody who reads a report for the first time."""

from collections.abc import Iterator

from midpoint.analyst.fit.choice import RAW
from midpoint.audit.measure.results import AuditResults

_RAW = "ratings as they are, without protection. Every attacker is tried on them, too."
_AUC = (
    "of two people of different categories, how often the attacker picks the right one. 0.5 is a"
    " blind guess. 0.4 leaks as much as 0.6, since its sign can be flipped."
)
_JUDGE = (
    "all attackers of an adversary together. Their weights were learned from other people, before"
    " anybody here was attacked. A verdict looks at the judge of each adversary that knows"
    " the scheme, and at the strongest single attacker."
)
_BAND = (
    "what luck alone shows. It holds {} of the AUCs that are left when people's categories are"
    " shuffled within folds."
)
_WIDER = (
    "the chance band, 1.41 times as wide. People of one fold trained the attackers of the others,"
    " and shuffling does not show that. A verdict goes by this band. With these {:,} people, a leak"
    " inside it may be luck."
)
_INTERVAL = (
    "95 %, with the trained attackers and the folds as they are. The strongest attacker is chosen"
    " after the fact, so its interval lies a little too far from 0.5."
)
_COST = {
    False: "how much larger the error is than the best that raw ratings give. The device has"
    " corrected its own predictions.",
    True: "how much larger the error is than that of raw ratings, with the inferred category.",
}
"""What costs compare, in the paper's setting or not."""
_COST_OF_SETS = (
    "what share of NDCG@10 lists lose, beside the best lists of raw sets. The device has corrected"
    " its own lists."
)


def how_to_read(results: AuditResults) -> Iterator[str]:
    """Explain the words that this report's verdicts use."""
    levels = {f"{100 * band.level:.3g} %" for band in results.bands.values()}
    words = {
        "no": _RAW if RAW in results.schemes else "",
        "AUC": _AUC,
        "The judge": _JUDGE if results.judges else "",
        "Chance band": _BAND.format(" or ".join(sorted(levels)) or "95 %"),
        "Wider band": _WIDER.format(results.description["users"]),
        "Interval": _INTERVAL,
        "Cost": _COST_OF_SETS if results.unary else _COST[results.is_paper],
    }
    yield "<h3>How to read this</h3><ul>"
    yield from (f"<li><b>{word}</b>: {text}</li>" for word, text in words.items() if text)
    yield "</ul>"
