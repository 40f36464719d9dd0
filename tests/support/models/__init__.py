"""Small models, and truths they are held to."""
