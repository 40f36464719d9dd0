"""Small neural networks on dense columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from midpoint.audit.attackers.attacker import Float
from midpoint.audit.attackers.learned import Answer, Family, Rows
from midpoint.audit.attackers.scaling import Scaling

Single = NDArray[np.float32]
Layers = list[Single]
"""Weights (c, h) and bias (h,) of the hidden layer, then (h, 1) and (1,) of the answer."""
RATE, DECAYS, TINY = 0.001, (0.9, 0.999), 1e-8
"""Step size, decay of both means and least deviation of Adam, as its authors advise."""


@dataclass(frozen=True)
class Networks(Family):
    """Small neural networks (multilayer perceptrons) on the logistic loss; a setting is epochs.

    Several are trained from different starts, and their log-odds averaged. They are those of
    scikit-learn's `MLPClassifier.partial_fit`, bit by bit, in half of the time or less: rows are
    brought into order once for all epochs, and not checked in each.
    """

    settings: Sequence[int] = (3, 10, 25)
    """Passes over the rows, ascending."""
    hidden: int = 32
    """Units of the one hidden layer."""
    networks: int = 2
    """How many networks."""
    batch: int = 128
    """Rows of a step."""
    penalty: float = 0.1
    """L2 penalty of the weights."""

    def train(
        self, rows: Rows, ones: NDArray[np.bool_], chosen: Sequence[int], seed: int, /
    ) -> Answer:
        """Train for the greatest number of epochs, keeping the networks of each number."""
        scaled = Scaling.of(rows)
        X, y = scaled(rows), ones.astype(np.float32)[:, None]
        kept = [self._stages(X, y, chosen, seed + start) for start in range(self.networks)]

        def answer(new: Rows) -> Float:
            Z = scaled(new)
            each = [[_log_odds(layers, Z) for layers in stages] for stages in kept]
            return np.asarray(np.mean(each, axis=0), np.float64)

        return answer

    def _stages(self, X: Single, y: Single, chosen: Sequence[int], seed: int) -> list[Layers]:
        """Train one network; return its layers after each number of epochs."""
        stages: dict[int, Layers] = {}
        draws = np.random.RandomState(seed % 2**31)
        layers = _start(X.shape[1], self.hidden, draws)
        steps = _Adam(layers)
        # The first epoch goes on drawing; each of the others begins as the start did.
        order = draws.permutation(len(y))
        again = np.random.RandomState(seed % 2**31).permutation(len(y))
        for epoch in range(1, max(chosen) + 1):
            if epoch <= 2:
                shuffled = X[order], y[order]
                order = again
            for some, truth in _batches(*shuffled, self.batch):
                steps.take(_slopes(layers, some, truth, self.penalty))
            if epoch in chosen:
                stages[epoch] = [layer.copy() for layer in layers]
        return [stages[epochs] for epochs in chosen]


def _start(columns: int, hidden: int, draws: np.random.RandomState) -> Layers:
    """Draw weights and biases evenly from +-sqrt(6 / (in + out)) (Glorot and Bengio 2010)."""
    layers: Layers = []
    for inner, outer in ((columns, hidden), (hidden, 1)):
        bound = np.sqrt(6.0 / (inner + outer))
        for shape in ((inner, outer), (outer,)):
            layers.append(draws.uniform(-bound, bound, shape).astype(np.float32))
    return layers


def _batches(X: Single, y: Single, size: int) -> Iterator[tuple[Single, Single]]:
    for begin in range(0, len(y), size):
        yield X[begin : begin + size], y[begin : begin + size]


def _slopes(layers: Layers, X: Single, y: Single, penalty: float) -> Layers:
    """Return the slopes of mean_i log(1 + exp(-y_i f(x_i))) + penalty |weights|^2 / 2 n."""
    first, bias, second, last = layers
    n = len(y)
    hidden = X @ first
    hidden += bias
    np.maximum(hidden, 0, out=hidden)
    answer = hidden @ second
    answer += last
    pull = expit(answer)
    pull -= y
    back = pull @ second.T
    back[hidden == 0] = 0
    slopes: Layers = []
    for given, weights, wrong in ((X, first, back), (hidden, second, pull)):
        slope = given.T @ wrong
        slope += np.float32(penalty) * weights
        slope /= n
        slopes += [slope, wrong.mean(axis=0)]
    return slopes


class _Adam:
    """Takes steps by running means of slopes and of their squares (Kingma and Ba 2015)."""

    def __init__(self, layers: Layers) -> None:
        self._layers, self._taken = layers, 0
        self._slope, self._square = ([np.zeros_like(layer) for layer in layers] for _ in range(2))

    def take(self, slopes: Layers) -> None:
        """Take a step: the layers change."""
        self._taken += 1
        first, second = DECAYS
        rate = RATE * np.sqrt(1 - second**self._taken) / (1 - first**self._taken)
        for layer, slope, mean, square in zip(
            self._layers, slopes, self._slope, self._square, strict=True
        ):
            np.add(first * mean, (1 - first) * slope, out=mean)
            np.add(second * square, (1 - second) * slope**2, out=square)
            np.subtract(
                layer,
                rate * mean / (np.sqrt(square) + np.float32(TINY)),
                out=layer,
                casting="same_kind",
            )


def _log_odds(layers: Layers, rows: Rows) -> Float:
    """Pass rows through the layers. Shape (n,)."""
    first, bias, second, last = layers
    return np.asarray((np.maximum(rows @ first + bias, 0) @ second + last)[:, 0], np.float64)
