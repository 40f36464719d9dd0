import pickle

from midpoint.wire import (
    Refusal,
    RefusedError,
)


def test_a_refusal_says_why_in_words_and_by_code_and_survives_a_process() -> None:
    refused = RefusedError(Refusal.ROLLED_BACK, "this is older")
    assert str(refused) == "this is older [rolled_back]"
    again = pickle.loads(pickle.dumps(refused))  # noqa: S301
    assert (again.code, str(again)) == (Refusal.ROLLED_BACK, str(refused))
