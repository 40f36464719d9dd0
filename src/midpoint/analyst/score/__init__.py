"""From reports to scores."""
