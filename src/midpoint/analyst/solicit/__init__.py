"""Which items to ask about."""
