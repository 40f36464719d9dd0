"""The vectors of priors and reported levels that no message can have."""

import json
from collections.abc import Iterator
from typing import Any

from midpoint.wire import ONE, Refusal
from tests.support.made_up import disclosure
from tests.support.made_up_positions import counterparts_disclosure
from tests.support.vector_parts import text


def bad_priors() -> Iterator[tuple[str, str, str, Refusal]]:
    """Priors that are missing, where none belongs, or of another shape than the columns."""
    shown = counterparts_disclosure(n_items=2, selection_factors=1, taste_factors=1)
    good, plain = json.loads(text(shown)), json.loads(text(disclosure("dmpss", n_items=2)))
    values = json.loads(text(counterparts_disclosure("cmp", n_items=2, taste_factors=2)))
    rounds, stars = json.loads(text(disclosure("mpr", n_items=2))), plain["scale"]
    prior, shape, columns = good["prior"], Refusal.WRONG_SHAPE, Refusal.WRONG_COLUMNS
    empty = {
        "least": [[0, 0]],
        "mean": [[[], []]],
        "precision": [[[], []]],
        "map": [[[[], []], [[], []]]],
        "noise": ONE,
    }
    five = {name: prior[name] * 5 for name in ("least", "mean", "precision", "map")}
    many = [[0] * 513] * 2
    rows: list[tuple[str, Any, Refusal]] = [
        ("prior missing", {k: v for k, v in good.items() if k != "prior"}, columns),
        ("prior null", good | {"prior": None}, columns),
        ("prior where none belongs", plain | {"prior": prior}, columns),
        ("selection factors where none belong", values | {"selection": [[0], [0]], "rate":
        good["rate"]}, columns), ("selection factors missing", {k: v for k, v in good.items() if k
        != "selection"}, columns), ("a reveal probability as well", good | {"reveal":
        plain["reveal"]}, columns), ("prior without noise", good | {"prior": {k: prior[k] for k in
        prior if k != "noise"}},
         Refusal.MISSING_FIELD),
        ("prior with more", good | {"prior": prior | {"a": 1}}, Refusal.UNKNOWN_FIELD),
        ("prior with text", good | {"prior": prior | {"noise": "1"}}, Refusal.NOT_AN_INTEGER),
        ("prior as a list", good | {"prior": []}, shape),
        ("a mean too few", good | {"prior": prior | {"mean": [prior["mean"][0][:1]]}}, shape),
        ("a mean too short", good | {"prior": prior | {"mean": [[[0], [0]]]}}, shape),
        ("a precision too many", good | {"prior": prior | {"precision": [prior["precision"][0] *
        2]}},
         shape),
        ("a precision not square", good | {"prior": prior | {"precision": [[[[1, 2]], [[1, 2]]]]}},
         shape),
        ("maps of one category", good | {"prior": prior | {"map": [prior["map"][0][:1]]}}, shape),
        ("maps to one category", good | {"prior": prior | {"map": [[m[:1] for m in
        prior["map"][0]]]}},
         shape),
        ("a map too small", good | {"prior": prior | {"map": [[[[[1]]] * 2] * 2]}}, shape),
        ("no strata", good | {"prior": prior | {name: [] for name in five}}, shape),
        ("too many strata", good | {"prior": prior | five}, shape),
        ("means of one stratum more", good | {"prior": prior | {"mean": prior["mean"] * 2}}, shape),
        ("a stratum of one category", good | {"prior": prior | {"least": [[0]]}}, shape),
        ("the prior of other columns", values | {"taste": [[0], [0]]}, shape),
        ("selection factors of two lengths", good | {"selection": [[0], [0, 0]]}, shape),
        ("tastes of two lengths", good | {"taste": [[0], []]}, shape),
        ("a base too short", good | {"base": [[0, 0], [0]]}, shape),
        ("tastes of one item", good | {"taste": [[0]]}, shape),
        ("log spreads of one category", good | {"prior": prior | {"spread": [[[0, ONE]]]}}, shape),
        ("log spreads without deviations", good | {"prior": prior | {"spread": [[[0], [0]]]}},
         shape),
        ("log spreads of a stratum more", good | {"prior": prior | {"spread": [[[0, ONE]] * 2] *
        2}},
         shape),
        ("reported levels that are none", plain | {"scale": stars | {"reported": [ONE, 5 * ONE - 1,
        5 * ONE]}}, shape),
        ("reported levels without an end", plain | {"scale": stars | {"reported": [ONE, 2 * ONE]}},
         shape),
        ("all levels as reported ones", plain | {"scale": stars | {"reported": stars["levels"]}},
         shape),
        ("reported levels of no order", plain | {"scale": stars | {"reported": [ONE, 3 * ONE,
        2 * ONE, 5 * ONE]}}, shape),
        ("reported levels of a rounded shift", rounds | {"scale": stars | {"reported": [ONE,
        5 * ONE]}}, columns),
        ("no dimensions", good | {"selection": [[], []], "taste": [[], []], "prior": empty}, shape),
        ("too many dimensions", values | {"taste": many}, shape),
    ]  # fmt: skip
    for name, content, code in rows:
        yield name, "disclosure", json.dumps(content, separators=(",", ":"), sort_keys=True), code
