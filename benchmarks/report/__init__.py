"""The page of benchmarks and the table in README, written from the kept figures."""
