"""The scheme is chosen by measurement: candidates attacked on the panel itself."""

from midpoint.audit.choose.candidates import protocol_of
from midpoint.audit.choose.rule import choose, sets_leak

__all__ = ["choose", "protocol_of", "sets_leak"]
