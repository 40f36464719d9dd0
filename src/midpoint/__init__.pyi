# What the lazy names of `__init__.py` are, for type checkers and editors.

from midpoint.analyst.analyst import Analyst as Analyst
from midpoint.audit import audit as audit
from midpoint.data.sources.loader import load as load
from midpoint.protocol.copies import obfuscate as obfuscate
from midpoint.user.agent.device import Device as Device

__all__ = ["Analyst", "Device", "__version__", "audit", "load", "obfuscate"]

__version__: str
