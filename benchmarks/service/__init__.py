"""The service under load, under faults and abuse, and with a hostile token."""
