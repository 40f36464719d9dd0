"""One message of each kind, for the tests of the wire."""

import json
from typing import Any

import numpy as np

from midpoint.wire import (
    ONE,
    SCHEMES,
    Catalogue,
    Certificate,
    Certificates,
    Chain,
    Disclosure,
    Entry,
    FeatureNames,
    Message,
    Prior,
    Problem,
    RatingScale,
    Receipt,
    Refusal,
    RefusedError,
    Report,
    Scores,
    Signed,
    SigningKey,
    Solicitation,
    SolicitationRequest,
    as_rows,
)

ZERO = "0" * 64

KEY = SigningKey(bytes(32))

STARS = RatingScale(low=ONE, high=3 * ONE, levels=(ONE, 2 * ONE, 3 * ONE))

GENDER = FeatureNames(name="gender", categories=("F", "M"))

COLUMN: dict[str, Any] = {
    "offset": ((-5, 5), (7, -7)),
    "reveal": ((ONE, 9), (ONE, ONE)),
    "levels": (((ONE, 0, 0), (0, ONE, 0)), ((0, 0, ONE), (1, 1, ONE - 2))),
    "average": ((ONE, 2 * ONE), (ONE, ONE)),
    "rate": ((-256, 0), (9, 9)),
    "selection": ((3,), (-4,)),
    "base": ((512, 520), (500, 9)),
    "taste": ((5, 6), (-7, 8)),
}

ITEM_AVERAGE = ((ONE,), (2 * ONE,))


def prior(K: int = 2, D: int = 3) -> Prior:
    """Return a prior that changes nothing, of K categories in D dimensions."""
    unit = as_rows(np.eye(D) * ONE)
    return Prior(
        least=((0,) * K,),
        mean=as_rows(np.arange(K * D).reshape(1, K, D)),
        precision=((unit,) * K,),
        map=(((unit,) * K,) * K,),
        noise=ONE,
    )


def example(scheme: str = "dmpss", **changes: Any) -> Disclosure:
    """Return a disclosure of two items."""
    columns = {name: COLUMN[name] for name in SCHEMES[scheme].columns}
    if scheme in ("ia", "ssia"):
        columns["average"] = ITEM_AVERAGE
    content: dict[str, Any] = {
        "scheme": scheme,
        "features": (GENDER,),
        "scale": STARS,
        "items": ("a", "b"),
        **columns,
    }
    if SCHEMES[scheme].counterparts:
        content["prior"] = prior(D=3 if SCHEMES[scheme].sub_samples else 2)
    return Disclosure(**(content | changes))


CERTIFICATE = Certificate(
    disclosure=ZERO,
    data=ZERO,
    auditor="somebody",
    key=KEY.public,
    attack="trees",
    auc=510_000,
    auc_low=490_000,
    auc_high=530_000,
    null_low=480_000,
    null_high=520_000,
    rmse_cost=-12,
    time=5,
)

ENTRY = Entry(sequence=0, disclosure=ZERO, time=0, key=KEY.public)

MESSAGES: list[Message] = [
    *(example(scheme) for scheme in SCHEMES),
    Solicitation(disclosure=ZERO, round=3, items=("a", "b"), open=True),
    Report(id="0" * 32, disclosure=ZERO, round=3, answers=(("a", -5), ("b", ONE))),
    Scores(disclosure=ZERO, items=("a", "b"), score=(1, -1), deviation=(0, 2)),
    ENTRY,
    Entry(sequence=1, disclosure=ZERO, previous=ZERO, time=0, key=KEY.public),
    CERTIFICATE,
    Signed.seal(CERTIFICATE, KEY),
    SolicitationRequest(disclosure=ZERO),
    Receipt(report=ZERO, answers=7),
    Problem(code="not_current", message="this is not current"),
    Catalogue(items=("a", "b"), titles=("Ça va \u200d?", "B"), ratings=(0, 9)),
    Chain(entries=(Signed.seal(ENTRY, KEY), Signed.seal(ENTRY, KEY))),
    Certificates(certificates=()),
    Certificates(certificates=(Signed.seal(CERTIFICATE, KEY),)),
]

REPORT = next(message for message in MESSAGES if isinstance(message, Report))


def code_of(kind: type[Message], content: object) -> Refusal | None:
    """Return the code by which such a message is refused; None if it is read."""
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    try:
        kind.parse(raw)
    except RefusedError as refused:
        return refused.code
    return None
