"""Boosted trees, by LightGBM."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from midpoint.audit.attackers.attacker import Float
from midpoint.audit.attackers.learned import Answer, Family, Rows
from midpoint.errors import MidpointError


@dataclass(frozen=True)
class Trees(Family):
    """Gradient-boosted trees on the logistic loss; a setting is how many of them."""

    settings: Sequence[int] = (25, 60, 150)
    """Numbers of trees."""
    columns: float = 0.5
    """Share of the columns that a tree may use."""
    leaves: int = 8
    """Leaves of a tree."""
    rate: float = 0.08
    """Weight of a tree."""
    tuning_rows: int | None = 4000

    def train(
        self, rows: Rows, ones: NDArray[np.bool_], chosen: Sequence[int], seed: int, /
    ) -> Answer:
        """Grow the greatest number of trees; fewer are the first of them."""
        try:
            import lightgbm  # noqa: PLC0415  it takes a second that most attackers do not need
        except OSError as error:  # found, but not what it is linked to
            raise MidpointError(
                f"LightGBM cannot be loaded ({error}); on macOS run `brew install libomp`, or name"
                " attackers without trees by --attacks"
            ) from error

        data = lightgbm.Dataset(_plain(rows), label=ones.astype(np.float64), params=_QUIET)
        parameters = self._parameters(rows.shape[0], seed)
        # Kept as it was trained: to write it down and read it again takes a sixth of the time.
        booster = lightgbm.train(
            parameters, data, num_boost_round=max(chosen), keep_training_booster=True
        )

        def answer(new: Rows) -> Float:
            table = _plain(new)
            answers = [
                booster.predict(table, num_iteration=trees, raw_score=True, num_threads=1)
                for trees in chosen
            ]
            return np.asarray(answers, np.float64)

        return answer

    def _parameters(self, n_rows: int, seed: int) -> dict[str, Any]:
        """One thread, and nothing left to the order of sums."""
        return _QUIET | {
            "objective": "binary",
            "num_leaves": self.leaves,
            "learning_rate": self.rate,
            "feature_fraction": self.columns,
            "min_data_in_leaf": max(5, min(50, n_rows // 50)),
            "lambda_l2": 5.0,
            "seed": seed % 2**31,
            "deterministic": True,
            "force_col_wise": True,
            "num_threads": 1,
        }


_QUIET: dict[str, Any] = {"verbosity": -1, "max_bin": 63}


def _plain(rows: Rows) -> Rows:
    """Return what LightGBM reads: 64-bit numbers, dense or in compressed rows."""
    if sparse.issparse(rows):
        return sparse.csr_matrix(rows, dtype=np.float64)
    return np.asarray(rows, np.float64)
