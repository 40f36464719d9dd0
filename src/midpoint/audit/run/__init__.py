"""Plan an audit, spread it over processes, and store what each task found."""
