import pytest

from midpoint.wire import SCHEMES, ValueMap


@pytest.mark.parametrize("name", SCHEMES)
def test_a_scheme_says_what_it_needs_and_protects(name: str) -> None:
    scheme = SCHEMES[name]
    as_is = scheme.value_map is ValueMap.AS_IS
    assert scheme.name == name
    assert scheme.protects(discrete=False) == (not as_is)
    shifted = scheme.value_map is ValueMap.SHIFTED
    assert scheme.protects(discrete=True) == (not as_is and not shifted)
    assert scheme.needs_levels == bool({"r", "d", "c"} & {name[-1], name[0]})
    assert ("reveal" in scheme.columns) == (scheme.sub_samples and not scheme.counterparts)
    assert ("taste" in scheme.columns) == scheme.counterparts
