"""People, their ratings and their agents."""
