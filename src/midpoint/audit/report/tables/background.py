"""Background of the numbers: the data, what schemes assume, and the time."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from html import escape
from typing import Any

from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.html import table
from midpoint.audit.report.paper import PAPER_DATA, PaperData
from midpoint.audit.report.tradeoff import plain_schemes
from midpoint.audit.run.plan import DEFAULT, read_scheme
from midpoint.protocol import STATEMENTS, state


def data(results: AuditResults) -> Iterator[str]:
    """Describe the data as the paper's Table 1 does, with what that says of the same data."""
    about, theirs = results.description, PAPER_DATA.get(results.dataset)
    ours = {"all": (f"{about['users']:,}", f"{about['items']:,}", f"{about['ratings']:,}")}
    ours |= {
        one["name"]: (one["user_skew"], "-", one["rating_skew"])
        for one in about["features"]
        if one["name"] in results.feature.split("+")
    }
    said = {} if theirs is None else _said(theirs)
    blank = ("",) * 3
    cells = {
        name: [cell for pair in zip(said.get(name, blank), here, strict=True) for cell in pair]
        if said
        else here
        for name, here in ours.items()
    }
    heads = ["users", "items", "ratings"]
    if said:
        heads = [f"{what}, {whose}" for what in heads for whose in ("paper", "here")]
    yield table(
        f"{escape(results.dataset)}, as the paper's Table 1. Here, only people whose"
        " category is known.",
        ["", *heads],
        [[escape(name), *map(escape, row)] for name, row in cells.items()],
    )


def _said(theirs: PaperData) -> dict[str, tuple[str, str, str]]:
    """Lay out what the paper says of a data set, row by row."""
    whole = {"all": (theirs.users, theirs.items, theirs.ratings)}
    return whole | {name: (one[0], "-", one[1]) for name, one in theirs.skews.items()}


def assumed(results: AuditResults) -> Iterator[str]:
    """Say what each scheme assumes and promises."""
    rows = []
    for scheme, settings in _settings(results):
        if settings["name"] in STATEMENTS:
            says = state(
                settings["name"],
                discrete=results.discrete,
                alpha=settings["alpha"],
                unary=results.unary,
                shift=settings.get("shift", True),
            )
            parts = (scheme, says.discloses, says.assumes, says.guarantees, says.source)
            rows.append([escape(part) for part in parts])
    heads = ["scheme", "discloses", "assumes", "guarantees", "source"]
    yield table("", heads, rows, kind="words")


def _settings(results: AuditResults) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each scheme with its settings; of the scheme in use, those that folds chose."""
    for scheme in plain_schemes(results):
        if scheme != DEFAULT:
            yield scheme, results.schemes[scheme]
            continue
        for name in results.chosen():
            yield f"{scheme}: {name}", asdict(read_scheme(name))


def time(results: AuditResults) -> Iterator[str]:
    """Show where the time went."""
    total = sum(results.seconds.values()) or 1.0
    rows = [
        [escape(kind), f"{seconds:.1f}", f"{seconds / total:.0%}"]
        for kind, seconds in results.seconds.items()
    ]
    yield table("", ["task", "processor seconds", "share"], [*rows, ["all", f"{total:.1f}", ""]])
