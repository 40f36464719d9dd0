"""Midpoint: a recommender that cannot learn what you keep private.

`load` reads ratings, `Analyst` trains and scores, `Device` protects one person, `obfuscate` a
whole population, and `audit` attacks. Each is imported when it is first used.
"""

from importlib import import_module

from midpoint.extras import explained

__version__ = "0.1.0"

__all__ = ["Analyst", "Device", "__version__", "audit", "load", "obfuscate"]

_HOMES = {
    "Analyst": "midpoint.analyst.analyst",
    "Device": "midpoint.user.agent.device",
    "load": "midpoint.data.sources.loader",
    "obfuscate": "midpoint.protocol.copies",
}
"""The module of each name; `audit` is a package that can be called."""


def __getattr__(name: str) -> object:
    """Import what is asked for (PEP 562), or say which extra to install for it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        if name == "audit":
            return import_module("midpoint.audit")
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        raise explained(name, error) from error


def __dir__() -> list[str]:
    return sorted(__all__)
