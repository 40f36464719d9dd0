"""What the analyst discloses, and how it is published."""
