"""The paper's numbers beside ours, with the difference: Figures 4 and 5, and what is withheld."""

from collections.abc import Iterator, Mapping
from html import escape
from types import MappingProxyType
from typing import NamedTuple

from midpoint.audit.attackers.catalogue import PAPER_ATTACKS
from midpoint.audit.measure.findings import AUC, INFERRED, RMSE
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.html import table
from midpoint.audit.report.paper import PaperNumbers, compared_with, paper_numbers, stand_in
from midpoint.audit.report.settings import label, model_words
from midpoint.audit.report.tradeoff import plain_schemes
from midpoint.errors import MidpointError

LSE_VARIANTS = ("lse-penalized", "lse-matched")
"""Least squares with a penalty, of the fit, and fitted to the paper's error: its `lse` as well."""


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
    for attack in (*PAPER_ATTACKS, *LSE_VARIANTS):
        row = results.get(scheme, AUC, attack)
        if row is not None or attack in PAPER_ATTACKS:
            paper = getattr(said, attack.partition("-")[0])
            yield Compared(scheme, attack, paper, None if row is None else results.folded(row))
    for metric in INFERRED if said.rmse is not None else ():
        row = results.get(scheme, metric)
        if row is not None or metric == RMSE[0]:
            yield Compared(scheme, metric, said.rmse, None if row is None else row.value)


def require_papers(papers: AuditResults, dataset: str, feature: str) -> None:
    """Refuse to show beside an audit what is no experiment of the paper's on the same data."""
    if not papers.is_paper:
        raise MidpointError("what is shown beside an audit has to be one with --paper")
    if (papers.dataset, papers.feature) != (dataset, feature):
        raise MidpointError(
            f"the audit with --paper is of {papers.dataset}, {papers.feature}, this one of"
            f" {dataset}, {feature}: name the directory of one of the same data and feature"
        )


def beside(results: AuditResults, papers: AuditResults | None = None) -> Iterator[str]:
    """Show the paper's numbers beside ours, and the difference.

    Where the paper's own experiment was repeated as well, its numbers stand between the two.
    """
    compared = compare(results)
    if papers is not None:
        require_papers(papers, results.dataset, results.feature)
        yield from _both(results, papers)
        compared = []
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


def _both(results: AuditResults, papers: AuditResults) -> Iterator[str]:
    """Show the paper's numbers, ours by its own estimates, and ours by our estimates."""
    theirs = {(one.scheme, one.what): one for one in compare(papers)}
    ours = {(one.scheme, one.what): one for one in compare(results)}
    if not theirs:
        return
    schemes = [name for name in dict.fromkeys(s for s, _ in theirs) if papers.get(name, AUC, "lr")]
    kinds = dict.fromkeys(what for _, what in theirs)
    yield "<h2>Beside the paper</h2>"
    if marked := stand_in(results.dataset):
        yield f"<p><b>{escape(marked)}</b></p>"
    yield table(
        "The paper's number, what its own experiment finds here (audit --paper: its model,"
        " estimates and least squares), and this audit by our estimates. AUC folded to 0.5 and"
        " above, RMSE with the inferred category. Our lse has a prior of profiles instead of"
        " variants.",
        ["scheme", *map(escape, kinds)],
        [
            [
                escape(label(name)),
                *(_three(theirs.get((name, k)), ours.get((name, k))) for k in kinds),
            ]
            for name in schemes
        ],
    )
    yield f"<p>The paper's estimates: {escape(model_words(papers))}</p>"
    yield f"<p>Our estimates: {escape(model_words(results))}</p>"
    yield from withheld(papers)


def _three(repeated: Compared | None, ours: Compared | None) -> str:
    numbers = [None if one is None else one.here for one in (repeated, ours)]
    said = None if repeated is None else repeated.paper
    return " | ".join("-" if one is None else f"{one:.3f}" for one in (said, *numbers))


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
