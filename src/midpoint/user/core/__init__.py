"""All that touches the secret."""
