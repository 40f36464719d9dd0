"""From stored scores to the numbers that are reported."""
