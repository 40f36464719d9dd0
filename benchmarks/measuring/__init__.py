"""How figures are taken, shown and kept."""
