"""What positions are found by: sums over items and people, and steps of Newton's method."""
