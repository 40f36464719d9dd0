"""What training takes, and how well it predicts, beside peers and as data grow."""
