"""What a device may answer under one disclosure; everything else in a report is refused."""

import numpy as np

from midpoint.errors import MidpointError
from midpoint.wire import ONE, Disclosure, Report, ValueMap

LEVELS_ONLY = (ValueMap.AS_IS, ValueMap.ROUNDED, ValueMap.DISCRETE)
"""Maps of values whose answers on a discrete scale are levels."""


class ReportRules:
    """The values that ratings of each item can be turned into.

    A value is a level of a discrete scale; where averages are sent, or ratings of a continuous
    scale as they are, within the range; and where an offset o_k is subtracted, within the range
    widened by the item's own: low - max o_k to high - min o_k.
    """

    def __init__(self, disclosure: Disclosure) -> None:
        scale, kind = disclosure.scale, disclosure.obfuscation.value_map
        self.scheme = disclosure.scheme
        self._levels = frozenset(scale.report_levels or ()) if kind in LEVELS_ONLY else frozenset()
        n = len(disclosure.items)
        low, high = np.full(n, scale.low), np.full(n, scale.high)
        if kind is ValueMap.SHIFTED and disclosure.offset is not None:
            offset = np.array(disclosure.offset, dtype=np.int64)
            low, high = low - offset.max(axis=1), high - offset.min(axis=1)
        self._range = dict(
            zip(disclosure.items, zip(low.tolist(), high.tolist(), strict=True), strict=True)
        )

    def require(self, report: Report) -> None:
        """Refuse what no device sends: an unknown item, or a value that no rating becomes."""
        for item, value in report.answers:
            if item not in self._range:
                raise MidpointError(f"report {report.id}: item {item!r} is not in the disclosure")
            low, high = self._range[item]
            if value not in self._levels if self._levels else not low <= value <= high:
                raise MidpointError(
                    f"report {report.id} answers item {item!r} with {value / ONE:g}, which is no"
                    f" rating from {low / ONE:g} to {high / ONE:g} that scheme {self.scheme} sends"
                )
