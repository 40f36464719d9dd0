"""The programs that make the test vectors."""
