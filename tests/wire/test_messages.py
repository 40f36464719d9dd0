import gzip
import hashlib
import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

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
    from_fixed,
    to_fixed,
)
from midpoint.wire.canonical import LARGEST_MESSAGE, _without_doubles

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
AS_EVER = "dda795e31aa4d45bb9bb9472961235fc9dbf000d993f88354b7cac15bcf5f4ab"
"""Digest of the numbers of the first example, as ledgers hold it since before counterparts."""


def prior(K: int = 2, D: int = 3) -> Prior:
    unit = as_rows(np.eye(D) * ONE)
    return Prior(
        least=((0,) * K,),
        mean=as_rows(np.arange(K * D).reshape(1, K, D)),
        precision=((unit,) * K,),
        map=(((unit,) * K,) * K,),
        noise=ONE,
    )


def example(scheme: str = "dmpss", **changes: Any) -> Disclosure:
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


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
def test_a_message_comes_back_as_it_was_sent(message: Message) -> None:
    again = type(message).parse(message.raw)
    assert again == message
    assert again.raw == message.raw
    assert dict(again) == dict(message)
    assert message.digest == hashlib.sha256(message.raw).hexdigest()
    canonical = json.dumps(
        json.loads(message.raw), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert message.raw.decode() == canonical


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
def test_unknown_fields_and_missing_fields_are_refused(message: Message) -> None:
    content = json.loads(message.raw)
    assert code_of(type(message), {**content, "private": 1}) == Refusal.UNKNOWN_FIELD
    optional = {*COLUMN, "prior", "previous"}
    for field in content.keys() - optional:
        rest = {name: value for name, value in content.items() if name != field}
        assert code_of(type(message), rest) == Refusal.MISSING_FIELD


def code_of(kind: type[Message], content: object) -> Refusal | None:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    try:
        kind.parse(raw)
    except RefusedError as refused:
        return refused.code
    return None


def test_a_message_inside_another_is_whole_and_has_its_own_bytes() -> None:
    chain = Chain.parse(Chain(entries=(Signed.seal(ENTRY, KEY),)).raw)
    assert chain.entries[0].raw == Signed.seal(ENTRY, KEY).raw
    assert chain.entries[0].open(Entry) == ENTRY
    for field, code in (
        ("version", Refusal.MISSING_FIELD),
        ("signature", Refusal.MISSING_FIELD),
        ("more", Refusal.UNKNOWN_FIELD),
    ):
        content = json.loads(chain.raw)
        if content["entries"][0].pop(field, None) is None:
            content["entries"][0][field] = 1
        assert code_of(Chain, content) == code


def test_a_list_is_never_empty_and_columns_are_equally_long() -> None:
    with pytest.raises(ValidationError):
        Chain(entries=())
    for titles, ratings in ((("A",), (1, 2)), (("A", "B"), (1,))):
        with pytest.raises(ValidationError, match="differ in length"):
            Catalogue(items=("a", "b"), titles=titles, ratings=ratings)
    with pytest.raises(ValidationError, match="ascending"):
        Catalogue(items=("b", "a"), titles=("A", "B"), ratings=(1, 2))


@pytest.mark.parametrize("text", ["a\nb", "\x1b[2J", "a\x7f", "a\x85", "a\u2028b", ""])
def test_titles_and_problems_print_as_one_line(text: str) -> None:
    with pytest.raises(ValidationError):
        Catalogue(items=("a",), titles=(text,), ratings=(1,))
    if text:
        with pytest.raises(ValidationError):
            Problem(code="malformed", message=text)
    for long in (1, 500, 501):
        content = {"items": ["a"], "titles": ["é" * long], "ratings": [1], "version": 1}
        assert code_of(Catalogue, content) == (Refusal.WRONG_SHAPE if long > 500 else None)


def test_whether_a_round_is_open_is_said_by_true_or_false() -> None:
    content = json.loads(Solicitation(disclosure=ZERO, round=0, items=(), open=False).raw)
    assert code_of(Solicitation, content) is None
    values: list[object] = [0, 1, "true", None, []]
    for value in values:
        assert code_of(Solicitation, {**content, "open": value}) == Refusal.WRONG_SHAPE


def test_exact_bytes_are_kept_and_never_made_again() -> None:
    spaced = json.dumps(json.loads(example().raw), indent=1).encode()
    received = Disclosure.parse(spaced)
    assert received.raw == spaced
    assert received.digest == hashlib.sha256(spaced).hexdigest()
    assert received.digest != example().digest
    assert received != example()


def test_a_changed_copy_does_not_keep_the_old_bytes() -> None:
    received = Disclosure.parse(example().raw)
    copy = received.model_copy(update={"items": ("a", "c")})
    assert Disclosure.parse(copy.raw).items == ("a", "c")
    with pytest.raises(ValidationError):
        received.model_copy(update={"items": ("c", "a")})


def test_a_report_has_room_for_nothing_else() -> None:
    assert set(Report.model_fields) == {"version", "id", "disclosure", "round", "answers"}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_columns_are_there_exactly_when_the_scheme_needs_them(scheme: str) -> None:
    needed = SCHEMES[scheme].columns
    content = json.loads(example(scheme).raw)
    assert code_of(Disclosure, content) is None
    for name, column in COLUMN.items():
        if name in needed:
            changed = {key: value for key, value in content.items() if key != name}
        else:
            changed = {**content, name: column}
        assert code_of(Disclosure, changed) == Refusal.WRONG_COLUMNS


@pytest.mark.parametrize(
    ("scheme", "changes"),
    [
        ("dmp", {"levels": COLUMN["levels"][:1]}),
        ("dmp", {"levels": (((ONE, 0), (0, ONE)),) * 2}),
        ("dmp", {"levels": (((ONE, 0, 0),),) * 2}),
        ("mp", {"offset": ((1, 2, 3), (1, 2, 3))}),
        ("ia", {"average": COLUMN["average"]}),
        ("fa", {"average": ITEM_AVERAGE}),
        ("no", {"items": ("b", "a")}),
        ("no", {"items": ("a", "a")}),
        ("no", {"items": ("", "a")}),
        ("no", {"features": (GENDER, GENDER)}),
        ("no", {"features": tuple(GENDER.model_copy(update={"name": str(n)}) for n in range(11))}),
        ("cmpss", {"taste": ((5, 6), (-7,))}),
        ("cmpss", {"selection": ((3,), ())}),
        ("cmpss", {"rate": ((1,), (1,))}),
        ("cmp", {"base": ((1, 2, 3), (1, 2, 3))}),
        ("cmp", {"taste": ((), ())}),
        ("no", {"bits": 0}),
        ("no", {"bits": 17}),
    ],
)
def test_wrong_shapes_are_refused(scheme: str, changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        example(scheme, **changes)


@pytest.mark.parametrize(
    "wrong",
    [
        prior(K=3),
        prior(D=2),
        prior(D=4),
        *(
            prior().model_copy(update={name: tuple(part[:-1] for part in getattr(prior(), name))})
            for name in ("least", "mean", "precision", "map")
        ),
        *(
            prior().model_copy(update={name: getattr(prior(), name) * 2})
            for name in ("least", "mean", "precision", "map")
        ),
        prior().model_copy(update={"mean": ((prior().mean[0][0], prior().mean[0][1][:2]),)}),
        prior().model_copy(
            update={"precision": ((prior().precision[0][0], prior(D=2).precision[0][1]),)}
        ),
        prior().model_copy(update={"map": ((prior().map[0][0], (prior(D=2).map[0][0][0],) * 2),)}),
    ],
)
def test_a_law_has_the_shape_of_the_columns(wrong: Prior) -> None:
    assert example("cmpss", prior=prior()).prior == prior()
    with pytest.raises(ValidationError, match="shape of the columns"):
        example("cmpss", prior=wrong)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_law_is_there_exactly_when_the_scheme_has_counterparts(scheme: str) -> None:
    content = json.loads(example(scheme).raw)
    if SCHEMES[scheme].counterparts:
        del content["prior"]
    else:
        content["prior"] = json.loads(example("cmp").raw)["prior"]
    assert code_of(Disclosure, content) == Refusal.WRONG_COLUMNS


def test_a_law_has_no_more_numbers_than_a_device_wants_to_read() -> None:
    taste_factors = ((0,) * 64,) * 2
    example("cmp", taste=taste_factors, prior=prior(D=64))
    with pytest.raises(ValidationError, match="too many"):
        example("cmp", taste=((0,) * 65,) * 2, prior=prior(D=65))


def test_fields_of_a_law_are_strict() -> None:
    content = json.loads(example("cmp").raw)
    for change, code in (
        ({"noise": 0.5}, Refusal.NOT_AN_INTEGER),
        ({"noise": None}, Refusal.NOT_AN_INTEGER),
        ({"mean": [[["1", 2], [3, 4]]]}, Refusal.NOT_AN_INTEGER),
        ({"secret": 1}, Refusal.UNKNOWN_FIELD),
    ):
        changed = {**content, "prior": {**content["prior"], **change}}
        assert code_of(Disclosure, changed) == code
    for field in content["prior"]:
        rest = {name: value for name, value in content["prior"].items() if name != field}
        assert code_of(Disclosure, {**content, "prior": rest}) == Refusal.MISSING_FIELD


def test_a_discrete_scheme_needs_a_discrete_scale() -> None:
    smooth = RatingScale(low=ONE, high=3 * ONE)
    assert example("mpss", scale=smooth).scale.levels is None
    for scheme in ("mpr", "mpssr", "dmp", "dmpss", "cmp", "cmpss"):
        with pytest.raises(ValidationError, match="discrete scale"):
            example(scheme, scale=smooth)


@pytest.mark.parametrize("levels", [(ONE, ONE), (ONE, 3 * ONE, 2 * ONE), (0, 3 * ONE), (ONE,)])
def test_a_scale_ascends_from_low_to_high(levels: tuple[int, ...]) -> None:
    with pytest.raises(ValidationError):
        RatingScale(low=ONE, high=3 * ONE, levels=levels)


def test_cells_of_several_features_multiply() -> None:
    age = FeatureNames(name="age", categories=("young", "middle", "old"))
    assert example("no", features=(GENDER, age)).n_cells == 6


def test_the_numbers_of_an_item_are_all_that_is_disclosed_of_it() -> None:
    one = example()
    other = example(reveal=((ONE, 9), (ONE, ONE - 1)))
    assert one.numbers_of(0) == other.numbers_of(0)
    assert one.numbers_of(1) != other.numbers_of(1)
    assert one.numbers_of(0) != example("dmp").numbers_of(0)
    assert one.numbers_of(0) == AS_EVER
    index = example("cmpss")
    assert len({example(scheme).numbers_of(0) for scheme in ("dmp", "dmpss", "cmp", "cmpss")}) == 4
    for name in sorted(SCHEMES["cmpss"].columns):
        rows = COLUMN[name]
        changed = example("cmpss", **{name: (rows[0], rows[0])})
        assert changed.numbers_of(0) == index.numbers_of(0)
        assert changed.numbers_of(1) != index.numbers_of(1)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b"65536", b"65536.0", Refusal.NOT_AN_INTEGER),
        (b"65536", b"6.5536e4", Refusal.NOT_AN_INTEGER),
        (b"65536", b"NaN", Refusal.NOT_AN_INTEGER),
        (b"65536", b"true", Refusal.NOT_AN_INTEGER),
        (b'"version":1', b'"version":true', Refusal.NOT_AN_INTEGER),
        (b'"version":1', b'"version":2', Refusal.UNKNOWN_VERSION),
        (b"65536", b"9007199254740992", Refusal.INTEGER_TOO_LARGE),
        (b"65536", b"-9007199254740992", Refusal.INTEGER_TOO_LARGE),
        (b"65536", b"9" * 5000, Refusal.INTEGER_TOO_LARGE),
        (b'"name"', b'"name":"x","name"', Refusal.DUPLICATE_KEY),
        (b'"a"', b'"\xff"', Refusal.NOT_JSON),
        (b'"a"', b"[" * 100_000, Refusal.NOT_JSON),
        (b'"dmpss"', b'"xyz"', Refusal.UNKNOWN_SCHEME),
    ],
)
def test_what_readers_could_understand_differently_is_refused(
    old: bytes, new: bytes, code: Refusal
) -> None:
    assert code_of(Disclosure, example().raw) is None
    assert code_of(Disclosure, example().raw.replace(old, new, 1)) == code


@given(st.binary(max_size=60))
def test_noise_is_refused_and_never_crashes(raw: bytes) -> None:
    assert code_of(Report, raw) is not None


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=3))
def test_damage_is_refused_or_changes_the_digest(index: int, patch: bytes) -> None:
    raw = REPORT.raw
    at = index % len(raw)
    changed = raw[:at] + patch + raw[at + len(patch) :]
    if changed != raw and code_of(Report, changed) is None:
        assert Report.parse(changed).digest != REPORT.digest


@pytest.mark.parametrize("name", ["a b", "Zoë", "東京", "🎬", "\ue000", "naïve-1.0/2", "ß"])
def test_names_that_show_are_taken(name: str) -> None:
    assert code_of(Report, answer_about(name)) is None


@pytest.mark.parametrize(
    "name",
    ["a ", " a", "a\u00a0b", "a\u2003b", "a\u2028", "a\u200b", "\u202ea", "a\x00", "a\tb", "\x7f",
     "\ufeffa", "e\u0301", "\u212b", " "],
)  # fmt: skip
def test_names_that_look_like_others_are_refused(name: str) -> None:
    assert code_of(Report, answer_about(name)) == Refusal.BAD_NAME


def answer_about(name: str) -> bytes:
    content = json.loads(Report(id="0" * 32, disclosure=ZERO, round=1, answers=()).raw)
    return json.dumps({**content, "answers": [[name, 1]]}).encode()


def test_a_message_too_long_is_refused_unread() -> None:
    assert code_of(Report, b" " * (LARGEST_MESSAGE + 1)) == Refusal.TOO_LONG
    assert code_of(Report, b" " * 1000) == Refusal.NOT_JSON


def test_the_second_of_two_keys_is_found_in_one_pass() -> None:
    class Counted(str):
        __slots__ = ()
        asked = 0

        def __hash__(self) -> int:
            Counted.asked += 1
            return super().__hash__()

        def __eq__(self, other: object) -> bool:
            Counted.asked += 1
            return super().__eq__(other)

    keys = [*range(2000), 1999]
    with pytest.raises(RefusedError, match="'1999' appears twice"):
        _without_doubles([(Counted(key), 1) for key in keys])
    assert Counted.asked < 20 * len(keys)


def test_scores_leave_room_for_an_offset() -> None:
    for score, code in ((2**52, None), (2**52 + 1, Refusal.WRONG_SHAPE)):
        content = {"disclosure": ZERO, "items": ["a"], "score": [score], "deviation": [0]}
        assert code_of(Scores, {**content, "version": 1}) == code


def test_intervals_and_first_entries_are_checked() -> None:
    with pytest.raises(ValidationError, match="interval"):
        CERTIFICATE.model_copy(update={"auc": 540_000})
    for sequence, previous in ((0, ZERO), (1, None)):
        with pytest.raises(ValidationError, match="first entry"):
            Entry(sequence=sequence, previous=previous, disclosure=ZERO, time=0, key=ZERO)


def test_messages_pickle_between_processes() -> None:
    received = Disclosure.parse(example().raw + b"\n")
    assert pickle.loads(pickle.dumps(received)).raw == received.raw  # noqa: S301


def test_a_refusal_says_why_in_words_and_by_code_and_survives_a_process() -> None:
    refused = RefusedError(Refusal.ROLLED_BACK, "this is older")
    assert str(refused) == "this is older [rolled_back]"
    again = pickle.loads(pickle.dumps(refused))  # noqa: S301
    assert (again.code, str(again)) == (Refusal.ROLLED_BACK, str(refused))


@given(st.floats(-1000, 1000))
def test_fixed_point_is_within_half_a_unit(value: float) -> None:
    assert abs(float(from_fixed(to_fixed(value))) - value) <= 0.5 / ONE


def test_ten_thousand_items_stay_under_500_kilobytes_on_the_wire() -> None:
    rng = np.random.default_rng(0)
    M = 10_000
    counts = rng.multinomial(ONE, rng.dirichlet([2, 3, 6, 8, 5], size=(M, 2)))
    p = rng.beta(1, 20, size=(M, 2))
    shown = Disclosure(
        scheme="dmpss",
        features=(GENDER,),
        scale=RatingScale(low=ONE, high=5 * ONE, levels=as_rows(np.arange(1, 6) * ONE)),
        items=tuple(sorted(rng.choice(10**7, M, replace=False).astype(str).tolist())),
        levels=as_rows(counts),
        reveal=as_rows(np.maximum(to_fixed(p.min(axis=1, keepdims=True) / p), 1)),
    )
    assert 200_000 < len(gzip.compress(shown.raw)) < 500_000
