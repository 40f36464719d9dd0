"""Obfuscation under schemes that adjust to nobody."""

import numpy as np
from numpy.typing import NDArray

from midpoint.user import Adjustment, Obfuscated, Parameters, obfuscate


def obfuscate_unadjusted(
    item: NDArray[np.intp],
    value: NDArray[np.int64],
    cell: NDArray[np.intp] | int,
    parameters: Parameters,
    uniform: NDArray[np.float64],
    alpha: float = 1.0,
) -> Obfuscated:
    """Obfuscate by the disclosed numbers alone."""
    identity = Adjustment.identity(parameters, item, cell)
    return obfuscate(item, value, cell, parameters, uniform, identity, alpha)
