"""Training and batch work in memory, from disk, or on a cluster: one contract."""
