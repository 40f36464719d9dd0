from types import SimpleNamespace
from typing import Any, cast

import pytest

from midpoint.cli.answer.statements import against, what_is_withheld, what_it_hides
from midpoint.wire import ONE
from tests.support.models.small_model import trained


def certificate(**fields: Any) -> Any:
    return SimpleNamespace(**{"adversary": None, "panel": None, "outsiders": None} | fields)


def test_a_certificate_says_against_whom_or_that_it_does_not() -> None:
    assert against(certificate()) == "It does not say against whom that was measured."
    outsider = certificate(adversary="outsider", panel=900, outsiders=1200)
    assert "knows this of 1,200 other users" in against(outsider)
    assert "from a panel of 900" in against(outsider)
    unknown = against(certificate(adversary="oracle", panel=900))
    assert "an adversary that this version does not know" in unknown
    assert "900" not in unknown
    for whose, words in (("panel", "a panel of 900 alone. Somebody"), ("clean", "who knows more")):
        assert words in against(certificate(adversary=whose, panel=900))


@pytest.mark.parametrize(("hides", "words"), [(True, "nor its absence"), (False, "is not hidden")])
def test_what_is_rated_is_hidden_or_said_not_to_be(hides: bool, words: str) -> None:
    disclosure = SimpleNamespace(obfuscation=SimpleNamespace(sub_samples=hides))
    said = what_it_hides(cast("Any", disclosure), "gender")
    assert words in said
    assert said.endswith("Titles read together can reveal more.")
    assert what_it_hides(trained().disclosure, "gender")


@pytest.mark.parametrize("hides", [True, False])
@pytest.mark.parametrize("prior", [object(), None])
def test_a_share_is_said_with_what_it_spares_and_costs(hides: bool, prior: object) -> None:
    obfuscation = SimpleNamespace(sub_samples=hides)
    disclosure = SimpleNamespace(keep=(ONE // 4, 0), prior=prior, obfuscation=obfuscation)
    said = what_is_withheld(cast("Any", disclosure))
    assert said.startswith("A coin withholds 75% of your answers, as of everybody's")
    assert ("more of what your category rates more often" in said) == hides
    assert ("Your device still uses them" in said) == (prior is not None)
