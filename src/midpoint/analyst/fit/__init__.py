"""From ratings to frozen item profiles."""
