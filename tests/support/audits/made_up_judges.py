"""A judge that nobody trained, beside the strongest attacker."""

from dataclasses import replace

from midpoint.audit.measure.findings import Adversary, Band, Judge
from midpoint.audit.measure.results import AuditResults
from tests.support.audits.made_up_results import made_up


def judged(value: float, *, single: float, adversary: str = "panel") -> AuditResults:
    """Invent a judge of dmpss beside the strongest attacker, each with a band of its own."""
    results = made_up({"no": {"lr": 0.8, "a": 0.8}, "dmpss": {"lr": 0.5, "a": single}})
    attack = f"judge:{adversary}"
    row = results.rows[0]._replace(scheme="dmpss", attack=attack, value=value, low=value - 0.01,
                                   high=value + 0.01)  # fmt: skip
    share = row._replace(metric="named", value=0.012)
    one = Judge(
        attack, Band(0.48, 0.52, 2, 0.01, 0.975), {"lr": 0.3, "a": 0.7}, 0.9, (0, 1), (0, 1)
    )
    known = Adversary("everything", ("lr", "a"), 90, 0, {"dmpss": results.bands["dmpss"]})
    return replace(
        results,
        rows=(*results.rows, row, share),
        judges={"dmpss": {adversary: one}},
        adversaries={adversary: known},
    )
