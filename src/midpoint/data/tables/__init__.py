"""Tables of any format, read as ratings and people."""
