"""The one kind of error that a person can fix; the command line shows it without a traceback."""


class MidpointError(ValueError):
    """Something outside the program is wrong; the message says what, where and what to do."""
