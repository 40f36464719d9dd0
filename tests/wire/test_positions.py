import json

import pytest
from pydantic import ValidationError

from midpoint.wire import (
    SCHEMES,
    Disclosure,
    Prior,
    Refusal,
)
from tests.support.sites.messages import code_of, example, prior


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
def test_a_prior_has_the_shape_of_the_columns(wrong: Prior) -> None:
    assert example("cmpss", prior=prior()).prior == prior()
    with pytest.raises(ValidationError, match="shape of the columns"):
        example("cmpss", prior=wrong)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_prior_is_there_exactly_when_the_scheme_has_counterparts(scheme: str) -> None:
    content = json.loads(example(scheme).raw)
    if SCHEMES[scheme].counterparts:
        del content["prior"]
    else:
        content["prior"] = json.loads(example("cmp").raw)["prior"]
    assert code_of(Disclosure, content) == Refusal.WRONG_COLUMNS


def test_a_prior_has_no_more_numbers_than_a_device_wants_to_read() -> None:
    taste_factors = ((0,) * 64,) * 2
    example("cmp", taste=taste_factors, prior=prior(D=64))
    with pytest.raises(ValidationError, match="too many"):
        example("cmp", taste=((0,) * 65,) * 2, prior=prior(D=65))


def test_fields_of_a_prior_are_strict() -> None:
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
