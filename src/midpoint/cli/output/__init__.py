"""What several commands print: progress, notes, tables."""
