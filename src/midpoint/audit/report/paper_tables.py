"""The paper's numbers beside ours, with the difference: Figures 4 and 5, and what is withheld."""

from collections.abc import Iterator, Mapping
from html import escape
from types import MappingProxyType
from typing import NamedTuple

from midpoint.audit.attackers.catalogue import PAPER_ATTACKS
from midpoint.audit.measure.findings import AUC, PENALIZED, RMSE
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.html import table
from midpoint.audit.report.paper import PaperNumbers, compared_with, paper_numbers, stand_in
from midpoint.audit.report.settings import label
from midpoint.audit.report.tradeoff import plain_schemes

LSE_PENALIZED = "lse-penalized"
"""Least squares with the penalty of the fit, which the paper's `lse` is compared with as well."""


class Compared(NamedTuple):
    """One number of the paper and ours."""

    scheme: str
    """The scheme, as it is called here."""
    what: str
    """The attacker whose AUC it is, or which error."""
    paper: float | None
    """The paper's number; AUCs are folded to 0.5 and above."""
    here: float | None
    """Ours."""

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.paper is None or self.here is None else self.here - self.paper


class Share(NamedTuple):
    """What Sec. 7.2 says of the share of ratings that sub-sampling withholds."""

    what: str
    """What is counted."""
    decile: int | None
    """The decile over users that it is; None for the share of users that withhold nothing."""
    paper: float
    """The paper's number."""
    bound: bool = False
    """Whether the paper's number is an upper bound."""


_HALF = Share("withheld by anyone, at most", 10, 0.5, bound=True)
_TWENTIETH = Share("withheld by anyone, at most", 10, 0.05, bound=True)
_PTV = (Share("users who withhold nothing", None, 0.8), _TWENTIETH)
SHARES: Mapping[str, tuple[Share, ...]] = MappingProxyType(
    {
        "movielens-1m": (Share("withheld by the median user", 5, 0.23), _HALF),
        "flixster": (Share("withheld by the median user", 5, 0.10), _HALF),
        "ptv": _PTV,
    }
)
"""By the paper's data set."""
SUB_SAMPLED = ("ss", "mpss")


def compare(results: AuditResults) -> list[Compared]:
    """Return all numbers that the paper has as well, scheme by scheme."""
    known = paper_numbers(results.dataset, results.feature)
    if known is None:
        return []
    rows = []
    for scheme in plain_schemes(results):
        said = known[1].get(str(results.schemes[scheme]["name"]))
        if said is not None:
            rows += list(_compared(results, scheme, said))
    return rows


def _compared(results: AuditResults, scheme: str, said: PaperNumbers) -> Iterator[Compared]:
    for attack in (*PAPER_ATTACKS, LSE_PENALIZED):
        row = results.get(scheme, AUC, attack)
        if row is not None or attack in PAPER_ATTACKS:
            paper = getattr(said, attack.removesuffix("-penalized"))
            yield Compared(scheme, attack, paper, None if row is None else results.folded(row))
    for metric in (RMSE[0], PENALIZED) if said.rmse is not None else ():
        row = results.get(scheme, metric)
        if row is not None or metric == RMSE[0]:
            yield Compared(scheme, metric, said.rmse, None if row is None else row.value)


def beside(results: AuditResults) -> Iterator[str]:
    """Show the paper's numbers beside ours, and the difference."""
    compared = compare(results)
    if not compared:
        return
    known = paper_numbers(results.dataset, results.feature)
    name = "" if known is None else known[0]
    same = name == f"{results.dataset}, {results.feature}"
    of = escape(name) if same else f"{escape(name)}: data most like these, but others"
    kinds = list(dict.fromkeys(one.what for one in compared))
    cells = {(one.scheme, one.what): _cell(one) for one in compared}
    yield "<h2>Beside the paper</h2>"
    if marked := stand_in(results.dataset):
        yield f"<p><b>{escape(marked)}</b></p>"
    how = "With the paper's own estimates" if results.is_paper else "With our estimates"
    yield table(
        f"The paper's number ({of}), ours, and the difference. {how}; AUC folded to 0.5 and above,"
        " RMSE with the inferred category.",
        ["scheme", *map(escape, kinds)],
        [
            [escape(label(scheme)), *(cells.get((scheme, what), "") for what in kinds)]
            for scheme in dict.fromkeys(one.scheme for one in compared)
        ],
    )
    yield from withheld(results)


def _cell(compared: Compared) -> str:
    paper = "-" if compared.paper is None else f"{compared.paper:.3f}"
    here = "-" if compared.here is None else f"{compared.here:.3f}"
    difference = (
        "" if compared.difference is None else f"<br><small>{compared.difference:+z.3f}</small>"
    )
    return f"{paper} | {here}{difference}"


def withheld(results: AuditResults) -> Iterator[str]:
    """Show what sub-sampling withholds beside what Sec. 7.2 says of it."""
    rows = [
        [
            escape(label(scheme)),
            share.what,
            f"{share.paper:.0%}",
            f"{here:.1%}",
            _apart(share, here),
        ]
        for scheme, share, here in shares(results)
    ]
    if rows:
        yield table(
            "What sub-sampling withholds (Sec. 7.2).",
            ["scheme", "share", "paper", "here", "difference"],
            rows,
        )


def _apart(share: Share, here: float) -> str:
    if share.bound and here <= share.paper:
        return "within"
    return f"{100 * (here - share.paper):+z.1f} points"


def shares(results: AuditResults) -> Iterator[tuple[str, Share, float]]:
    """Go through the shares that the paper reports, and ours."""
    known = compared_with(results.dataset, results.feature)
    for scheme in plain_schemes(results):
        deciles = results.withheld.get(scheme)
        if known is None or deciles is None or results.schemes[scheme]["name"] not in SUB_SAMPLED:
            continue
        for share in SHARES[known[0]]:
            nothing = sum(decile <= 0 for decile in deciles) - 1  # of eleven, the least included
            here = max(nothing, 0) / 10 if share.decile is None else deciles[share.decile]
            yield scheme, share, here
