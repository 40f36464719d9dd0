"""Training data from the panel and from reports: which is used for what."""
