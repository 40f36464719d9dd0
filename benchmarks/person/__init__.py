"""What one person's visit takes: time, bytes, and the page."""
