"""Why a request is declined: a stable word, a status, a sentence."""

from midpoint.wire import Problem

STATUS = {
    "malformed": 400,
    "token_needed": 401,
    "not_found": 404,
    "method": 405,
    "not_current": 409,
    "round_unknown": 409,
    "report_changed": 409,
    "unknown_disclosure": 409,
    "retired_disclosure": 409,
    "rounds_used_up": 409,
    "space_used_up": 409,
    "panel_closed": 409,
    "too_large": 413,
    "media_type": 415,
    "too_many": 429,
    "failed": 500,
    "unavailable": 503,
}
"""Status of each code; programs may rely on both."""
MEANING = {
    "malformed": "the request breaks the form of its message, or the rules of what devices send",
    "token_needed": "the header `Authorization` is missing or is none",
    "not_found": "nothing is kept there",
    "method": "the route does not know this method",
    "not_current": "the disclosure is not the current one: fetch that, and check it first",
    "round_unknown": "the round was not opened for this token: ask for a new one",
    "report_changed": "the round, or an item, was answered otherwise before: a decision is final",
    "unknown_disclosure": "the disclosure was never published here",
    "retired_disclosure": "the disclosure is no longer answered: fetch the current one",
    "rounds_used_up": "the token has had all of its rounds",
    "space_used_up": "no more is kept of the token",
    "panel_closed": "nobody may join the panel now",
    "too_large": "the body is longer than the service takes",
    "media_type": "the body is not JSON, or is encoded",
    "too_many": "the token comes too often: wait",
    "failed": "a fault of the service: it is in its log",
    "unavailable": "the database or the site cannot be used now: send the same again later",
}
"""What each code says, for people who write a client."""
LONGEST = 500
"""Characters of a sentence, at most: part of it may be what the request said."""


class DeclinedError(Exception):
    """A request is not done; its sender gets the reason."""

    def __init__(self, code: str, sentence: str, *, retry_after: int | None = None) -> None:
        super().__init__(code, sentence)
        self.code = code
        self.sentence = sentence
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        """The status of the response."""
        return STATUS[self.code]

    @property
    def problem(self) -> Problem:
        """The body of the response, on one line whatever the request said."""
        line = "".join(c if c.isprintable() else "?" for c in self.sentence[:LONGEST])
        return Problem(code=self.code, message=line)
