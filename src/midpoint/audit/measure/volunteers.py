"""How large a panel must be for a given leak: a curve fitted to several panels.

Numbers that are estimated from n people have variances that fall as 1 / n, and somebody who knows
the errors reaches AUC = Phi(sqrt(D / 2)), where D adds the variances up (`analyst.disclose.leak`).
Attackers who learn the errors from outsiders reach less, in the same form. A shrunken estimate errs
by t^2 s^2 / (t^2 + s^2), with s^2 its own variance and t^2 that of the items: as a plain one does
from n0 = s^2 n / t^2 more people, so that no panel leaks more than raw ratings. And something may
leak however large the panel is: which items go together. So the AUC of a panel of n people is

    Phi^-1(AUC)^2 = a / (n + n0) + b,   a, b, n0 >= 0,

fitted to the panels that were audited, by how sure their AUCs are. n0 and b are 0 unless they make
the fit better by more than a parameter is worth (Akaike's criterion).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import NormalDist
from typing import Final

import numpy as np
from scipy.optimize import nnls

from midpoint.analyst.fit.choice import RAW
from midpoint.audit.measure.findings import SizePoint

GOALS: Final = (0.60, 0.57, 0.55)
"""Leaks that are asked about."""
WIDEST: Final = 3.92
"""Standard errors in a 95 % interval."""
LEAST: Final = 1e-3
"""Standard error of an AUC, at least."""
REPORTED: Final = ", with everyone else's reports"
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Volunteers:
    """How many volunteers one scheme needs, by what leaks to outsiders with several panels."""

    scheme: str
    """The scheme."""
    panels: tuple[int, ...]
    """The panels that were audited, ascending."""
    by_panel: float
    """a: what falls as the panel grows."""
    lasting: float
    """b: what does not."""
    prior: float = 0.0
    """n0: how many people the shrinkage of estimates is worth."""
    reports: bool = False
    """Whether items were also learned from everyone else's reports."""

    def auc(self, panel: float) -> float:
        """Return what leaks to outsiders with a panel of so many people."""
        return _NORMAL.cdf((self.by_panel / (panel + self.prior) + self.lasting) ** 0.5)

    def needed(self, leak: float) -> float:
        """Return how many volunteers a leak needs; infinite if no number would do."""
        left = _NORMAL.inv_cdf(leak) ** 2 - self.lasting
        return max(self.by_panel / left - self.prior, 0.0) if left > 0 else inf

    def words(self, goals: Sequence[float] = GOALS) -> str:
        """Say it in a sentence, with where the data end."""
        parts = [f"{leak:.2f}: {self._needs(leak)}" for leak in goals]
        named = self.scheme + (REPORTED if self.reports else "")
        return (
            f"{named}: volunteers that this data needs for a leak to outsiders of at most"
            f" {'; '.join(parts)}. Fitted to panels of {self.panels[0]:,} to"
            f" {self.panels[-1]:,}; what is beyond them is extrapolated by the rule that errors"
            " fall as one over the panel."
        )

    def _needs(self, leak: float) -> str:
        needed = self.needed(leak)
        if needed == inf:
            return "no panel is large enough, since a part of the leak does not fall with its size"
        if needed <= self.panels[0]:
            return f"{self.panels[0]:,} are enough"
        beyond = ", extrapolated" if needed > self.panels[-1] else ""
        return f"about {_round(needed):,}{beyond}"


def volunteers(points: Sequence[SizePoint]) -> list[Volunteers]:
    """Fit the rule to each scheme that was audited with two panels or more; not to raw ratings.

    Panels alone and with everyone else's reports are apart. Of several numbers of outsiders, the
    largest counts.
    """
    fitted = list[Volunteers]()
    kinds = ((point.scheme, point.reports) for point in points if point.scheme != RAW)
    for scheme, reports in dict.fromkeys(kinds):
        of = [one for one in points if (one.scheme, one.reports) == (scheme, reports)]
        most = max(point.outsiders for point in of)
        along = {point.panel: point for point in of if point.outsiders == most}
        if len(along) > 1:
            fitted.append(_fit([along[panel] for panel in sorted(along)]))
    return fitted


def _fit(points: Sequence[SizePoint]) -> Volunteers:
    """Fit a, b and n0 by least squares, each panel by how sure its Phi^-1(AUC)^2 is."""
    panel = np.array([point.panel for point in points], np.float64)
    auc = np.clip([max(point.value, 1 - point.value) for point in points], 0.5, 0.999)
    error = np.maximum([(point.high - point.low) / WIDEST for point in points], LEAST)
    z = np.array([_NORMAL.inv_cdf(value) for value in auc])
    density = np.array([_NORMAL.pdf(value) for value in z])
    # The deviation of z^2 is 2 z that of z, and not less than the square of that.
    of_z = error / density
    weight = 1 / np.maximum(2 * z * of_z, of_z**2)
    priors = [0.0, *(np.geomspace(0.05, 20, 60) * panel[0])] if len(panel) > 2 else [0.0]
    best = inf, 0.0, 0.0, 0.0
    for prior in priors:
        for lasting in (0.0, 1.0):
            design = np.column_stack([1000 / (panel + prior), np.full(len(panel), lasting)])
            (a, b), residual = nnls(design * weight[:, None], z**2 * weight)
            criterion = residual**2 + 2 * (prior > 0) + 2 * (b > 0)
            best = min(best, (criterion, prior, float(a), float(b)))
    _, prior, a, b = best
    first, sizes = points[0], tuple(int(size) for size in panel)
    return Volunteers(first.scheme, sizes, 1000 * a, b, float(prior), first.reports)


def _round(number: float) -> int:
    """Round to two digits: a fit knows no more."""
    digits = int(10 ** max(len(str(int(number))) - 2, 0))
    return round(number / digits) * digits
