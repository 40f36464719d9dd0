"""What training yields: item profiles, frozen; they are saved and loaded as a whole."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.categories.estimates import CategoryEstimates, Estimation
from midpoint.analyst.categories.statistics import CategoryStatistics
from midpoint.analyst.fit.choice import Choice
from midpoint.analyst.fit.positions import PositionModel
from midpoint.analyst.fit.priors.set_prior import SetPrior, size_class
from midpoint.analyst.fit.profile_files import MANIFEST, read_profiles, write_profiles
from midpoint.analyst.fit.summary import as_table, as_text
from midpoint.data import Scale
from midpoint.errors import MidpointError

POSITIONS = "positions_"
"""How the names of the arrays of `positions` begin."""
SETS = "set_"
"""How the names of the arrays of `set_prior` begin."""


@dataclass(frozen=True, repr=False)
class Provenance:
    """How item profiles came to be, so that anyone can make them again."""

    data: str
    """Name of the data set."""
    data_digest: str
    """Digest of the ratings they were learned from."""
    configuration: Mapping[str, Any]
    """The factorizer's settings, the seed among them."""
    iterations: int
    """Passes over the ratings that were made."""
    versions: Mapping[str, str]
    """Versions of the software that took part."""

    def __repr__(self) -> str:
        """Say where they come from, in one line."""
        return (
            f"<Provenance: {self.data} ({self.data_digest[:12]}), {self.iterations} iterations of"
            f" {self.configuration.get('method')}, seed {self.configuration.get('seed')},"
            f" midpoint {self.versions.get('midpoint')}>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ItemProfiles:
    """All that the analyst knows of its items; M items, dimension D, K categories.

    A rating is predicted as centre_j + offset_j[category] + <x, v_j> (Eq. 4). The first entry of
    every v_j is 1 and meets the user's own level in x, as in Sec. 6.4; D is one more than the
    number of latent dimensions. Of factors alone (Eq. 1) that entry is 0, and so is the centre.
    """

    item_ids: NDArray[np.str_]
    """Stable names of the items. Shape (M,)."""
    item_names: NDArray[np.str_]
    """What a person calls them. Shape (M,)."""
    scale: Scale
    """What a rating can be."""
    vectors: NDArray[np.float32]
    """The item profiles v_j. Shape (M, D)."""
    centre: NDArray[np.float64]
    """Rating of each item at x = 0, midway between the categories. Shape (M,)."""
    offset: NDArray[np.float64]
    """What each category adds: x0 v_j0 for a binary feature. Shape (M, K), K = 0 if none."""
    features: tuple[tuple[str, tuple[str, ...]], ...]
    """Name and categories of each private feature; their joint cells are the K categories."""
    statistics: CategoryStatistics | None
    """What was counted of each category; None without a feature."""
    noise_variance: float
    """Variance of a rating around its prediction: sigma^2.

    Learned along with the profiles. Under a given regularization it is the error on the validation
    slice, and without a slice that on the training ratings, which is too small.
    """
    profile_mean: NDArray[np.float64]
    """Mean of the training users' profiles. Shape (D,)."""
    profile_covariance: NDArray[np.float64]
    """Covariance of the training users' profiles. Shape (D, D)."""
    provenance: Provenance
    """How it came to be."""
    positions: PositionModel | None = None
    """Positions of people, for the schemes with counterparts; None if they were not learned."""
    scheme: str | None = None
    """The scheme that was chosen in training, by which they are disclosed; None if none was."""
    leak: float | None = None
    """Leak budget by which they are disclosed, an AUC (`disclose.leak`); None if there is none."""
    choice: Choice | None = None
    """What was measured to choose it; None if it was named, or none was chosen."""
    set_prior: SetPrior | None = None
    """What the revealed set says of a profile; None if it says nothing, or was not learned."""

    def __post_init__(self) -> None:
        for array in self._arrays().values():
            array.setflags(write=False)

    def __repr__(self) -> str:
        """Say what they are, in a few lines."""
        return as_text(self)

    def _repr_html_(self) -> str:
        """Show the items that each category moves most."""
        return as_table(self)

    @property
    def n_items(self) -> int:
        """Count the items."""
        return len(self.item_ids)

    @cached_property
    def index(self) -> dict[str, int]:
        """The index of each item."""
        return {item: index for index, item in enumerate(self.item_ids.tolist())}

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The items in the order of their names, which is that of every message. Shape (M,)."""
        return np.argsort(self.item_ids)

    @cached_property
    def message_index(self) -> NDArray[np.intp]:
        """The index of each item in messages: the inverse of `order`. Shape (M,)."""
        return np.argsort(self.order)

    @property
    def dimension(self) -> int:
        """Length of a profile."""
        return int(self.vectors.shape[1])

    @cached_property
    def typical(self) -> NDArray[np.float32]:
        """What the mean training user would rate, midway between the categories. Shape (M,)."""
        return (self.centre + self.vectors @ self.profile_mean).astype(np.float32)

    @cached_property
    def profile_precision(self) -> NDArray[np.float64]:
        """C^-1, the inverse of the profiles' covariance. Shape (D, D)."""
        return np.asarray(np.linalg.inv(self.profile_covariance), np.float64)

    @property
    def prior_precision(self) -> NDArray[np.float64]:
        """sigma^2 C^-1: what the prior adds to a sum of v v^T. Shape (D, D)."""
        return self.noise_variance * self.profile_precision

    @cached_property
    def profile_root(self) -> NDArray[np.float64]:
        """L with C = L L': profiles are m + L z, where z has mean 0 and covariance I. (D, D)."""
        return np.asarray(np.linalg.cholesky(self.profile_covariance), np.float64)

    @cached_property
    def standard_vectors(self) -> NDArray[np.float32]:
        """The item profiles as such a z meets them: L' v_j. Shape (M, D)."""
        return (self.vectors @ self.profile_root).astype(np.float32)

    def after(self, count: int) -> "ItemProfiles":
        """Return the profiles with the covariance of people who revealed so many items.

        The mean is everyone's: what their set adds to it (`SetPrior.shift`) is taken off before.
        """
        if self.set_prior is None or count == 0:
            return self._without_sets
        kind = int(size_class(count))
        if kind not in self._by_size:
            covariance = self.set_prior.covariance(count, self.profile_root)
            self._by_size[kind] = replace(self._without_sets, profile_covariance=covariance)
        return self._by_size[kind]

    @cached_property
    def _without_sets(self) -> "ItemProfiles":
        return self if self.set_prior is None else replace(self, set_prior=None)

    @cached_property
    def _by_size(self) -> dict[int, "ItemProfiles"]:
        return {}

    @property
    def feature(self) -> str:
        """Name of the private feature, or of several joined by "+"; empty if none."""
        return "+".join(name for name, _ in self.features)

    @property
    def categories(self) -> tuple[str, ...]:
        """Names of the K categories, or joint cells in row-major order."""
        if not self.features:
            return ()
        return tuple("+".join(cell) for cell in product(*(names for _, names in self.features)))

    @property
    def informative(self) -> NDArray[np.bool_]:
        """Tell which items say something about taste: v_j is not 0 beyond the level. Shape (M,)."""
        return np.asarray((self.vectors[:, 1:] != 0).any(axis=1))

    def index_of(self, items: Iterable[str]) -> NDArray[np.intp]:
        """Return the index of each item, refusing one that is not known."""
        known = self.index
        try:
            return np.fromiter((known[item] for item in items), np.intp)
        except KeyError as error:
            unknown = str(error.args[0])
            raise MidpointError(f"item {unknown!r} is not among the profiles") from None

    def estimates(self, method: Estimation = "shrunken") -> CategoryEstimates:
        """Return what is estimated of each category: offsets, rating probabilities, levels.

        The offsets are the profiles' own where the fit estimated them by this method.
        """
        if self.statistics is None:
            raise MidpointError(
                "the profiles were trained without a private feature; name one to train"
            )
        if method not in self._estimates:
            fitted = self.provenance.configuration.get("biases") == method
            self._estimates[method] = CategoryEstimates(
                self.statistics,
                method,
                along=self.standard_vectors.astype(np.float64),
                fitted=self.offset if fitted else None,
            )
        return self._estimates[method]

    def with_positions(self, positions: PositionModel) -> "ItemProfiles":
        """Return the same profiles with these positions; what is estimated of categories stays."""
        both = replace(self, positions=positions)
        both.__dict__["_estimates"] = self._estimates
        return both

    @cached_property
    def _estimates(self) -> dict[Estimation, CategoryEstimates]:
        return {}

    def save(self, directory: Path | str) -> None:
        """Write arrays and a manifest, replacing the directory as a whole."""
        manifest = {
            "scale": asdict(self.scale),
            "features": self.features,
            "crossed": None if self.statistics is None else self.statistics.crossed,
            "noise_variance": self.noise_variance,
            "scheme": self.scheme,
            "leak": self.leak,
            "choice": None if self.choice is None else self.choice.as_dict(),
            "provenance": asdict(self.provenance),
        }
        if self.positions is not None:
            positions = {"noise_variance": self.positions.noise_variance}
            if self.positions.weight is not None:
                positions["weight"] = self.positions.weight
            manifest["positions"] = positions
        write_profiles(Path(directory).resolve(), self._arrays(), manifest)

    @classmethod
    def load(cls, directory: Path | str) -> Self:
        """Read what `save` wrote; refuse what is damaged or of another version."""
        path = Path(directory)
        try:
            manifest, arrays = read_profiles(path)
            counted = manifest["crossed"] is not None
            return cls(
                item_ids=arrays["item_ids"],
                item_names=arrays["item_names"],
                scale=Scale(**{**manifest["scale"], "levels": _tuple(manifest["scale"]["levels"])}),
                vectors=arrays["vectors"],
                centre=arrays["centre"],
                offset=arrays["offset"],
                features=tuple((name, tuple(names)) for name, names in manifest["features"]),
                statistics=_statistics(arrays, manifest["crossed"]) if counted else None,
                noise_variance=float(manifest["noise_variance"]),
                profile_mean=arrays["profile_mean"],
                profile_covariance=arrays["profile_covariance"],
                provenance=Provenance(**manifest["provenance"]),
                positions=_positions(arrays, manifest),
                scheme=manifest["scheme"],
                leak=manifest.get("leak"),
                choice=Choice.of(manifest.get("choice")),
                set_prior=_set_prior(arrays),
            )
        except MidpointError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise MidpointError(
                f"{path / MANIFEST} is damaged ({error!r}); train the model again"
            ) from error

    def _arrays(self) -> dict[str, NDArray[Any]]:
        arrays = _named(self) | _named(self.statistics)
        if self.positions is not None:
            arrays |= _named(self.positions, POSITIONS)
        arrays |= _named(self.set_prior, SETS)
        return arrays


def _named(holder: Any, prefix: str = "") -> dict[str, NDArray[Any]]:
    """Return the arrays among the fields of a dataclass, if there is one, by name."""
    return {
        prefix + field.name: value
        for field in (() if holder is None else fields(holder))
        if isinstance(value := getattr(holder, field.name), np.ndarray)
    }


def _statistics(arrays: dict[str, NDArray[Any]], crossed: Any) -> CategoryStatistics:
    return CategoryStatistics(
        users=arrays["users"],
        count=arrays["count"],
        total=arrays["total"],
        square=arrays["square"],
        level_count=arrays.get("level_count"),
        level_values=arrays.get("level_values"),
        crossed=tuple(tuple(cells) for cells in crossed),
        factors=arrays.get("factors"),
        disagreement=arrays.get("disagreement"),
    )


def _positions(arrays: dict[str, NDArray[Any]], manifest: dict[str, Any]) -> PositionModel | None:
    if "positions" not in manifest:
        return None
    return PositionModel(
        rate=arrays[POSITIONS + "rate"],
        selection=arrays[POSITIONS + "selection"],
        base=arrays[POSITIONS + "base"],
        taste=arrays[POSITIONS + "taste"],
        least=arrays[POSITIONS + "least"],
        mean=arrays[POSITIONS + "mean"],
        covariance=arrays[POSITIONS + "covariance"],
        noise_variance=float(manifest["positions"]["noise_variance"]),
        spread=arrays.get(POSITIONS + "spread"),
        level_count=arrays.get(POSITIONS + "level_count"),
        weight=manifest["positions"].get("weight"),
    )


def _set_prior(arrays: dict[str, NDArray[Any]]) -> SetPrior | None:
    names = [field.name for field in fields(SetPrior)]
    if SETS + names[0] not in arrays:
        return None
    return SetPrior(**{name: arrays[SETS + name] for name in names})


def _tuple(levels: list[float] | None) -> tuple[float, ...] | None:
    return None if levels is None else tuple(levels)
