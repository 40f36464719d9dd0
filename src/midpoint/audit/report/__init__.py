"""Results, verdict, tables and figures for people."""
