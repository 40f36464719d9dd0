"""Every attacker in a line: what it looks at, and how it learns."""

from collections.abc import Iterator
from html import escape

from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.html import table
from midpoint.audit.run.adversaries.catalogue import OUTSIDER
from midpoint.audit.run.adversaries.judge import JUDGE

PROFILE = "her estimated taste and sums over her protected report"
EXPLAINED = {
    "lse": "the paper's: fits a taste to the ratings once for each category, and takes the category"
    " that fits better",
    "lse-penalized": "the same, with the penalty of the fit on the taste",
    "lse-matched": "the same, with a penalty fitted to the paper's error",
    "nb": "naive Bayes on raw ratings: adds up, title by title, how each category rates",
    "lr": "logistic regression on raw ratings: a weight for every title",
    "svm": "support vectors on raw ratings: who rates most like her",
    "adaptive-lr-items": "logistic regression on protected ratings: a weight for every title"
    " revealed and for its value",
    "adaptive-svm-items": "support vectors on protected ratings: whose report is most like hers",
    "adaptive-lr-levels": "logistic regression on protected ratings: a weight for every title at"
    " every number of stars",
    "adaptive-quadratic-levels": "a weight for every pair of titles at their numbers of stars, on"
    " protected ratings",
    "adaptive-lr-mask": "logistic regression on which titles were revealed, whatever their ratings",
    "adaptive-trees-items": "gradient-boosted trees on protected ratings: rules such as “this title"
    " high and that one missing”",
    "adaptive-lr-profile": f"logistic regression on {PROFILE}",
    "adaptive-svm-profile": f"support vectors on {PROFILE}",
    "adaptive-trees-profile": f"gradient-boosted trees on {PROFILE}",
    "adaptive-mlp-profile": f"two small neural networks on {PROFILE}",
    "adaptive-quadratic-profile": "logistic regression on pairs of numbers of her estimated taste",
    "adaptive-lr-panel": "compares her protected report with those of each category of the panel"
    " under the same disclosure; how much that counts is learned from people outside that panel",
    "fraction": "looks at the digits after the decimal point: whole stars minus an offset show the"
    " offset",
    "likelihood": "computes by the scheme's own formula how likely her report is in each category",
}
"""What each attacker of the catalogue does."""


def explained(attack: str) -> str:
    """Say in a line what an attacker does; one of an auditor's own is said to be that."""
    whose, _, name = attack.rpartition(":")
    words = EXPLAINED.get(name, "the auditor's own attacker")
    if whose == JUDGE:
        return f"combines all attackers of “{name}”, with weights learned from training people"
    if whose == OUTSIDER:
        return f"{words}; trained on people outside the panel whose category is known"
    return f"{words}; trained on the panel under the published disclosure" if whose else words


def attackers(results: AuditResults) -> Iterator[str]:
    """Explain every attacker that took part."""
    judges = {one.attack for own in results.judges.values() for one in own.values()}
    names = [*results.attack_names(), *sorted(name.partition("[")[0] for name in judges)]
    rows = [[escape(name), escape(explained(name))] for name in dict.fromkeys(names)]
    yield table("Who attacked, and how.", ["attacker", "what it does"], rows, kind="words")
