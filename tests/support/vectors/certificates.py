"""The vectors of certificates: taken, shown as none, or refused."""

from collections.abc import Iterator, Sequence

from midpoint.wire import MILLION, Certificate, Refusal, Signed
from midpoint.wire.record import MOST_AUC
from tests.support.people.made_up import AUDITOR, STRANGER, certificate, disclosure
from tests.support.vectors.parts import Case, text


def certificates() -> Iterator[Case]:
    shown = disclosure("dmpss")
    measured = certificate(shown.digest, data="ab" * 32, auc_low=498_000, auc_high=544_000)
    good, trusted = Signed.seal(measured, AUDITOR), [AUDITOR.public]
    forged = Signed.seal(measured, STRANGER)
    rows: list[tuple[str, Signed | None, str, Sequence[str], bool, Refusal | bool]] = [
        ("trusted", good, shown.digest, trusted, True, True),
        ("auditor not trusted", good, shown.digest, [], False, False),
        ("none", None, shown.digest, trusted, False, False),
        ("none, but required", None, shown.digest, trusted, True, Refusal.NOT_CERTIFIED),
        ("forged", forged, shown.digest, trusted, False, Refusal.BAD_CERTIFICATE),
        ("of another disclosure", good, "0" * 64, trusted, False, Refusal.BAD_CERTIFICATE),
    ]
    for name, signed, digest, keys, required, expected in rows:
        yield _certified(name, signed, digest, keys, expected, required=required)

    def with_interval(low: int, auc: int, high: int) -> Signed:
        figures = {"auc_low": low, "auc": auc, "auc_high": high}
        return Signed.seal(measured.model_copy(update=figures), AUDITOR)

    certain, no = with_interval(990_000, MILLION, MILLION), Refusal.NOT_CERTIFIED
    limits: list[tuple[str, Signed, Sequence[str], int, Refusal | bool]] = [
        ("certain", certain, trusted, MOST_AUC, no),
        ("certain, and no limit", certain, trusted, MILLION, True),
        ("certain, by somebody not trusted", certain, [], MOST_AUC, False),
        ("certain, sign flipped", with_interval(0, 0, 10_000), trusted, MOST_AUC, no),
        ("flipped, beyond", with_interval(399_999, 410_000, 420_000), trusted, MOST_AUC, no),
        ("interval beyond", with_interval(400_001, 500_000, 600_001), trusted, MOST_AUC, no),
        ("interval within", with_interval(400_000, 500_000, 600_000), trusted, MOST_AUC, True),
        ("beyond a limit of her own", good, trusted, 543_999, no),
        ("within a limit of her own", good, trusted, 544_000, True),
        (
            "saying against whom",
            Signed.seal(_stated(measured), AUDITOR),
            trusted,
            MOST_AUC,
            True,
        ),
    ]
    for name, signed, keys, most, expected in limits:
        yield _certified(name, signed, shown.digest, keys, expected, most_auc=most)
    whole = _stated(measured)
    for name, made, expected in (
        ("saying all, as demanded", whole, True),
        ("not saying against whom", whole.model_copy(update={"adversary": None}), no),
        ("not saying on how many", whole.model_copy(update={"people": None}), no),
        ("against somebody unknown", whole.model_copy(update={"adversary": "oracle"}), no),
        ("on nobody", whole.model_copy(update={"people": 0}), no),
    ):
        sealed_one = Signed.seal(made, AUDITOR)
        yield _certified(name, sealed_one, shown.digest, trusted, expected, stated=True)


def _stated(certificate: Certificate) -> Certificate:
    """Say all that a certificate can say of how it was measured."""
    figures = {"given": 700_000, "tpr_at_1": 21_000, "tpr_at_01": 2_500, "named": 1_200,
               "balanced_accuracy": 513_000, "ndcg_cost": 21_000}  # fmt: skip
    counts = {"panel": 4_000, "outsiders": 1_000, "folds": 10, "people": 6_040, "attackers": 34}
    return certificate.model_copy(update={"adversary": "outsider", **figures, **counts})


def _certified(
    name: str,
    signed: Signed | None,
    digest: str,
    keys: Sequence[str],
    expected: Refusal | bool,
    *,
    required: bool = False,
    most_auc: int = MILLION,
    stated: bool = False,
) -> Case:
    return {
        "name": name,
        "certificate": None if signed is None else text(signed),
        "digest": digest,
        "trusted": list(keys),
        "required": required,
        "most_auc": most_auc,
        "stated": stated,
        "expect": {"certified": expected} if expected in (True, False) else {"code": expected},
    }
