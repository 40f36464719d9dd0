"""Why something from beyond the trust line is refused: a stable code and a plain sentence."""

from enum import StrEnum

from midpoint.errors import MidpointError


class Refusal(StrEnum):
    """Codes that programs may rely on; the same in every language."""

    TOO_LONG = "too_long"
    NOT_JSON = "not_json"
    DUPLICATE_KEY = "duplicate_key"
    NOT_AN_INTEGER = "not_an_integer"
    INTEGER_TOO_LARGE = "integer_too_large"
    UNKNOWN_FIELD = "unknown_field"
    MISSING_FIELD = "missing_field"
    UNKNOWN_VERSION = "unknown_version"
    UNKNOWN_SCHEME = "unknown_scheme"
    BAD_NAME = "bad_name"
    WRONG_SHAPE = "wrong_shape"
    WRONG_COLUMNS = "wrong_columns"
    FEATURES_CHANGED = "features_changed"
    SCALE_CHANGED = "scale_changed"
    SCHEME_CHANGED = "scheme_changed"
    SCALE_CONTINUOUS = "scale_continuous"
    SCHEME_UNSAFE = "scheme_unsafe"
    RATED_SHOWN = "rated_shown"
    WRONG_DIGEST = "wrong_digest"
    TITLES_UNSIGNED = "titles_unsigned"
    WRONG_TITLES = "wrong_titles"
    BAD_SIGNATURE = "bad_signature"
    KEY_CHANGED = "key_changed"
    CHAIN_FORKED = "chain_forked"
    CHAIN_GAP = "chain_gap"
    ROLLED_BACK = "rolled_back"
    WITNESS_DISAGREES = "witness_disagrees"
    WITNESS_CHANGED = "witness_changed"
    NOT_WITNESSED = "not_witnessed"
    OFFSET_TOO_LARGE = "offset_too_large"
    OFFSET_NOT_CENTRED = "offset_not_centred"
    BAD_DISTRIBUTION = "bad_distribution"
    REVEAL_OUT_OF_RANGE = "reveal_out_of_range"
    REVEAL_INCONSISTENT = "reveal_inconsistent"
    TOO_TELLING = "too_telling"
    LEAK_TOO_LARGE = "leak_too_large"
    BAD_POSITIONS = "bad_positions"
    AVERAGE_OUT_OF_RANGE = "average_out_of_range"
    NUMBERS_CHANGED = "numbers_changed"
    ROUND_CHANGED = "round_changed"
    UNKNOWN_ITEM = "unknown_item"
    BAD_CERTIFICATE = "bad_certificate"
    NOT_CERTIFIED = "not_certified"


class RefusedError(MidpointError):
    """What was received is refused; nothing was sent and nothing was lost."""

    def __init__(self, code: Refusal, sentence: str) -> None:
        super().__init__(code, sentence)
        self.code = code
        self.sentence = sentence

    def __str__(self) -> str:
        return f"{self.sentence} [{self.code}]"
