"""Learning protocols: disclosure, obfuscation and estimator put together."""

from midpoint.protocol.population import Reports, profile_all, report_all

__all__ = ["Reports", "profile_all", "report_all"]
