"""A scheme and its variant, as one text: `cmpss`, `dmp:levels=5`, `cmp:levels=5:spread=on`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Self

import numpy as np

from midpoint.data import Scale
from midpoint.errors import MidpointError
from midpoint.wire import ONE, SCHEMES, Disclosure, Scheme, ValueMap
from midpoint.wire.positions import Prior

SWITCH: Final = MappingProxyType({"on": True, "off": False})
"""How a setting that is on or off is written."""
FOR_SETS: Final = ", ".join(name for name, scheme in SCHEMES.items() if scheme.is_for_sets)
"""Schemes that unary data can have."""
SETTINGS: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {
        "levels": int,
        "spread": SWITCH.__getitem__,
        "shift": SWITCH.__getitem__,
        "sets": {"assigned": True, "chosen": False}.__getitem__,
        "leak": float,
        "keep": float,
    }
)
"""How to read the settings that may follow a scheme's name."""


@dataclass(frozen=True, slots=True)
class SchemeSpec:
    """What is disclosed: a scheme by name, and what devices do beyond it."""

    name: str
    """Name of the scheme."""
    levels: int | None = None
    """How many levels devices report on, if fewer than the scale has."""
    spread: bool = False
    """Whether devices carry the spread of residuals to their counterparts', too."""
    assigned: bool = False
    """Whether people do not choose what they rate: devices answer all they are asked or nothing."""
    leak: float | None = None
    """Leak budget as an AUC, unless a model or a command names another."""
    keep: float | None = None
    """With what probability devices go on to reveal a rating, whatever item and category."""
    shift: bool = True
    """Whether values shift to the counterparts'; if not, taste factors only correct scores."""

    def __post_init__(self) -> None:
        if self.name not in SCHEMES:
            raise MidpointError(
                f"there is no scheme {self.name!r}; choose one of {', '.join(SCHEMES)}"
            )
        if self.levels is not None and self.scheme.value_map is not ValueMap.DISCRETE:
            raise MidpointError(
                f"scheme {self.name!r} reports on all levels; dmp, dmpss, cmp and cmpss can report"
                " on fewer"
            )
        if self.spread and not self.scheme.counterparts:
            raise MidpointError(
                f"scheme {self.name!r} has no counterparts whose spread to take; cmp and cmpss have"
            )

        if not self.shift and not self.scheme.counterparts:
            raise MidpointError(
                f"scheme {self.name!r} shifts nothing to counterparts; cmp and cmpss do"
            )

        if self.assigned and self.scheme.sub_samples:
            raise MidpointError(
                f"scheme {self.name!r} withholds items, and assigned ones need none withheld; dmp"
                " and cmp withhold none"
            )

        if self.leak is not None and not (self.scheme.sub_samples and 0.5 < self.leak <= 1):
            raise MidpointError(
                f"scheme {self.name!r} cannot keep to a leak of {self.leak:g}; a leak budget is an"
                " AUC above 0.5, of a scheme that withholds, such as cmpss:leak=0.6"
            )

        if self.keep is not None and not 0 < self.keep < 1:
            raise MidpointError(
                f"devices cannot reveal a share of {self.keep:g}; write one between 0 and 1, as in"
                " cmp:keep=0.5"
            )

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a name with settings, such as `cmp:levels=5:spread=on`."""
        name, *settings = text.split(":")
        chosen: dict[str, Any] = {}
        for setting in settings:
            key, _, value = setting.partition("=")
            try:
                chosen["assigned" if key == "sets" else key] = SETTINGS[key](value)
            except (KeyError, ValueError) as error:
                raise MidpointError(
                    f"scheme {text!r}: {setting!r} is no setting of a disclosure; write them as in"
                    " cmp:levels=5:spread=on"
                ) from error
        return cls(name, **chosen)

    @classmethod
    def of(cls, disclosure: Disclosure) -> Self:
        """Return by what a disclosure was made."""
        reported, prior = disclosure.scale.reported, disclosure.prior
        spread = prior is not None and prior.spread is not None
        levels = None if reported is None else len(reported)
        keep = disclosure.keep
        if keep is not None and (len(set(keep)) > 1 or keep[0] == ONE):
            keep = None  # those of a leak budget, which differ
        return cls(
            disclosure.scheme,
            levels,
            spread,
            disclosure.sets is not None,
            keep=round(keep[0] / ONE, 4) if keep and 0 < keep[0] < ONE else None,
            shift=prior is None or not _shifts_nothing(prior, len((disclosure.taste or ((),))[0])),
        )

    @property
    def share(self) -> float:
        """The share of what the scheme lets through that devices reveal."""
        return 1.0 if self.keep is None else self.keep

    @property
    def scheme(self) -> Scheme:
        """What devices do."""
        return SCHEMES[self.name]

    def __str__(self) -> str:
        """Write it as `read` reads it."""
        settings = [] if self.levels is None else [f"levels={self.levels}"]
        settings += ["spread=on"] * self.spread + ["shift=off"] * (not self.shift)
        settings += ["sets=assigned"] * self.assigned
        settings += [] if self.leak is None else [f"leak={self.leak:g}"]
        settings += [] if self.keep is None else [f"keep={self.keep:g}"]
        return ":".join([self.name, *settings])


def _shifts_nothing(prior: Prior, taste_factors: int) -> bool:
    """Tell whether all categories have one prior of taste factors, so that no value moves."""
    if not taste_factors:  # sets have none
        return False
    part = slice(-taste_factors, None)
    mean = np.asarray(prior.mean)[..., part]
    precision = np.asarray(prior.precision)[..., part, part]
    return all(bool((each == each[:, :1]).all()) for each in (mean, precision))


def require_suited(name: str, scale: Scale) -> None:
    """Refuse a scheme that changes values, where there are none to change."""
    if scale.is_unary and not SCHEMES[name].is_for_sets:
        raise MidpointError(
            f"scheme {name!r} changes values, and unary data has none; choose {FOR_SETS}"
        )


def reported_levels(scale: Scale, count: int | None) -> tuple[float, ...] | None:
    """Return so many of the levels, as evenly spaced as can be, the ends among them.

    What is reported is a rating, too. None if devices report on all levels.
    """
    if count is None:
        return None
    if scale.levels is None:
        raise MidpointError("devices report on fewer levels only where ratings come in levels")
    last = len(scale.levels) - 1
    if not 2 <= count <= last + 1:
        raise MidpointError(
            f"devices cannot report on {count} of {last + 1} levels; ask for 2 to {last}"
        )
    chosen = [(2 * k * last + count - 1) // (2 * (count - 1)) for k in range(count)]
    return None if count == last + 1 else tuple(scale.levels[index] for index in chosen)
