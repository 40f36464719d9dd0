"""The audit: attack the protocol, measure the leak and its price."""
