"""Judges that nobody trained, beside the strongest attacker."""

from collections.abc import Mapping
from dataclasses import replace

from midpoint.audit.measure.findings import SHARPNESS, Adversary, Band, Judge
from midpoint.audit.measure.results import AuditResults
from tests.support.audits.made_up_results import made_up

SHARP = {"clean": 0.011, "panel": 0.012, "outsider": 0.034}
"""How sharp each judge is, by every measure."""
OUTSIDERS = 40


def judged(value: float, *, single: float, adversary: str = "panel") -> AuditResults:
    """Invent a judge of dmpss beside the strongest attacker, each with a band of its own."""
    return judged_by({adversary: value}, single=single)


def judged_by(values: Mapping[str, float], *, single: float) -> AuditResults:
    """Invent judges of dmpss by adversary; the attackers `lr` and `a` are the panel's, or all."""
    results = made_up({"no": {"lr": 0.8, "a": 0.8}, "dmpss": {"lr": 0.5, "a": single}})
    rows, judges, adversaries = [], {}, {}
    for adversary, value in values.items():
        attack, own = f"judge:{adversary}", ("lr", "a") if adversary != "outsider" else ()
        row = results.rows[0]._replace(scheme="dmpss", attack=attack, value=value, low=value - 0.01,
                                       high=value + 0.01)  # fmt: skip
        rows += [row, *(row._replace(metric=m, value=SHARP[adversary]) for m in SHARPNESS)]
        band = Band(0.48, 0.52, 2, 0.01, 0.975)
        judges[adversary] = Judge(attack, band, {"lr": 0.3, "a": 0.7}, 0.9, (0, 1), (0, 1))
        outsiders = OUTSIDERS if adversary == "outsider" else 0
        bands = {"dmpss": results.bands["dmpss"]}
        adversaries[adversary] = Adversary("everything", own, 90, outsiders, bands)
    return replace(
        results, rows=(*results.rows, *rows), judges={"dmpss": judges}, adversaries=adversaries
    )


def decided_by_clean(*others: str) -> AuditResults:
    """Have a clean attacker find more than the judges of others, who know the scheme."""
    results = judged_by(dict.fromkeys(("clean", *others), 0.55), single=0.7)
    known = {
        name: replace(one, attacks=("a",) if name == "clean" else ("lr",))
        for name, one in results.adversaries.items()
    }
    return replace(results, adversaries=known)
