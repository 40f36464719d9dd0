"""Where ratings come from: known data sets, anyone's own tables, and how to get them."""
