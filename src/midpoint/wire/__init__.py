"""What crosses the trust line between analyst and user; it imports nothing of ours."""
