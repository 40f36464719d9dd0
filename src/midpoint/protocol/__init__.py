"""Learning protocols: disclosure, obfuscation and estimator put together."""
