"""Several rounds of questions, one after the other."""
