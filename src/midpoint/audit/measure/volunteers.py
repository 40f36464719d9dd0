"""How many must share their feature for a leak: the rule of errors, fitted to several panels.

Numbers that are estimated from n people have variances that fall as 1 / n, and somebody who knows
the errors reaches AUC = Phi(sqrt(D / 2)), where D adds the variances up (`analyst.disclose.leak`).
Attackers who learn the errors from outsiders reach less, in the same form. And something may leak
however large the panel is: which items go together. So the AUC of a panel of n people is

    Phi^-1(AUC)^2 = a / n + b,   a, b >= 0,

with a and b fitted to the panels that were audited, by how sure their AUCs are.
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

    def auc(self, panel: float) -> float:
        """Return what leaks to outsiders with a panel of so many people."""
        return _NORMAL.cdf((self.by_panel / panel + self.lasting) ** 0.5)

    def needed(self, leak: float) -> float:
        """Return how many volunteers a leak needs; infinite if no number would do."""
        left = _NORMAL.inv_cdf(leak) ** 2 - self.lasting
        return self.by_panel / left if left > 0 else inf

    def words(self, goals: Sequence[float] = GOALS) -> str:
        """Say it in a sentence, with where the data end."""
        parts = [f"{leak:.2f}: {self._needs(leak)}" for leak in goals]
        return (
            f"{self.scheme}: volunteers that this data needs for a leak to outsiders of at most"
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

    Of several numbers of outsiders, the largest counts.
    """
    fitted = list[Volunteers]()
    for scheme in dict.fromkeys(point.scheme for point in points if point.scheme != RAW):
        of = [point for point in points if point.scheme == scheme]
        most = max(point.outsiders for point in of)
        along = {point.panel: point for point in of if point.outsiders == most}
        if len(along) > 1:
            fitted.append(_fit(scheme, [along[panel] for panel in sorted(along)]))
    return fitted


def _fit(scheme: str, points: Sequence[SizePoint]) -> Volunteers:
    """Fit a and b by least squares, each panel by how sure its Phi^-1(AUC)^2 is."""
    panel = np.array([point.panel for point in points], np.float64)
    auc = np.clip([max(point.value, 1 - point.value) for point in points], 0.5, 0.999)
    error = np.maximum([(point.high - point.low) / WIDEST for point in points], LEAST)
    z = np.array([_NORMAL.inv_cdf(value) for value in auc])
    density = np.array([_NORMAL.pdf(value) for value in z])
    # The deviation of z^2 is 2 z that of z, and not less than the square of that.
    of_z = error / density
    weight = 1 / np.maximum(2 * z * of_z, of_z**2)
    design = np.column_stack([1000 / panel, np.ones(len(panel))])
    (a, b), _ = nnls(design * weight[:, None], z**2 * weight)
    return Volunteers(scheme, tuple(int(size) for size in panel), 1000 * float(a), float(b))


def _round(number: float) -> int:
    """Round to two digits: a fit knows no more."""
    digits = int(10 ** max(len(str(int(number))) - 2, 0))
    return round(number / digits) * digits
