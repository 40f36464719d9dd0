"""Results of an audit that nobody ran."""

from typing import Any

from midpoint.audit.measure.findings import Band, ByActivity, Control, Histogram, Row
from midpoint.audit.measure.results import AuditResults

ERRORS = {"rmse_inferred": 1.01, "rmse_blind": 1.0, "rmse_local": 0.98}
AREAS = {
    "no": {"lr": 0.83, "adaptive-lr-items": 0.86, "fraction": 0.5},
    "mp": {"lr": 0.81, "adaptive-lr-items": 0.85, "fraction": 1.0},
    "dmpss": {"lr": 0.48, "adaptive-lr-items": 0.56, "fraction": 0.5},
}
BITS = {"no": 0.0, "mp": 19.0, "dmpss": 136.0, "cmpss": 466.0}


def made_up(areas: dict[str, dict[str, float]] | None = None, **changes: Any) -> AuditResults:
    """Invent results with these AUCs, all within 0.02, and a chance band of 0.47 to 0.53."""
    read = areas or AREAS
    dataset, feature = changes.get("dataset", "invented"), changes.get("feature", "gender")

    def row(scheme: str, metric: str, attack: str, value: float, half: float) -> Row:
        low, high = max(value - half, 0), value + half
        high = min(high, 1.0) if metric == "auc" else high
        return Row(dataset, feature, scheme, metric, attack, value, low, high, 10, 0)

    rows = []
    for scheme, found in read.items():
        rows += [row(scheme, "auc", attack, value, 0.02) for attack, value in found.items()]
        worse = {"no": 1.0, "mp": 1.01}.get(scheme, 1.02)
        rows += [row(scheme, metric, "", worse * value, 0.01) for metric, value in ERRORS.items()]
        rows.append(row(scheme, "withheld", "", 0.2 if scheme == "dmpss" else 0.0, 0.0))
        rows.append(row(scheme, "disclosed_bits", "", BITS.get(scheme, 50.0), 0.0))
    attacks = list(read["no"])
    controls = {name: Control("no", read["no"][name], read["no"][name] > 0.55) for name in attacks}
    if "fraction" in attacks and "mp" in read:
        controls["fraction"] = Control("mp", read["mp"]["fraction"], reads=True)
    base: dict[str, Any] = {
        "dataset": dataset,
        "data_digest": "d" * 64,
        "feature": feature,
        "categories": ("F", "M"),
        "discrete": True,
        "folds": 10,
        "seed": 0,
        "code": "c" * 64,
        "rows": tuple(rows),
        "bands": {scheme: Band(0.47, 0.53, len(attacks), 0.01) for scheme in read},
        "controls": controls,
        "adaptive": {name: name not in {"lr", "nb", "lse", "svm"} for name in attacks},
        "per_fold": {s: {a: (v, v) for a, v in found.items()} for s, found in read.items()},
        "histograms": {
            s: {a: Histogram((0, 1, 2), ((3, 4), (5, 6))) for a in attacks} for s in read
        },
        "activity": {
            s: ByActivity("lr", (10, 20, 40, 90), (0.5, 0.6, 0.6, 0.7), (0.4,) * 4, (0.8,) * 4)
            for s in read
        },
        "withheld": {s: tuple(k / 20 for k in range(11)) for s in read},
        "schemes": {s: settings(s) for s in read},
        "seconds": {"lr": 3.0, "learn": 1.0},
        "description": {
            "users": 60,
            "items": 30,
            "ratings": 900,
            "features": [
                {"name": "gender", "user_skew": "F:M 1:2.5", "rating_skew": "F:M 1:3"},
                {"name": "height", "user_skew": "tall:short 1:1", "rating_skew": "1:1"},
            ],
        },
    }
    return AuditResults(**(base | changes))


def settings(scheme: str) -> dict[str, Any]:
    """Return a protocol's settings as an audit keeps them."""
    name, *chosen = scheme.split(":")
    own = dict(part.split("=") for part in chosen if "=" in part)
    more: dict[str, Any] = {"share": float(own["share"])} if "share" in own else {}
    kind = "audit.run.curves.Thinned" if more else "protocol.learning.LearningProtocol"
    if "rounds" in own:
        device = chosen[-1] if "=" not in chosen[-1] else "final"
        kind, more = "audit.rounds.protocol.RoundsProtocol", {"rounds": 4, "device": device}
    return more | {
        "kind": f"midpoint.{kind}",
        "name": name,
        "estimation": "shrunken",
        "bits": int(own["bits"]) if "bits" in own else None,
        "alpha": float(own.get("alpha", 1.0)),
        "estimator": "map",
        "levels": int(own["levels"]) if "levels" in own else None,
        "spread": own.get("spread") == "on",
        "leak": float(own["leak"]) if "leak" in own else None,
        "keep": float(own["keep"]) if "keep" in own else None,
        "shift": own.get("shift") != "off",
    }
