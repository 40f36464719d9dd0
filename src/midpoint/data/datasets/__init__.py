"""Known data sets, each in its own layout."""
