"""Panel and reports together: what may teach what."""
