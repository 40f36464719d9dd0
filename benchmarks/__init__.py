"""Speed, memory, quality and privacy, measured; `README.md` says what each program shows."""
