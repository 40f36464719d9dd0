"""The figures of adversaries: how sure the judge of each is."""

from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.paper import stand_in
from midpoint.audit.report.style import COLOURS, DASHES, Picture, legend_beside, panels, picture
from midpoint.audit.report.verdict import headline
from midpoint.audit.run.plan import RAW

LEAST = 1e-3
"""Least false positive rate that is drawn where both axes are logarithmic."""


def roc_curves(results: AuditResults) -> Picture | None:
    """Draw the ROC curves of the judges, on raw ratings and on the scheme of the headline."""
    main = headline(results)
    wanted = dict.fromkeys([RAW, "" if main is None else main.scheme])
    shown = [
        (scheme, adversary, one)
        for scheme in wanted
        for adversary, one in results.judges.get(scheme, {}).items()
    ]
    if not shown:
        return None
    figure, (left, right) = panels(1, 2, height=3.4)
    styles = {scheme: DASHES[k % len(DASHES)] for k, scheme in enumerate(wanted)}
    colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(results.adversaries)}
    for scheme, adversary, one in shown:
        for axes in (left, right):
            axes.plot(one.false, one.true, label=f"{scheme}: {adversary}", linewidth=1.2,
                      color=colours.get(adversary, "black"), linestyle=styles[scheme])  # fmt: skip
    for axes in (left, right):
        axes.plot([LEAST, 1], [LEAST, 1], color="black", linewidth=0.7)
        axes.set(xlabel="false positive rate")
    left.set(xlim=(0, 1), ylim=(0, 1), ylabel="true positive rate")
    right.set(xscale="log", yscale="log", xlim=(LEAST, 1), ylim=(LEAST, 1))
    legend_beside(right)
    return picture(
        figure,
        "How sure the judge is",
        "ROC curves of the judge of each adversary, on raw ratings and on the scheme in use: how"
        " many people of a category are found (upwards) if so many of the others are taken for it"
        " (to the right). The right panel shows the same on logarithmic axes, where an attack that"
        " is sure of a few people shows. The thin line is blind guessing.",
        stand_in(results.dataset),
    )
