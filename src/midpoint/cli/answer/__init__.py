"""`midpoint answer`: a person's own agent in the terminal."""
